// The hash stored with an invoice of a subscription: a run that computes the same hash again has nothing to save but usage.
import { hash } from 'node:crypto'
import type { ClosedUsage } from '../late/closed-usage.ts'
import type { Deducted } from '../pricing/deducted.ts'
import { type Refund, refundsText } from '../refunds/refunds.ts'

/** What the hash is of, besides the inputs. */
export type InvoiceHashed = {
  readonly billed: ReadonlySet<string>
  readonly deducted: readonly Deducted[]
  readonly closed: readonly ClosedUsage[] | null
  readonly refunds: readonly Refund[]
}

const deductedText = (deducted: readonly Deducted[]): string =>
  deducted.length === 0 ? '' : ` ${JSON.stringify(deducted)}`

/**
 * The hash stored with an invoice: its inputs, what other invoices bill in advance, the closed usage when late usage
 * goes on it, and its refunds.
 */
export function invoiceHashOf(inputsHash: string, of: InvoiceHashed): string {
  const before = (of.closed ?? []).map(each => each.invoice_id)
  return hash(
    'sha256',
    `${inputsHash} ${[...of.billed].sort().join(' ')} ${of.closed !== null} ${before.join(' ')}${refundsText(of.refunds)}${deductedText(of.deducted)}`,
  )
}
