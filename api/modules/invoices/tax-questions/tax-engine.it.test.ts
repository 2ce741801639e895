// Invoices whose tax an engine outside decides: a real HTTP server that answers, is slow, wrong, down, or changes its mind.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EngineQuestion, NoTaxAnswer, type TaxEngine } from '../../../../shared/billing/tax-engine.ts'
import { idOf } from '../../../../shared/ids.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { openTestDatabase } from '../../../../shared/testing/database-logins.ts'
import { instantOf, systemClock } from '../../../../shared/time.ts'
import { prepareJobSchema } from '../../../jobs/job-schema.ts'
import { refusal, succeed } from '../../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { priceAgain } from '../../billing/corrections/price-again.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { invoiceProducers } from '../../modules.ts'
import { runBulkAction } from '../bulk-actions/run-bulk-action.ts'
import { httpTaxEngine } from '../tax-answers/http-engine.ts'
import { queryOnce } from '../tax-answers/query-engine.ts'
import { answerWaiting, findTaxQuestions } from './jobs.ts'

type Asked = { readonly authorization: string | undefined; readonly body: Row }
type Say = (response: ServerResponse) => void

const json =
  (status: number, body: unknown): Say =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
const taxed = (...rates: [string, string][]): Say =>
  json(200, { treatment: 'TAXED', rates: rates.map(([name, percentage]) => ({ name, percentage })) })

let say: Say = taxed(['GST', '5'], ['QST', '9.975'])
const asked: Asked[] = []
const server = createServer((request, response) => {
  let text = ''
  request.on('data', piece => {
    text += piece
  })
  request.on('end', () => {
    asked.push({ authorization: request.headers.authorization, body: JSON.parse(text) })
    say(response)
  })
})

let api: ApiHarness
let tenant: TestTenant
let engine: TaxEngine
let before: number
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const found = httpTaxEngine({ TAX_ENGINE_URL: `http://${host}/tax`, TAX_ENGINE_SECRET: 'shared secret' })
  if (!found) throw new Error('its address is set')
  engine = found
  api = await startApi({ usage: NO_USAGE, taxEngine: engine })
  tenant = api.tenants.aTest
  before = api.clock.now()
})
beforeEach(() => {
  asked.length = 0
  say = taxed(['GST', '5'], ['QST', '9.975'])
})
afterAll(async () => {
  api.clock.set(instantOf(before))
  await api.close()
  server.closeAllConnections()
  server.close()
})

const setTime = (text: string): void => api.clock.set(instantOf(Date.parse(text)))
const work = (taxEngine: TaxEngine | null = engine) => {
  const usual = { database: api.database, usage: NO_USAGE, taxEngine }
  return {
    ...usual,
    producers: invoiceProducers(usual),
    system: { ...api.database, clock: systemClock },
    logger: silentLogger,
  }
}
const ask = (taxEngine?: TaxEngine | null) =>
  answerWaiting(work(taxEngine), tenant.tenant, new AbortController().signal)
const run = (subscriptionId: string) => runBilling(work(), tenant.tenant, subscriptionId)

const QUEBEC = { line1: '1 rue Notre-Dame', city: 'Montréal', postal_code: 'H2Y 1C6', state: 'QC', country: 'CA' }

/** A subscription with a fee of 100, of a billing entity in Québec that uses the engine. */
async function subscribed(
  start_at: string,
  provider: string | null = 'EXTERNAL',
  subscription: object = {},
  frozen_time?: string,
) {
  let clock: string | null = null
  const billed = await billedSubscription(tenant, {
    start_at,
    fee: '100',
    activate: false,
    subscription: { ...subscription },
  })
  const url = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`
  const { billing_entity_id } = await succeed(tenant, 'GET', url)
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, {
    registered_address: { country: 'CA', state: 'ON' },
    tax_settings: { provider },
  })
  await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, {
    organization: { legal_name: 'Acme', registered_address: QUEBEC },
  })
  if (frozen_time)
    clock = (await succeed(tenant, 'POST', '/v1/test-clocks', { frozen_time, customer_ids: [billed.customerId] }))['id']
  await succeed(tenant, 'PATCH', url, { status: 'ACTIVE' })
  const invoices = async (): Promise<Row[]> =>
    (
      await succeed(
        tenant,
        'GET',
        `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&order_by=created_at&order_direction=asc`,
      )
    )['data']
  return { ...billed, clock, billing_entity_id, run: () => run(billed.subscriptionId), invoices }
}

const shown = ({ status, tax_summary, tax_categories, validation_result }: Row) => ({
  status,
  tax: tax_summary.tax_amount.quantity,
  rates: tax_categories.flatMap((category: Row) =>
    category['rates'].map((rate: Row) => `${rate['name']} ${rate['tax_amount'].quantity}`),
  ),
  errors: validation_result.filter((each: Row) => each['status'] === 'ERROR').map((each: Row) => each['details']),
})
const WORKSHOP = {
  pricing_name: 'Workshop',
  pricing_type: 'FIXED',
  pricing_band: { amount: { quantity: '200', currency: 'EUR' } },
}
const first = async (of: { invoices(): Promise<Row[]> }): Promise<Row> => {
  const [invoice] = await of.invoices()
  if (!invoice) throw new Error('it is billed')
  return invoice
}

describe('a billing run', () => {
  test('waits for the answer, asks once, and keeps it: what the engine says later changes nothing that is FINAL', async () => {
    setTime('2026-03-10T12:00:00Z')
    const billed = await subscribed('2026-03-01T00:00:00Z')
    setTime('2026-03-11T12:00:00Z')
    await billed.run()
    await billed.run()
    expect(shown(await first(billed))).toEqual({
      ...{ status: 'DRAFT', tax: '0.00', rates: [] },
      errors: [
        expect.stringMatching(
          /^The tax engine has not said what tax applies on 2026-03-01\. It is asked in the background/,
        ),
      ],
    })
    expect(asked).toEqual([])

    // The advance invoice of March, and the one of its end with the fee of April.
    expect(await ask()).toBe(2)
    expect(asked.map(({ body }) => body['question'].date).sort()).toEqual(['2026-03-01', '2026-03-31'])
    expect(asked[0]).toMatchObject({
      authorization: 'Bearer shared secret',
      body: {
        platform_id: tenant.tenant.platformId,
        environment: 'TEST',
        question: {
          version: 1,
          tax_category: 'STANDARD',
          seller: { id: billed.billing_entity_id, address: { country: 'CA', state: 'ON' } },
          buyer: { id: billed.customerId, address: { ...QUEBEC, line2: null }, tax_exempt: false },
        },
      },
    })
    expect(shown(await first(billed))).toEqual({
      status: 'DRAFT',
      tax: '14.98',
      rates: ['GST 5.00', 'QST 9.98'],
      errors: [],
    })
    // The answer about the end of March may change until then, and is not asked for again before.
    expect(await ask()).toBe(0)

    setTime('2026-03-11T20:00:00Z')
    await billed.run()
    const issued = await first(billed)
    expect(shown(issued)).toEqual({ status: 'FINAL', tax: '14.98', rates: ['GST 5.00', 'QST 9.98'], errors: [] })
    say = taxed(['GST', '7'])
    const verified = await succeed(tenant, 'POST', `/v1/invoices/${issued['id']}/verify`)
    expect(verified).toMatchObject({ identical: true })

    // On its day it is asked again, and the invoice has the tax of its day.
    setTime('2026-04-01T01:00:00Z')
    await billed.run()
    const [, draft] = await billed.invoices()
    expect(shown(draft as Row)).toMatchObject({ status: 'DRAFT', tax: '14.98', errors: [] })
    setTime('2026-04-01T09:00:00Z')
    await billed.run()
    const warnings = async () => {
      const { status, validation_result } = (await billed.invoices())[1] as Row
      const told = validation_result.map((each: Row) => `${each['status']} ${each['details']}`)
      return [status, ...told.filter((text: string) => text.includes('tax engine'))]
    }
    expect(await warnings()).toEqual([
      'DRAFT',
      'WARNING The tax engine is asked once more about the tax of 2026-03-31; until it answers, the invoice cannot become FINAL.',
    ])
    say = json(422, { message: 'No such place.' })
    await ask()
    await billed.run()
    expect(await warnings()).toEqual([
      'DRAFT',
      expect.stringMatching(/^WARNING The tax engine is asked once more .* The tax engine says: No such place\.$/),
    ])
    say = taxed(['GST', '7'])
    await api.sql(`update tax_answers set next_attempt_at = null where customer_id = $1`, [billed.customerId])
    await ask()
    await billed.run()
    const [, april] = await billed.invoices()
    expect(shown(april as Row)).toEqual({ status: 'FINAL', tax: '7.00', rates: ['GST 7.00'], errors: [] })
    for (const { id } of (await billed.invoices()).slice(0, 2))
      expect(await succeed(tenant, 'POST', `/v1/invoices/${id}/verify`)).toMatchObject({ identical: true })
    // One that is billed again may tax what the original did not: nothing was asked then.
    const pinned = (await api.sql('select inputs from pinned_inputs where invoice_id = $1', [issued['id']]))[0]?.[
      'inputs'
    ]
    const without = JSON.stringify({ ...JSON.parse(String(pinned)), tax_answers: [] })
    await api.sql('update pinned_inputs set inputs = $2 where invoice_id = $1', [issued['id'], without])
    const again = await priceAgain(work(), tenant.tenant, idOf('invo', String(issued['id'])))
    expect(again.price([]).priced.columns.tax_amount).toBe('14.98')
    await api.sql('update pinned_inputs set inputs = $2 where invoice_id = $1', [issued['id'], pinned])
    const [lines] = (await succeed(tenant, 'GET', `/v1/invoices/${issued['id']}`))['periods'][0].groups
    const why = await succeed(tenant, 'GET', `/v1/invoices/${issued['id']}/lines/${lines.lines[0].id}/explanation`)
    expect(why['taxes']).toMatchObject([{ treatment: 'TAX_ENGINE', source: 'Tax engine' }])
  })

  test('tells once that an invoice of the day it becomes FINAL waits, however often it runs', async () => {
    const platform = `/v1/platforms/${tenant.tenant.platformId}`
    setTime('2026-03-10T12:00:00Z')
    const billed = await subscribed('2026-03-01T00:00:00Z')
    await succeed(tenant, 'PATCH', platform, {
      invoice_settings: { invoice_date_determination_type: 'WHEN_INVOICE_GOES_TO_FINAL' },
    })
    try {
      await billed.run()
      await ask()
      const { id } = await first(billed)
      setTime('2026-03-11T20:00:00Z')
      await billed.run()
      const told = async () => (await api.sql('select type from outbox where object_id = $1', [id])).length
      const before = await told()
      for (const minute of [1, 2]) {
        setTime(`2026-03-11T20:0${minute}:00Z`)
        await billed.run()
      }
      expect(await told()).toBe(before)
      expect(shown(await first(billed)).errors).toEqual([expect.stringMatching(/on 2026-03-11\./)])
      await ask()
      await billed.run()
      expect(shown(await first(billed))).toMatchObject({ status: 'FINAL', tax: '14.98' })
    } finally {
      await succeed(tenant, 'PATCH', platform, {
        invoice_settings: { invoice_date_determination_type: 'AT_END_OF_BILLING_PERIOD' },
      })
    }
  })

  test.each<[string, Say, RegExp]>([
    ['answers 500', json(500, { secret: 'inner' }), /answered with the status 500\.$/],
    ['refuses', json(422, { message: 'The postal code is unknown.' }), /says: The postal code is unknown\.$/],
    ['answers no JSON', response => void response.end('<html>'), /it is not a JSON object\.$/],
    ['answers with a wrong rate', taxed(['VAT', '-1']), /rates\.0\.percentage is not a percentage/],
    [
      'redirects',
      response => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      /status 302\.$/,
    ],
    ['hangs up', response => void response.destroy(), /could not be reached \(/],
  ])('stays a DRAFT that says why while the engine %s, and holds up nobody else', async (_, fault, reason) => {
    say = fault
    setTime('2026-03-10T12:00:00Z')
    const [held, free] = [await subscribed('2026-03-01T00:00:00Z'), await subscribed('2026-03-01T00:00:00Z', null)]
    for (const each of [held, free]) await each.run()
    await ask()
    setTime('2026-03-10T21:00:00Z')
    for (const each of [held, free]) await each.run()
    expect(shown(await first(held))).toEqual({
      status: 'DRAFT',
      tax: '0.00',
      rates: [],
      errors: [expect.stringMatching(reason)],
    })
    expect(shown(await first(free))).toMatchObject({ status: 'FINAL', errors: [] })
    // It is left alone for a while, and asked again then.
    asked.length = 0
    expect(await ask()).toBe(0)
    expect(asked).toEqual([])
    say = taxed(['VAT', '20'])
    await api.sql(`update tax_answers set next_attempt_at = now() - interval '1 second' where customer_id = $1`, [
      held.customerId,
    ])
    await ask()
    await held.run()
    expect(shown(await first(held))).toMatchObject({ status: 'FINAL', tax: '20.00', errors: [] })
  })

  test('asks on after many refusals, and gives up only on an engine that is down', async () => {
    setTime('2026-03-10T12:00:00Z')
    const { customerId, billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
    const parties = { customer_id: customerId, billing_entity_id }
    const days = Array.from({ length: 24 }, (_, day) => `2024-05-${String(day + 1).padStart(2, '0')}T00:00:00Z`)
    for (const invoice_date of days)
      await succeed(tenant, 'POST', '/v1/invoices', { ...parties, invoice_date, lines: [WORKSHOP] })
    await api.sql(`update tax_answers set next_attempt_at = 'infinity' where customer_id <> $1`, [customerId])
    const again = () => api.sql('update tax_answers set next_attempt_at = null where customer_id = $1', [customerId])
    say = json(500, {})
    await ask()
    expect(asked.length).toBeLessThan(days.length)
    await again()
    asked.length = 0
    say = json(422, { message: 'Unknown.' })
    await ask()
    expect(asked).toHaveLength(days.length)
  })

  test('does not wait for an engine that says nothing, nor one that ignores its deadline', async () => {
    say = () => undefined
    setTime('2026-03-10T12:00:00Z')
    const billed = await subscribed('2026-03-01T00:00:00Z')
    await billed.run()
    const [row] = await api.sql('select key, question from tax_answers where customer_id = $1 order by on_day', [
      billed.customerId,
    ])
    const deaf: TaxEngine = { name: 'deaf', ask: () => new Promise(() => undefined) }
    const open = { key: row?.['key'] as string, question: row?.['question'] as EngineQuestion }
    for (const taxEngine of [engine, deaf]) {
      const { signal } = new AbortController()
      const of = { asOf: '2026-03-10' as never, ms: 100, signal, keepsFaults: true }
      const outcome = await queryOnce({ database: api.database, taxEngine }, tenant.tenant, open, of)
      expect(outcome.fault?.message).toBe('The tax engine did not answer in time.')
    }
    await billed.run()
    expect(shown(await first(billed)).errors).toEqual([expect.stringMatching(/did not answer in time\.$/)])
  })
})

describe('a call of a user', () => {
  test('a preview asks first; without an answer it is 503 with Retry-After', async () => {
    setTime('2026-03-10T12:00:00Z')
    const { subscriptionId } = await subscribed('2026-03-01T00:00:00Z')
    const preview = () => tenant.call('POST', '/v1/invoices/preview', { pricing_plan_subscription_id: subscriptionId })
    say = json(503, {})
    const refused = await preview()
    expect([refused.status, refused.body['code'], refused.headers['retry-after']]).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
      '30',
    ])
    expect(refused.body['message']).toBe('The tax engine answered with the status 503.')
    say = taxed(['GST', '5'])
    const { body } = await preview()
    expect(shown(body['invoice'])).toMatchObject({ tax: '5.00', errors: [] })
    say = json(503, {})
    expect((await preview()).status).toBe(200)
  })

  test('an invoice that a user makes FINAL has the answer of that moment, once, however many calls', async () => {
    setTime('2026-03-10T12:00:00Z')
    const billed = await subscribed('2026-03-01T00:00:00Z')
    await billed.run()
    const { id } = await first(billed)
    say = json(422, { message: 'No such place.' })
    const finalize = () => tenant.call('PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
    expect((await finalize()).body).toMatchObject({
      code: 'INVALID_OPERATION',
      message: 'The tax engine says: No such place.',
    })
    expect(shown(await first(billed))).toMatchObject({ status: 'DRAFT' })
    let rate = 0
    say = response => {
      rate += 1
      taxed(['GST', String(rate)])(response)
    }
    const answers = await Promise.all(Array.from({ length: 5 }, finalize))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(
      new Set(answers.map(({ body }) => `${body['invoice_number']} ${body['tax_summary'].tax_amount.quantity}`)).size,
    ).toBe(1)
    expect(await succeed(tenant, 'POST', `/v1/invoices/${id}/verify`)).toMatchObject({ identical: true })
  })

  test('a bulk action says of one invoice what the engine refuses, and makes the others FINAL', async () => {
    setTime('2026-03-10T12:00:00Z')
    const parties = [
      await subscribed('2026-03-01T00:00:00Z'),
      await subscribed('2026-03-01T00:00:00Z'),
      await subscribed('2026-03-01T00:00:00Z'),
    ]
    const ids: string[] = []
    for (const { customerId: customer_id, billing_entity_id } of parties) {
      const body = { customer_id, billing_entity_id, invoice_date: '2025-07-07T00:00:00Z', lines: [WORKSHOP] }
      ids.push((await succeed(tenant, 'POST', '/v1/invoices', body))['id'])
    }
    const refused = parties[1]?.customerId
    say = response =>
      asked.at(-1)?.body['question'].buyer.id === refused
        ? json(422, { message: 'The postal code is unknown.' })(response)
        : taxed(['GST', '5'])(response)
    const of = { type: 'FINALIZE_INVOICES', finalize_invoices: { invoice_date: '2025-07-07' } }
    const { id } = await succeed(tenant, 'POST', '/v1/bulk-actions', of)
    await runBulkAction(work(), { tenant: tenant.tenant, id: idOf('bulk', id), last: false })
    const items: Row[] = (await succeed(tenant, 'GET', `/v1/bulk-actions/${id}/items?order_direction=asc`))['data']
    expect(Object.fromEntries(items.map(each => [each['target_resource'].id, each['message']]))).toEqual({
      [ids[0] ?? '']: null,
      [ids[1] ?? '']: 'The tax engine says: The postal code is unknown.',
      [ids[2] ?? '']: null,
    })
    expect(await succeed(tenant, 'GET', `/v1/bulk-actions/${id}`)).toMatchObject({ status: 'DONE' })
  })

  test('a bulk action issues combined invoices as one when their tax is known, and touches none before', async () => {
    setTime('2026-03-10T12:00:00Z')
    const one = await subscribed('2026-03-01T00:00:00Z', 'EXTERNAL', { combine: true })
    const { customerId: customer_id, billing_entity_id } = one
    const other = await billedSubscription(tenant, {
      ...{ start_at: '2026-03-01T00:00:00Z', fee: '100' },
      subscription: { combine: true, customer_id, billing_entity_id },
    })
    await one.run()
    await run(other.subscriptionId)
    const list = `/v1/invoices?customer_id=${customer_id}&statuses[]=`
    const drafts: Row[] = (await succeed(tenant, 'GET', `${list}DRAFT`))['data']
    const ends = async () =>
      await api.sql('select id, finalize_at from invoices where id = any($1)', [drafts.map(({ id }) => id)])
    const before = await ends()
    expect(before).toHaveLength(2)
    const finalize_invoices = { invoice_date: String(drafts[0]?.['invoice_date']).slice(0, 10) }
    const { id } = await succeed(tenant, 'POST', '/v1/bulk-actions', { type: 'FINALIZE_INVOICES', finalize_invoices })
    await api.sql('delete from bulk_action_items where bulk_action_id = $1 and not invoice_id = any($2)', [
      ...[id, drafts.map(draft => draft['id'])],
    ])
    const bulk = () => runBulkAction(work(), { tenant: tenant.tenant, id: idOf('bulk', id), last: false })
    say = json(503, {})
    await expect(bulk()).rejects.toThrow('The tax engine answered with the status 503.')
    expect((await ends()).toSorted()).toEqual(before.toSorted())
    say = taxed(['GST', '5'])
    await bulk()
    const finals: Row[] = (await succeed(tenant, 'GET', `${list}FINAL`))['data']
    expect(finals.map(final => final['combined_invoice_ids'].toSorted())).toEqual([
      drafts.map(draft => draft['id']).toSorted(),
    ])
  })

  test('a one-off invoice is priced as soon as there is an answer; a refresh of TAX_RATES asks again', async () => {
    setTime('2026-03-10T12:00:00Z')
    const { customerId, billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
    const lines = [WORKSHOP]
    const made = await succeed(tenant, 'POST', '/v1/invoices', { customer_id: customerId, billing_entity_id, lines })
    expect(shown(made)).toMatchObject({ tax: '0.00', errors: [expect.stringMatching(/on 2026-03-10/)] })
    expect(made).not.toHaveProperty('tax_question')
    const read = async () => shown(await succeed(tenant, 'GET', `/v1/invoices/${made['id']}`))
    say = taxed(['VAT', '50'])
    await ask()
    expect(await read()).toMatchObject({ tax: '100.00', errors: [] })
    say = taxed(['VAT', '5'])
    const refresh = () => tenant.call('POST', `/v1/invoices/${made['id']}/refresh`, { types: ['TAX_RATES'] })
    expect(shown((await refresh()).body)).toMatchObject({ tax: '10.00', errors: [] })
    say = json(500, {})
    expect((await refresh()).status).toBe(503)
    expect(await read()).toMatchObject({ tax: '10.00', errors: [] })
    // An address that was there for a while asked another question; the one of the invoice is asked again.
    const move = (registered_address: object) =>
      succeed(tenant, 'PATCH', `/v1/customers/${customerId}`, {
        organization: { legal_name: 'Acme', registered_address },
      })
    const refreshParties = () => succeed(tenant, 'POST', `/v1/invoices/${made['id']}/refresh`, { types: ['PO_NUMBER'] })
    await move({ ...QUEBEC, city: 'Laval' })
    await refreshParties()
    say = taxed(['VAT', '8'])
    await ask()
    expect(await read()).toMatchObject({ tax: '16.00' })
    await move(QUEBEC)
    await refreshParties()
    expect(await read()).toMatchObject({ tax: '10.00' })
    say = taxed(['VAT', '6'])
    expect(shown((await refresh()).body)).toMatchObject({ tax: '12.00', errors: [] })
    say = taxed(['VAT', '5'])
    await refresh()
    await succeed(tenant, 'PATCH', `/v1/invoices/${made['id']}`, { status: 'FINAL' })
    const credit = await succeed(tenant, 'POST', `/v1/invoices/${made['id']}/credit`, {})
    expect(credit['tax_summary'].tax_amount.quantity).toBe('-10.00')
    expect(await succeed(tenant, 'POST', `/v1/invoices/${made['id']}/verify`)).toMatchObject({ identical: true })
  })
})

test('another engine is one value; a US sale then needs no percentage', async () => {
  setTime('2026-03-10T12:00:00Z')
  const tiny: TaxEngine = {
    name: 'by state',
    ask: async ({ buyer }) => {
      if (buyer.address.state !== 'CA') throw new NoTaxAnswer('Only California is known.')
      const rates = [{ name: 'Sales tax', percentage: '7.25' }]
      return {
        treatment: 'TAXED',
        rates,
        taxable_percentage: '100',
        note: null,
        registration_country: null,
        source: null,
      }
    },
  }
  const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100', activate: false })
  const url = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`
  const { billing_entity_id } = await succeed(tenant, 'GET', url)
  const registered_address = { country: 'US', state: 'CA' }
  await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization: { registered_address } })
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, { registered_address })
  expect(await refusal(tenant, 'PATCH', url, { status: 'ACTIVE' })).toEqual([
    400,
    'MISSING_FIELD',
    'sales_tax_percentage',
  ])
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, {
    tax_settings: { provider: 'EXTERNAL' },
  })
  await succeed(tenant, 'PATCH', url, { status: 'ACTIVE' })
  await run(billed.subscriptionId)
  expect(await ask(tiny)).toBe(2)
  const list = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&order_by=created_at&order_direction=asc`
  const [invoice] = (await succeed(tenant, 'GET', list))['data']
  expect(shown(invoice)).toMatchObject({ tax: '7.25', rates: ['Sales tax 7.25'], errors: [] })
})

test('an installation without an engine refuses it by name, and one that lost it issues nothing', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  await billed.run()
  await ask(null)
  expect(shown(await first(billed)).errors).toEqual([expect.stringMatching(/This installation has no tax engine/)])
  const without = await startApi({ usage: NO_USAGE })
  try {
    const other = without.tenants.aTest
    const { id } = await succeed(other, 'POST', '/v1/billing-entities', { reference: other.seed.unique('main') })
    const external = { tax_settings: { provider: 'EXTERNAL' } }
    expect(await refusal(other, 'PATCH', `/v1/billing-entities/${id}`, external)).toEqual([
      400,
      'INVALID_FIELD',
      'tax_settings.provider',
    ])
    await succeed(other, 'PATCH', `/v1/billing-entities/${id}`, { tax_settings: { provider: 'BUILT_IN' } })
  } finally {
    await without.close()
  }
})

test('a customer that is forgotten leaves no question behind', async () => {
  setTime('2026-03-10T12:00:00Z')
  const customer = await succeed(tenant, 'POST', '/v1/customers', {
    ...{ type: 'ORGANIZATION', status: 'ACTIVE', reference: tenant.seed.unique('gone') },
    organization: { legal_name: 'Gone', registered_address: QUEBEC },
  })
  const { billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
  const lines = [
    { pricing_name: 'Workshop', pricing_type: 'FIXED', pricing_band: { amount: { quantity: '1', currency: 'EUR' } } },
  ]
  const { id } = await succeed(tenant, 'POST', '/v1/invoices', {
    customer_id: customer['id'],
    billing_entity_id,
    lines,
  })
  const kept = () => api.sql('select key from tax_answers where customer_id = $1', [customer['id']])
  expect(await kept()).toHaveLength(1)
  const [asked] = await api.sql('select key, question from tax_answers where customer_id = $1', [customer['id']])
  await succeed(tenant, 'POST', `/v1/invoices/${id}/void`)
  await succeed(tenant, 'POST', `/v1/customers/${customer['id']}/archive`)
  await succeed(tenant, 'POST', `/v1/customers/${customer['id']}/forget`)
  expect(await kept()).toEqual([])
  // What was in flight meanwhile is not kept either.
  const open = { key: asked?.['key'] as string, question: asked?.['question'] as EngineQuestion }
  for (const answers of [say, json(500, {})]) {
    say = answers
    const { signal } = new AbortController()
    await queryOnce(work(), tenant.tenant, open, { asOf: '2026-03-10' as never, ms: 5_000, signal, keepsFaults: true })
    expect(await kept()).toEqual([])
  }
})

test('the advance of a test clock asks on the way, and issues what it passes', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z', 'EXTERNAL', {}, '2026-03-01T00:00:00Z')
  const advanced = await succeed(tenant, 'POST', `/v1/test-clocks/${billed.clock}/advance`, {
    frozen_time: '2026-04-03T00:00:00Z',
  })
  expect(advanced).toMatchObject({ complete: true, failures: [] })
  const issued = { tax: '14.98', rates: ['GST 5.00', 'QST 9.98'], errors: [] }
  expect((await billed.invoices()).map(shown)).toEqual([
    { ...issued, status: 'FINAL' },
    { ...issued, status: 'FINAL' },
    { ...issued, status: 'OPEN' },
  ])
})

test('the search for questions works in the role of the worker', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  await billed.run()
  await prepareJobSchema(api.databaseUrl)
  const system = await openTestDatabase({
    ...{ url: api.databaseUrl, role: 'millrace_worker', clock: systemClock, logger: silentLogger, poolMax: 1 },
  })
  const run = { attempt: 1, attemptsMax: 1, workerId: 'test', stop: new AbortController().signal }
  await findTaxQuestions.run({ ...work(), system }, {}, run)
  await system.close()
  const queued = await api.sql(`select key from graphile_worker.jobs where task_identifier = 'query-tax-engine'`)
  expect(queued.map(({ key }) => String(key)).join(' ')).toContain(tenant.tenant.platformId)
})
