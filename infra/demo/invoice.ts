// The invoice of the sample's month: waits for it, finalizes it, checks it against what was sent, and prints it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Progress } from '../services/child.ts'
import { type Client, listAll, type Row } from './client.ts'

type Money = { readonly quantity: string; readonly currency: string }
type Line = {
  readonly description?: string
  readonly product_items?: readonly { readonly reference?: string; readonly name?: string }[]
  readonly meter_value?: { readonly number?: string }
  readonly amount_excluding_tax?: Money
}
type Invoice = Row & {
  readonly status: string
  readonly invoice_number?: string
  readonly invoice_amount_including_tax?: Money
  readonly periods?: readonly {
    readonly start_at: string
    readonly groups: readonly { readonly lines: readonly Line[] }[]
  }[]
}

const WAIT_MS = 120_000
const POLL_MS = 500

const covers = (invoice: Invoice, monthStart: string): boolean =>
  invoice.periods?.some(period => Date.parse(period.start_at) === Date.parse(monthStart)) ?? false

async function findInvoice(client: Client, subscription: Row, monthStart: string): Promise<Invoice | null> {
  const rows = await listAll(
    client,
    `/v1/invoices?pricing_plan_subscription_id=${subscription.id}&include_periods=true`,
  )
  const row = (rows as Invoice[]).find(each => covers(each, monthStart))
  return row ? ((await client.get(`/v1/invoices/${row.id}`)) as Invoice) : null
}

/** The worker makes the invoice soon after the subscription is active; its month has ended, so it becomes a draft. */
async function waitForInvoice(client: Client, subscription: Row, monthStart: string): Promise<Invoice> {
  const deadline = performance.now() + WAIT_MS
  let seen = 'none'
  while (performance.now() < deadline) {
    const invoice = await findInvoice(client, subscription, monthStart)
    seen = invoice?.status ?? 'none'
    if (invoice && (seen === 'DRAFT' || seen === 'FINAL')) return invoice
    await sleep(POLL_MS)
  }
  throw new Error(`no invoice of ${monthStart} to finalize within ${WAIT_MS / 1000} s (status: ${seen})`)
}

const linesOf = (invoice: Invoice): Line[] =>
  (invoice.periods ?? []).flatMap(period => period.groups.flatMap(group => group.lines))

/** Finalizes the month's invoice. Finalising waits until every accepted event is counted. */
export async function finalizeInvoice(
  client: Client,
  subscription: Row,
  monthStart: string,
): Promise<{ invoice: Invoice; finalizedNow: boolean }> {
  const found = await waitForInvoice(client, subscription, monthStart)
  if (found.status === 'FINAL') return { invoice: found, finalizedNow: false }
  await client.patch(`/v1/invoices/${found.id}`, { status: 'FINAL' })
  return { invoice: (await client.get(`/v1/invoices/${found.id}`)) as Invoice, finalizedNow: true }
}

/** Throws unless the invoice counts exactly `expected` units of the product item `reference`. */
export function checkQuantity(invoice: Invoice, reference: string, expected: bigint): void {
  const line = linesOf(invoice).find(each => each.product_items?.some(item => item.reference === reference))
  const counted = line?.meter_value?.number ?? 'nothing'
  if (counted !== expected.toString())
    throw new Error(`the invoice counts ${counted} ${reference}, but ${expected} were sent`)
}

const money = (amount: Money | undefined): string => (amount ? `${amount.quantity} ${amount.currency}` : '-')

/** The invoice as a few lines of text. */
export function printInvoice(log: Progress, invoice: Invoice): void {
  const lines = linesOf(invoice).map(line => {
    const name = line.description ?? line.product_items?.[0]?.name ?? ''
    return `  ${name.padEnd(44)} ${(line.meter_value?.number ?? '').padStart(12)} ${money(line.amount_excluding_tax).padStart(16)}`
  })
  const total = `  ${'Total including tax'.padEnd(57)} ${money(invoice.invoice_amount_including_tax).padStart(16)}`
  log([`Invoice ${invoice.invoice_number ?? invoice.id} (${invoice.status})`, ...lines, total].join('\n'))
}
