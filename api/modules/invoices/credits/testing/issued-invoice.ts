// A one-off invoice that tests credit.
import { succeed } from '../../../../testing/calls.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { oneOffParties } from '../../testing/one-off-parties.ts'

export const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
/** A line of a one-off invoice. */
export const line = (name: string, amount: string, more: Record<string, unknown> = {}) => ({
  pricing_name: name,
  pricing_type: 'FIXED',
  pricing_band: { amount: eur(amount) },
  ...more,
})

/** A one-off DRAFT of a new customer. */
export async function oneOff(tenant: TestTenant, lines: unknown[]): Promise<Row> {
  return await succeed(tenant, 'POST', '/v1/invoices', { ...(await oneOffParties(tenant)), lines })
}

/** A FINAL invoice of 100 and 50 less 30, and 21 % tax: 120.00 and 25.20. */
export async function issued(tenant: TestTenant): Promise<{ url: string; invoice: Row }> {
  const draft = await oneOff(tenant, [
    line('A', '100'),
    line('B', '50'),
    line('Less', '30', { product_item_type: 'DEDUCTION' }),
  ])
  const url = `/v1/invoices/${draft['id']}`
  return { url, invoice: await succeed(tenant, 'PATCH', url, { status: 'FINAL' }) }
}

/** Credits one line of the only group, in full or this amount of it. */
export const at = (line_order: number, amount?: string) => ({
  periods: [
    {
      period_order: 0,
      groups: [{ group_order: 0, lines: [{ line_order, ...(amount ? { amount: eur(amount) } : {}) }] }],
    },
  ],
})
export const finalize = (tenant: TestTenant, id: string) =>
  succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
/** How an invoice is settled, for comparisons. */
export const amounts = (invoice: Row) => [
  invoice['payment_status'],
  invoice['paid'],
  invoice['paid_invoice_amount'].quantity,
  invoice['open_invoice_amount'].quantity,
  invoice['closed_invoice_amount'].quantity,
  invoice['refundable_amount'].quantity,
]
