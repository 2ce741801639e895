// Which subscriptions are invoiced together, and when. Pure.
import { at, type Instant, instantOf } from '../../../../../shared/time.ts'
import { graceEnd } from '../../../invoices/changes/grace.ts'
import type { InvoiceColumns } from '../../../invoices/table.ts'
import { type BillingInputs, usingCustomer } from '../../terms/billing-inputs.ts'
import { billingTypeOf } from '../../terms/billing-type.ts'
import type { InvoiceWindow } from '../../terms/windows.ts'
import type { Target } from '../advance-invoices.ts'
import { openUntilOf } from '../open-until.ts'
import { keyOfRow, type SubscriptionInvoice } from '../state/subscription-invoices.ts'
import type { SubscriptionState } from '../state/subscription-state.ts'

/**
 * The same text for subscriptions whose invoices may be issued together (semantics 4.1): one customer to bill and one
 * that uses, one billing entity, currency, billing type, purchase order, sales tax, and terms and ways of payment. Null for a
 * subscription that does not combine.
 */
export function combinedWith(inputs: BillingInputs): string | null {
  const { subscription, customer, billing_entity } = inputs
  if (!subscription.combine) return null
  return JSON.stringify({
    customer: customer.id,
    using: usingCustomer(inputs).id,
    entity: billing_entity.id,
    currency: subscription.billing_currency,
    type: billingTypeOf(inputs),
    order: subscription.purchase_order_number,
    tax: subscription.sales_tax_percentage,
    due: subscription.due_date_configuration,
    acceptors: subscription.payment_acceptor_ids?.toSorted(),
  })
}

/** The most subscriptions whose invoices become one: more would make the run of one of them, and its locks, too long. */
export const COMBINED_MAX = 250

/** The same text for invoices of such subscriptions that end their periods at the same moment. */
export function combinedAt(inputs: BillingInputs, { cutoffAt, arrears }: InvoiceWindow): string | null {
  const own = combinedWith(inputs)
  return own === null ? null : `${cutoffAt} ${arrears === null} ${own}`
}

/** What documents must share as well: known only once they are priced. */
export const sameDocument = (columns: InvoiceColumns): string =>
  JSON.stringify({
    invoice_date: columns.invoice_date,
    delivery_date: columns.delivery_date,
    due_date: columns.due_date,
    timezone: columns.timezone,
    prices: columns.content.pricing_amount_type,
    rounding: columns.content.rounding_mode,
  })

type Member = Pick<SubscriptionState, 'inputs' | 'rows'>

/** When this invoice becomes FINAL by itself; null for one on hold. */
function closesAt({ inputs, rows }: Member, { key, window }: Target, now: Instant): Instant | null {
  if (!window) return null
  const row: SubscriptionInvoice | undefined = rows.find(each => keyOfRow(each) === key)
  if (row?.status === 'DRAFT') return row.on_hold || row.finalize_at === null ? null : at(row.finalize_at)
  if (row ? row.on_hold : inputs.subscription.init_invoice_on_hold) return null
  return graceEnd(inputs.platform, instantOf(Math.max(openUntilOf(inputs, window), row ? at(row.created_at) : now)))
}

type Planned = {
  readonly state: Member
  readonly targets: readonly Target[]
  /** Whether it has more invoices than one run processes. */
  readonly truncated: boolean
}

/**
 * The targets of subscriptions that combine, so that invoices that are issued together become FINAL at the same time: that
 * of the last of them. None waits for an invoice on hold, or for one that could not become FINAL at its time.
 */
export function alignTargets(members: ReadonlyMap<string, Planned>, now: Instant): Map<string, readonly Target[]> {
  const times = new Map<string, Instant[]>()
  const reached = new Map<string, number>()
  for (const { state, targets, truncated } of members.values()) {
    for (const target of targets) {
      const place = placeOf(state, target, now)
      const time = place === null ? null : closesAt(state, target, now)
      if (place !== null && time !== null) times.set(place, [...(times.get(place) ?? []), time])
    }
    const own = combinedWith(state.inputs) ?? ''
    const last = Math.max(...targets.map(({ window }) => window?.cutoffAt ?? 0))
    if (truncated) reached.set(own, Math.min(last, reached.get(own) ?? last))
  }
  return new Map(
    [...members].map(([id, { state, targets }]) => [
      id,
      targets.map((target): Target => {
        const limit = reached.get(combinedWith(state.inputs) ?? '') ?? Number.POSITIVE_INFINITY
        // Its place has invoices that only a later run processes.
        if ((target.window?.cutoffAt ?? 0) > limit) return { ...target, closes: false }
        const all = times.get(placeOf(state, target, now) ?? '') ?? []
        if (all.length < 2 || closesAt(state, target, now) === null) return target
        const closes = instantOf(Math.max(...all))
        return { ...target, closes: target.closes && closes <= now, finalizeAt: closes }
      }),
    ]),
  )
}

/** With which invoices this one is issued; null while it is OPEN. */
const placeOf = ({ inputs }: Member, { window }: Target, now: Instant): string | null =>
  window && openUntilOf(inputs, window) <= now ? combinedAt(inputs, window) : null
