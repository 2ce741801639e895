// What the charges of an invoice grant to wallets by the rules of their prices (contract: Wallet rules 3 to 5; semantics
// 6). Pure.

import { timesFraction } from '../../../../shared/billing/fraction.ts'
import { addPeriodAt, type BillingPeriod, billingPeriods } from '../../../../shared/billing/periods.ts'
import { periodShare, shareOf } from '../../../../shared/billing/proration.ts'
import { type Decimal, decimal, HUNDRED, plain, ZERO } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import { isByUnits } from '../../../../shared/rating/rate.ts'
import { at, formatInstant, type Instant, type Interval, instantOf, intersect } from '../../../../shared/time.ts'
import { termsOfRule } from '../../catalog/pricing-plans/checks/check-wallet-grants.ts'
import type { WalletGrantRule } from '../../catalog/pricing-plans/schema.ts'
import type { ChargeGrant } from '../../invoices/charge-grants.ts'
import { isEnding } from '../../subscriptions/ending/inactive-periods.ts'
import { prorationPeriod } from '../charges/charge.ts'
import { inPricingCurrency } from '../rating/exchange.ts'
import type { RatedCharge } from '../rating/rate-charge.ts'
import type { BillingInputs, SeatInput } from '../terms/billing-inputs.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { statedSeatsAt } from '../terms/term-seats.ts'
import type { InvoiceWindow } from '../terms/windows.ts'

type Charged = {
  readonly rated: readonly RatedCharge[]
  /** The printed amount of the line of a charge. */
  printed(key: string): Decimal
}

/**
 * The grants of an invoice: by its charges, in order, and by the seats that are assigned in the time that it collects.
 * Grants of later time are among them; they are made when that time starts.
 */
export function grantsOfCharges(
  inputs: BillingInputs,
  { terms, window }: { readonly terms: readonly PriceTerm[]; readonly window: InvoiceWindow },
  { rated, printed }: Charged,
): ChargeGrant[] {
  return [
    ...rated.flatMap(each => {
      if (each.charge.late !== null) return []
      return rulesOf(each.charge).flatMap(({ rule, index }) =>
        rule.source === 'PER_SEAT' ? [] : grantOfCharge(inputs, each, { rule, index, printed }),
      )
    }),
    ...terms.flatMap(term =>
      rulesOf(term).flatMap(({ rule }) =>
        rule.source === 'PER_SEAT' ? grantsOfSeats(inputs, term, { rule, window }) : [],
      ),
    ),
  ]
}

const rulesOf = ({ config }: Pick<PriceTerm, 'config'>) =>
  (config.wallet_grants ?? []).map((rule, index) => ({ rule, index }))

function grantOfCharge(
  inputs: BillingInputs,
  rated: RatedCharge,
  {
    rule,
    index,
    printed,
  }: { readonly rule: WalletGrantRule; readonly index: number; readonly printed: Charged['printed'] },
): ChargeGrant[] {
  const { charge } = rated
  const { service, schedule } = charge
  const currency = schedule.pricing_currency
  const paid = toMoney(amount(inPricingCurrency(charge, printed(charge.key)), currency)).quantity
  const quantity = quantityOf(rated, rule, paid)
  if (quantity.lte(ZERO)) return []
  return [
    {
      charge: { key: `${charge.key} ${index}`, ...placeOf(inputs, charge, service.end) },
      wallet_type_id: rule.wallet_type_id,
      source: charge.productItem.model_type === 'PER_SEAT' ? 'SEAT_POOL' : 'CHARGE',
      quantity: plain(quantity),
      paid_amount: { quantity: plain(paid), currency },
      ...timesOf(rule, charge, service.start),
      description: charge.productItem.name,
    },
  ]
}

/**
 * A fixed quantity is granted for each unit of a ONE_OFF item priced FLAT, for each paid seat by the days it is paid
 * for, and else once. A percentage is of the price, and a conversion gives credits for what is paid.
 */
function quantityOf({ charge, metered }: RatedCharge, rule: WalletGrantRule, paid: Decimal): Decimal {
  const terms = termsOfRule(rule)
  if (terms.by !== 'FIXED') {
    const product = decimal(terms.rate).times(paid)
    return terms.by === 'PERCENTAGE' ? product.div(HUNDRED) : product
  }
  const fixed = decimal(terms.quantity)
  const model = charge.productItem.model_type
  if (model === 'ONE_OFF') return isByUnits(charge.config.pricing_type) ? fixed.times(metered.quantity) : fixed
  // The rest of a period grants no second time what the period grants once.
  if (model !== 'PER_SEAT') return charge.rest ? ZERO : fixed
  const seats = metered.quantity.minus(charge.seats?.before ?? ZERO)
  return timesFraction(fixed.times(seats), periodShare(prorationPeriod(charge)))
}

/** One grant for each assignment in a period that the invoice collects: its share of the period, by local days. */
function grantsOfSeats(
  inputs: BillingInputs,
  term: PriceTerm,
  { rule, window }: { readonly rule: WalletGrantRule; readonly window: InvoiceWindow },
): ChargeGrant[] {
  const { calendar } = term
  const { arrears } = window
  const terms = termsOfRule(rule)
  if (!calendar || arrears === null || terms.by !== 'FIXED') return []
  const seats = (inputs.seats ?? []).filter(seat => seat.product_item_id === term.productItem.id)
  const grants: ChargeGrant[] = []
  for (const period of billingPeriods(calendar.billingGrid, calendar.span)) {
    if (period.covered.start >= arrears.end) break
    if (intersect(period.covered, arrears) === null) continue
    const live = liveIn(seats, period)
    for (const seat of live) {
      const quantity = timesFraction(
        decimal(terms.quantity),
        shareOf(seat.time, period.full, calendar.billingGrid.zone),
      )
      if (quantity.lte(ZERO)) continue
      const { schedule, item, config, productItem } = term
      const from = formatInstant(period.covered.start)
      grants.push({
        charge: {
          key: `${schedule.id} ${item.id} ${config.id} ${productItem.id} ${from} ${rule.wallet_type_id} ${seat.id}`,
          ...placeOf(inputs, term, seat.time.end),
        },
        wallet_type_id: rule.wallet_type_id,
        source: 'PER_SEAT',
        quantity: plain(quantity),
        ...timesOf(rule, term, seat.time.start),
        description: productItem.name,
        seat: { customer_id: seat.customer_id, product_item_id: productItem.id },
        seat_assignment_id: seat.id,
        ...(isBeyondPaid(seat, live, term) ? { over_granted: true as const } : {}),
      })
    }
  }
  return grants
}

type LiveSeat = { readonly id: string; readonly customer_id: string; readonly time: Interval }

/** The assignments in a period with their time in it, in the order in which they start. */
function liveIn(seats: readonly SeatInput[], { covered }: BillingPeriod): LiveSeat[] {
  const live = seats.flatMap(({ id, customer_id, start_at, end_at }): LiveSeat[] => {
    const end = end_at === null ? covered.end : instantOf(Math.min(at(end_at), covered.end))
    const start = instantOf(Math.max(at(start_at), covered.start))
    return id === undefined || customer_id === undefined || end <= start
      ? []
      : [{ id, customer_id, time: { start, end } }]
  })
  return live.toSorted((a, b) => a.time.start - b.time.start || (a.id < b.id ? -1 : 1))
}

/** Whether as many seats as are paid for are taken by assignments before it. Charged assignments are all paid. */
function isBeyondPaid(seat: LiveSeat, live: readonly LiveSeat[], term: PriceTerm): boolean {
  const paid = statedSeatsAt(term, seat.time.start)
  if (paid === null) return false
  const before = live.slice(0, live.indexOf(seat)).filter(({ time }) => time.end > seat.time.start)
  return paid.lte(String(before.length))
}

function placeOf({ subscription }: BillingInputs, { schedule }: PriceTerm, end: Instant) {
  return {
    schedule_id: schedule.id,
    schedule_start_at: schedule.start_at,
    schedule_end_at: schedule.end_at,
    service_end_at: formatInstant(end),
    cancelled: isEnding(subscription.inactive_periods),
  }
}

/** From the start of the service until the expiry period of the rule is over, in the zone of the subscription. */
function timesOf({ expiry_policy: policy }: WalletGrantRule, { calendar }: PriceTerm, start: Instant) {
  const zone = calendar?.billingGrid.zone
  const expires = policy && zone ? addPeriodAt(start, policy.expiry_period, zone) : null
  return { start_at: formatInstant(start), expire_at: expires === null ? null : formatInstant(expires) }
}
