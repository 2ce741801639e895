// The invoice of an on-demand charge: the same prices, clauses, taxes and wallets as the invoices of its subscription.
// Pure.
import { at, type Instant, interval } from '../../../../shared/time.ts'
import type { AddedLine } from '../../invoices/added-lines/price-added-line.ts'
import type { ComputedInvoice } from '../../invoices/producer.ts'
import { type FundsRequest, NO_PAYERS, type Payers } from '../../invoices/settlement/funds.ts'
import type { OnDemandTerms } from '../../invoices/table.ts'
import type { Charge } from '../charges/charge.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import type { BillingInputs, ScheduleInput } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import { chargesOfOrder } from './order.ts'

export type OnDemandRequest = {
  readonly terms: readonly PriceTerm[]
  readonly order: OnDemandTerms
  readonly bought: readonly Charge[]
  readonly payers: Payers
  readonly added: readonly AddedLine[]
  /** Null until the invoice becomes FINAL. */
  readonly finalizedAt: Instant | null
}

/** Throws INVALID_OPERATION when a price or a currency cannot be billed. */
export function computeOnDemand(inputs: BillingInputs, request: OnDemandRequest): ComputedInvoice {
  const { order, finalizedAt, bought } = request
  const cutoffAt = at(order.start_at)
  const window = { arrears: null, advance: serviceOf(order), cutoffAt, opensAt: cutoffAt }
  const schedules = inputs.schedules.filter(({ id }) => id === order.pricing_plan_schedule_id).map(applicable)
  // What puts money into a wallet is not paid from it.
  const payers = bought.some(({ config }) => config.wallet_grants?.length) ? NO_PAYERS : request.payers
  const { columns, lines, grants } = priceInvoice(
    { ...inputs, schedules },
    { ...request, ...payers, window, billed: new Set(), usage: new Map() },
  )
  return {
    // It holds no billing period.
    columns: {
      ...columns,
      period_start: null,
      period_end: null,
      advance_only: null,
      cutoff_at: null,
      usage_from: null,
    },
    lines,
    // It is granted when it is owed for good, because a DRAFT may never be (semantics 6).
    grants: finalizedAt === null ? [] : grants,
    // One transaction reads and saves it, so no hash is needed.
    inputsHash: '',
    usageCountedUntil: null,
  }
}

/**
 * What applies of a schedule: no minimum, because a charge collects no period, and no coupon for a single invoice,
 * because that is for the first billing period.
 */
const applicable = ({ commitment: _minimum, coupons = [], ...schedule }: ScheduleInput): ScheduleInput => ({
  ...schedule,
  coupons: coupons.filter(({ duration }) => duration.type !== 'ONE_TIME'),
})

const serviceOf = ({ service_start, service_end }: OnDemandTerms) => interval(at(service_start), at(service_end))

/** What an on-demand charge was computed from, saved when it becomes FINAL. */
export type OnDemandSnapshot = Omit<OnDemandRequest, 'terms' | 'bought'> & { readonly inputs: BillingInputs }

/** The same invoice again, from its snapshot. */
export function computeFromSnapshot({ inputs, ...saved }: OnDemandSnapshot): ComputedInvoice {
  const terms = resolveTerms(inputs)
  const bought = chargesOfOrder({ terms, order: saved.order })
  if (bought === null) throw new Error('what was kept of an order has its prices')
  return computeOnDemand(inputs, { ...saved, terms, bought })
}

/** What the invoice needs of wallets. */
export const fundsOfOrder = (
  inputs: BillingInputs,
  { order, invoiceId }: { readonly order: OnDemandTerms; readonly invoiceId: string | null },
): FundsRequest => ({
  customerId: inputs.customer.id,
  currency: inputs.subscription.billing_currency,
  invoiceId,
  service: serviceOf(order),
  billingType: billingTypeOf(inputs),
})
