// A real trace through the whole running product: streamed in batches with a tenth resent, priced by the token, invoiced,
// and held to the cent against sums made apart from the product.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient, listAll, type Row } from '../../../infra/demo/client.ts'
import { settle } from '../../system/reconcile.ts'
import { type System, startSystem } from '../../system/start-system.ts'
import { createCatalog, taxPercentageOf } from './catalog.ts'
import {
  CUSTOMERS,
  type CustomerName,
  type Expected,
  euros,
  expectedOf,
  isReal,
  readTrace,
  type TraceRequest,
} from './trace.ts'

type Money = { readonly quantity: string; readonly currency: string }
type Line = {
  readonly product_items: readonly { readonly reference: string }[]
  readonly meter_value?: { readonly number?: string; readonly count?: string }
  readonly amount_excluding_tax: Money
  readonly amount_including_tax: Money
}
type Part = { readonly amount_excluding_tax: Money; readonly amount_including_tax: Money }
type Invoice = {
  readonly id: string
  readonly status: string
  readonly invoice_number: string | null
  readonly invoice_amount_excluding_tax: Money
  readonly invoice_amount_including_tax: Money
  readonly tax_summary: { readonly base_amount: Money; readonly tax_amount: Money; readonly total_amount: Money }
  readonly periods: readonly (Part & { readonly groups: readonly (Part & { readonly lines: readonly Line[] })[] })[]
}

const BATCH = 50
const trace = readTrace()
if (!isReal)
  process.stdout.write('The public trace is not beside the project: a made one of the same form takes its place.\n')
const expected = new Map<CustomerName, Expected>(
  CUSTOMERS.map(customer => [
    customer,
    expectedOf(
      trace.filter(request => request.customer === customer),
      taxPercentageOf(customer),
    ),
  ]),
)
const expectationOf = (customer: CustomerName): Expected => {
  const found = expected.get(customer)
  if (!found) throw new Error(`nothing is expected of ${customer}`)
  return found
}

let system: System
let apiKey: string
let front: Client
let gateway: Client
let subscriptions: Map<CustomerName, Row>
/** The id each reference was first answered with. */
const ids = new Map<string, string>()

beforeAll(async () => {
  system = await startSystem({ processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'] })
  apiKey = system.platforms[0].environments.LIVE.api_key
  front = createClient(system.baseUrl, apiKey)
  gateway = createClient(system.ingestUrl, apiKey)
})
afterAll(() => system?.stop())

const wire = ({ reference, customer, timestamp, contextTokens, generatedTokens }: TraceRequest) => ({
  reference,
  meter_reference: 'llm_request',
  customer_reference: customer,
  timestamp,
  meter_values: [
    { reference: 'context_tokens', number: String(contextTokens) },
    { reference: 'generated_tokens', number: String(generatedTokens) },
  ],
})

const batchesOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / BATCH) }, (_, place) => items.slice(place * BATCH, (place + 1) * BATCH))

/** Sends one batch; every reference must be answered with the id it had before. */
async function send(client: Client, batch: readonly TraceRequest[]): Promise<void> {
  const answer = await client.send('POST', '/v1/events/ingest-list', { meter_datas: batch.map(wire) })
  expect(answer.status, JSON.stringify(answer.body).slice(0, 300)).toBe(201)
  const answered = (answer.body as { meter_datas: { id: string; reference: string }[] }).meter_datas
  expect(answered.map(event => event.reference)).toEqual(batch.map(request => request.reference))
  for (const { id, reference } of answered) {
    expect(ids.get(reference) ?? id).toBe(id)
    ids.set(reference, id)
  }
}

const readInvoice = async (id: string): Promise<Invoice> => (await front.get(`/v1/invoices/${id}`)) as Invoice

async function invoiceOf(customer: CustomerName): Promise<Invoice> {
  const subscription = subscriptions.get(customer)
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    const rows = await listAll(front, `/v1/invoices?pricing_plan_subscription_id=${subscription?.id}`)
    if (rows.length > 0) {
      expect(rows).toHaveLength(1)
      return await readInvoice(rows[0]?.id ?? '')
    }
    await sleep(200)
  }
  throw new Error(`${customer} has no invoice after a minute`)
}

/** Amount, quantity and number of events of a line, by its product item. */
const linesOf = (invoice: Pick<Invoice, 'periods'>) =>
  Object.fromEntries(
    invoice.periods
      .flatMap(period => period.groups.flatMap(group => group.lines))
      .map(line => [
        line.product_items.map(item => item.reference).join(),
        [line.amount_excluding_tax, line.meter_value?.number, line.meter_value?.count],
      ]),
  )

const cents = ({ quantity }: Money): bigint => BigInt(quantity.replace('.', ''))
const sumOf = (parts: readonly Part[], field: keyof Part): bigint =>
  parts.reduce((total, part) => total + cents(part[field]), 0n)

/** Every amount of an invoice against the sums made from the file, and every total against its parts. */
function checkInvoice(invoice: Omit<Invoice, 'id'>, customer: CustomerName): void {
  const { requests, contextTokens, generatedTokens, ...amounts } = expectationOf(customer)
  expect(linesOf(invoice)).toEqual({
    context: [euros(amounts.contextCents), String(contextTokens), String(requests)],
    generated: [euros(amounts.generatedCents), String(generatedTokens), String(requests)],
    fee: [euros(2_500n), undefined, undefined],
  })
  expect(invoice).toMatchObject({
    invoice_amount_excluding_tax: euros(amounts.netCents),
    invoice_amount_including_tax: euros(amounts.grossCents),
    tax_summary: {
      base_amount: euros(amounts.netCents),
      tax_amount: euros(amounts.taxCents),
      total_amount: euros(amounts.grossCents),
    },
  })
  for (const field of ['amount_excluding_tax', 'amount_including_tax'] as const) {
    for (const period of invoice.periods) {
      expect(sumOf(period.groups, field)).toBe(cents(period[field]))
      for (const group of period.groups) expect(sumOf(group.lines, field)).toBe(cents(group[field]))
    }
    expect(sumOf(invoice.periods, field)).toBe(cents(invoice[`invoice_${field}`]))
  }
}

async function pdfOf(id: string): Promise<Buffer> {
  const response = await fetch(`${system.baseUrl}/v1/invoices/${id}/pdf`, { headers: { 'x-api-key': apiKey } })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf'])
  return Buffer.from(await response.arrayBuffer())
}

test.runIf(isReal)('the file is the one these sums are known of', () => {
  const sum = (pick: (request: TraceRequest) => bigint) => trace.reduce((total, each) => total + pick(each), 0n)
  expect(trace).toHaveLength(8_819)
  expect(sum(request => request.contextTokens)).toBe(18_059_974n)
  expect(sum(request => request.generatedTokens)).toBe(245_896n)
})

test('the trace is taken through both doors, and a tenth of it resent in batches cut otherwise is recognised', async () => {
  subscriptions = await createCatalog(front)
  const doors = [front, gateway]
  for (const [place, batch] of batchesOf(trace).entries()) await send(doors[place % 2] ?? front, batch)
  const tenth = trace.filter((_request, index) => index % 10 === 3)
  for (const [place, batch] of batchesOf(tenth).entries()) await send(doors[place % 2] ?? front, batch)
  expect(ids.size).toBe(trace.length)
  expect(new Set(ids.values()).size).toBe(trace.length)
  await settle(system)
})

test.each(CUSTOMERS)('the preview of %s is right to the cent, and makes no invoice', async customer => {
  const id = subscriptions.get(customer)?.id
  const preview = (await front.post('/v1/invoices/preview', { pricing_plan_subscription_id: id ?? '' })) as unknown
  checkInvoice((preview as { invoice: Invoice }).invoice, customer)
  expect(await listAll(front, `/v1/invoices?pricing_plan_subscription_id=${id}`)).toEqual([])
})

test('the invoices become DRAFT by themselves and FINAL when asked, with numbers in a row, right to the cent', async () => {
  for (const subscription of subscriptions.values())
    await front.patch(`/v1/pricing-plan-subscriptions/${subscription.id}`, { status: 'ACTIVE' })
  const numbers: (string | null)[] = []
  for (const customer of CUSTOMERS) {
    const draft = await invoiceOf(customer)
    expect([draft.status, draft.invoice_number]).toEqual(['DRAFT', null])
    checkInvoice(draft, customer)
    const final = (await front.patch(`/v1/invoices/${draft.id}`, { status: 'FINAL' })) as unknown as Invoice
    expect(final.status).toBe('FINAL')
    checkInvoice(final, customer)
    expect(await readInvoice(draft.id)).toEqual(final)
    numbers.push(final.invoice_number)
  }
  expect(numbers).toEqual(['INV-2023-00001', 'INV-2023-00002', 'INV-2023-00003'])
})

test('after it is FINAL, late repeats with other quantities change neither the invoice nor its document', async () => {
  const invoices = await Promise.all(CUSTOMERS.map(invoiceOf))
  const documents = await Promise.all(invoices.map(invoice => pdfOf(invoice.id)))
  for (const document of documents) {
    expect(document.subarray(0, 5).toString()).toBe('%PDF-')
    expect(document.subarray(-8).toString().trim()).toMatch(/%%EOF$/)
  }
  const late = trace.filter((_request, index) => index % 40 === 7)
  const doubled = late.map(request => ({ ...request, contextTokens: request.contextTokens * 2n }))
  for (const batch of batchesOf(doubled)) await send(gateway, batch)
  for (const batch of batchesOf(late)) await send(front, batch)
  await settle(system)
  // A second request to finalize, and a run of the worker, find it FINAL and leave it.
  for (const [place, customer] of CUSTOMERS.entries()) {
    const invoice = invoices[place]
    await front.patch(`/v1/invoices/${invoice?.id}`, { status: 'FINAL' })
    expect(await invoiceOf(customer)).toEqual(invoice)
    checkInvoice(await invoiceOf(customer), customer)
    expect((await pdfOf(invoice?.id ?? '')).equals(documents[place] ?? Buffer.alloc(0))).toBe(true)
  }
})

test('the other platform sees none of it', async () => {
  const stranger = createClient(system.baseUrl, system.platforms[1].environments.LIVE.api_key)
  const twin = createClient(system.baseUrl, system.platforms[0].environments.TEST.api_key)
  const { id } = await invoiceOf(CUSTOMERS[0])
  for (const client of [stranger, twin]) {
    expect(await listAll(client, '/v1/invoices')).toEqual([])
    expect((await client.send('GET', `/v1/invoices/${id}`)).status).toBe(404)
    expect((await client.send('GET', `/v1/invoices/${id}/pdf`)).status).toBe(404)
    // The same references are free there: an event of theirs is not ours.
    const answer = await client.send('POST', '/v1/events/ingest-list', [wire(trace[0] as TraceRequest)])
    expect(answer.status).toBe(400)
  }
})
