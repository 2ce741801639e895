// How a computed invoice of a subscription is saved: its columns, whether it is OPEN or DRAFT, and when it becomes FINAL. Pure.
import { isDeepStrictEqual } from 'node:util'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import { graceEnd, openUntil } from '../../invoices/changes/grace.ts'
import { changed, created, type PendingInvoice, unchanged } from '../../invoices/changes/pending-invoice.ts'
import { type ComputedInvoice, storedColumns } from '../../invoices/producer.ts'
import type { NewInvoice } from '../../invoices/repository.ts'
import { type InvoiceRow, type InvoiceStatus, UNTOUCHED } from '../../invoices/table.ts'
import type { PricedInvoice } from '../pricing/price-invoice.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { endingOf } from './open-until.ts'
import { SUBSCRIPTION_BILLING } from './state/subscription-invoices.ts'

/** The run that computes an invoice. */
export type ComputingRun = {
  readonly tenant: Tenant
  readonly now: Instant
  readonly inputs: BillingInputs
  /** Everything accepted before this instant is counted; null where that is not known. */
  readonly countedUntil: Instant | null
}

/** An invoice that was computed; `row` is null for one that is new. */
export type Computed = {
  readonly row: InvoiceRow | null
  readonly counted: PricedInvoice
  readonly inputsHash: string
  readonly finalizeAt: Instant | undefined
}

/** What a producer hands on of a computed invoice. */
export const computedOf = (
  { countedUntil }: Pick<ComputingRun, 'countedUntil'>,
  { counted, inputsHash }: Pick<Computed, 'counted' | 'inputsHash'>,
): ComputedInvoice => ({
  columns: counted.columns,
  lines: counted.lines,
  grants: counted.grants,
  inputsHash,
  usageCountedUntil: counted.counted.length > 0 ? countedUntil : null,
})

/** One that could be computed waits for no other. */
const NOT_WAITING = { combine_fault: null, combine_fault_at: null }

/** The invoice as it is saved: OPEN until its period is over, then DRAFT until its grace period is. */
export function computedInvoice(run: ComputingRun, of: Computed): PendingInvoice {
  const { tenant, now, inputs } = run
  const { row } = of
  const { columns, lines } = of.counted
  const stored = storedColumns(computedOf(run, of))
  // A DRAFT is not OPEN again because the extra open period became longer: its grace period runs, and people work on it.
  const isOpenUntil = row?.status === 'DRAFT' ? at(columns.cutoff_at) : openUntil(inputs.platform, endingOf(columns))
  const status: InvoiceStatus = isOpenUntil <= now ? 'DRAFT' : 'OPEN'
  const closesAt = (): string =>
    of.finalizeAt === undefined ? closingTime(of, { platform: inputs.platform, now }) : formatInstant(of.finalizeAt)
  if (row) {
    const moves = row.status === 'OPEN' || of.finalizeAt !== undefined
    const finalizeAt = status === 'DRAFT' && moves && !row.on_hold ? closesAt() : row.finalize_at
    const values = { status, finalize_at: status === 'OPEN' ? null : finalizeAt, ...NOT_WAITING, ...stored }
    return changed(unchanged(row), now, values, { lines, announces: !isCounting(row, values) })
  }
  const onHold = inputs.subscription.init_invoice_on_hold
  const values: NewInvoice = {
    invoice_number: null,
    status,
    producer: SUBSCRIPTION_BILLING,
    type: 'STANDARD',
    billing_type: billingTypeOf(inputs),
    customer_id: idOf('cust', inputs.customer.id),
    billing_entity_id: idOf('bill', inputs.billing_entity.id),
    pricing_plan_subscription_id: idOf('ppsu', inputs.subscription.id),
    on_hold: onHold,
    payment_status: 'UNPAID',
    finalize_at: status === 'DRAFT' && !onHold ? closesAt() : null,
    updated_to_final_at: null,
    to_be_reprocessed_at: null,
    ...UNTOUCHED,
    ...stored,
  }
  return created({ tenant, now }, values, lines)
}

/**
 * Whether only the usage of an OPEN invoice moved, and what wallets would pay of it. While events come in, that happens every minute: an
 * event for each time would fill the outbox. To see the figures, a client reads the invoice or sets an alert.
 */
const isCounting = (row: InvoiceRow, values: Pick<InvoiceRow, 'status' | 'inputs_hash' | 'content'>): boolean =>
  row.status === 'OPEN' &&
  values.status === 'OPEN' &&
  values.inputs_hash === row.inputs_hash &&
  isDeepStrictEqual(values.content.validation_result, row.content.validation_result)

/** The grace period runs from when the invoice is no longer OPEN, or from the creation of the invoice when that is later. */
function closingTime(
  { row, counted }: Pick<Computed, 'row' | 'counted'>,
  { platform, now }: { readonly platform: Parameters<typeof graceEnd>[0]; readonly now: Instant },
): string {
  const made = row ? at(row.created_at) : now
  return formatInstant(graceEnd(platform, instantOf(Math.max(openUntil(platform, endingOf(counted.columns)), made))))
}
