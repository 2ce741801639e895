// Each customer's part of a usage line. The line is priced as a whole, and its figures are divided by the usage of each
// customer (shared/billing/customer-shares.ts). What was billed before for the same time is deducted customer by
// customer, so that the parts on all invoices for a time sum to what one invoice with all usage would have shown.
// Persisted usage belongs to the invoice's own customer, because it does not say which customers' events it comes from.
// Pure.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import {
  apportion,
  exactParts,
  isByEvents,
  type Parts,
  type Portion,
  settle,
  sharesOf,
} from '../../../../shared/billing/customer-shares.ts'
import { persistedUsageAt } from '../../../../shared/billing/persisted-usage.ts'
import { type Decimal, decimal, decimalOfInteger, ONE, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, currencyExponent, toMoney } from '../../../../shared/money.ts'
import { amountVolume, numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import type { Interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import type { LateCharge, LateUnit } from '../late/late-usage.ts'
import { withPersistedUsage } from '../rating/charge-volume.ts'
import { inBillingCurrency } from '../rating/exchange.ts'
import { type RatedCharge, signed } from '../rating/rate-charge.ts'
import { type CustomerFigure, type CustomerFigures, needKey } from '../usage/usage-needs.ts'

export type CustomerPart = {
  readonly customerId: string
  /** Its share of the rated usage: from 0 to 1. */
  readonly share: Decimal
  /** Whether shares go by each customer's number of events, because its usage gives no proportions. */
  readonly byEvents: boolean
  /** The usage of its events alone. */
  readonly volume: Volume
  /** Its part of what was billed before, and its usage then. */
  readonly before: { readonly total: Decimal; readonly volume: Volume } | null
  /** Its part of the line, exactly and as printed; negative for a deduction. */
  readonly exact: Decimal
  readonly printed: Decimal
}

/** The parts of each charge, by its key. */
export type PartsOfCharges = ReadonlyMap<string, readonly CustomerPart[]>

type SharedUsage = {
  readonly usageByCustomer?: CustomerFigures | null
  readonly late?: readonly LateCharge[]
}

type Sharing = {
  readonly usage: CustomerFigures
  /** The customer of the invoice. */
  readonly ownId: string
  readonly rounding: RoundingMode
  /** The line's amount as printed. */
  readonly printed: Decimal
  /** For a late charge: what closed invoices billed. */
  readonly unit: LateUnit | null
}

/** The parts of every charge, including those without a line; null when the usage was not read by customer. */
export function partsOfCharges(
  { usageByCustomer, late = [] }: SharedUsage,
  of: {
    readonly rated: readonly RatedCharge[]
    readonly printed: (key: string) => Decimal
    readonly rounding: RoundingMode
    /** The customer of the invoice. */
    readonly ownId: string
  },
): PartsOfCharges | null {
  if (!usageByCustomer) return null
  const units = new Map(late.map(({ charge, unit }) => [charge.key, unit]))
  const { rounding, ownId } = of
  return new Map(
    of.rated.map(rated => {
      const { charge } = rated
      const sharing = {
        usage: usageByCustomer,
        ownId,
        rounding,
        printed: of.printed(charge.key),
        unit: units.get(charge.key) ?? null,
      }
      return [charge.key, customerParts(rated, sharing)]
    }),
  )
}

/** The parts of a charge, by customer id: of all customers with events in it now, or when it was billed before. */
function customerParts(rated: RatedCharge, sharing: Sharing): CustomerPart[] {
  const { charge } = rated
  const members = charge.usage === null ? [] : membersOf(charge, charge.usage, sharing)
  if (members.length === 0) return []
  const shares = sharesOf(members)
  const byEvents = isByEvents(members)
  const volumes = volumesOf(members)
  const { exact, printed, before } = split(rated, members, sharing)
  return [...exact.keys()].sort().map(customerId => ({
    customerId,
    share: shares.get(customerId) ?? ZERO,
    byEvents,
    volume: volumes.get(customerId) ?? volumeOf(charge, ZERO, ZERO),
    before: before?.(customerId) ?? null,
    exact: exact.get(customerId) ?? ZERO,
    printed: printed.get(customerId) ?? ZERO,
  }))
}

type Member = Portion & { readonly volume: Volume }

function membersOf(charge: Charge, interval: Interval, { usage, ownId }: Pick<Sharing, 'usage' | 'ownId'>): Member[] {
  const { calculation, schedule } = charge
  const currency = calculation?.value_type === 'AMOUNT' ? schedule.pricing_currency : null
  const figures = (usage.get(needKey(charge, interval)) ?? []).filter(figure => figure.currency === currency)
  const isTold = persistedUsageAt(charge.persisted, interval) !== null
  const others = figures.filter(({ customerId }) => !isTold || customerId !== ownId)
  const members = others.map(({ customerId, weight, number, count: events }) => {
    const count = decimalOfInteger(events)
    return { customerId, weight, count, volume: volumeOf(charge, number, count) }
  })
  if (!isTold) return members
  return [
    persistedMember(charge, interval, figures.find(({ customerId }) => customerId === ownId) ?? { customerId: ownId }),
    ...members,
  ]
}

type OwnFigure = Pick<CustomerFigure, 'customerId'> & Partial<CustomerFigure>

/**
 * The own customer with the persisted usage and its events. Where shares go by events, persisted usage counts as one.
 */
function persistedMember(
  charge: Charge,
  interval: Interval,
  { customerId, number = ZERO, count = 0 }: OwnFigure,
): Member {
  const weight = withPersistedUsage(charge, interval, { number, count })
  const events = decimalOfInteger(count)
  return { customerId, weight, count: events.plus(ONE), volume: volumeOf(charge, weight, events) }
}

const volumesOf = (members: readonly Member[]): Map<string, Volume> =>
  new Map(members.map(({ customerId, volume }) => [customerId, volume]))

const volumeOf = ({ calculation, schedule }: Charge, quantity: Decimal, count: Decimal): Volume =>
  calculation?.value_type === 'AMOUNT'
    ? amountVolume(quantity, schedule.pricing_currency, count)
    : numberVolume(quantity, count)

type Split = {
  readonly exact: Parts
  readonly printed: Parts
  readonly before: ((customerId: string) => NonNullable<CustomerPart['before']>) | null
}

function split(rated: RatedCharge, members: readonly Member[], sharing: Sharing): Split {
  const { charge, exact } = rated
  const before = charge.late ? splitLate(rated, members, sharing) : splitCharged(rated, members, sharing)
  if (before) return before
  const places = currencyExponent(charge.billingCurrency)
  return {
    exact: apportion(members, exact, places),
    printed: apportion(members, sharing.printed, places),
    before: null,
  }
}

/**
 * What is left of a pricing period that earlier invoices began to charge; null when none of it was charged, or when it
 * was charged before any customer had events in it.
 */
function splitCharged(
  { charge, rated, before }: RatedCharge,
  members: readonly Member[],
  { usage, ownId, printed, rounding }: Sharing,
): Split | null {
  const earlier = charge.billedUsage === null ? [] : membersOf(charge, charge.billedUsage, { usage, ownId })
  if (!before || earlier.length === 0) return null
  const places = currencyExponent(charge.billingCurrency)
  const amountOf = (quantity: Decimal) => signed(charge, inBillingCurrency(charge, quantity))
  const [whole, asked] = [amountOf(rated.total.quantity), amountOf(before.total.quantity)]
  const askedOf = apportion(earlier, asked, places)
  const exact = less(apportion(members, whole, places), askedOf)
  // Rounded once, from the exact amount: what each invoice prints is rounded on its own, like its line.
  const unrounded = less(exactParts(members, whole), exactParts(earlier, asked))
  const volumes = volumesOf(earlier)
  return {
    exact,
    printed: rounding === 'DEFAULT' ? settle(unrounded, printed, places) : exact,
    before: id => ({
      total: signed(charge, askedOf.get(id) ?? ZERO),
      volume: volumes.get(id) ?? volumeOf(charge, ZERO, ZERO),
    }),
  }
}

/**
 * What late usage adds: each customer's part of the whole, less what closed invoices billed to the customer. Null when
 * that is not known: they did not divide the charge, or billed it to no customer, like a minimum without usage.
 */
function splitLate(
  { charge, rated, exact: due }: RatedCharge,
  members: readonly Member[],
  { printed, rounding, unit, usage, ownId }: Sharing,
): Split | null {
  const asked = unit?.parts ?? new Map()
  if (!unit?.exact.eq(sum([...asked.values()].map(part => decimal(part.exact))))) return null
  const currency = charge.billingCurrency
  const places = currencyExponent(currency)
  const whole = signed(charge, inBillingCurrency(charge, rated.total.quantity))
  // What the time before it costs now, where late usage of that time is billed elsewhere; else zero.
  const until = charge.billedUsage === null ? ZERO : whole.minus(unit.exact).minus(due)
  const earlier = charge.billedUsage === null ? [] : membersOf(charge, charge.billedUsage, { usage, ownId })
  if (earlier.length === 0 && !until.eq(ZERO)) return null
  const of = (name: 'exact' | 'printed') => new Map([...asked].map(([id, part]) => [id, decimal(part[name])]))
  const added = (of: (quantity: Decimal) => Decimal) =>
    earlier.length === 0
      ? apportion(members, of(whole), places)
      : less(apportion(members, of(whole), places), apportion(earlier, of(until), places))
  const exact = less(
    added(quantity => quantity),
    of('exact'),
  )
  const rounded = less(
    added(quantity => toMoney(amount(quantity, currency)).quantity),
    of('printed'),
  )
  return {
    exact,
    printed: rounding === 'DEFAULT' ? settle(rounded, printed, places) : exact,
    before: id => {
      const part = asked.get(id)
      const [number, count] = [decimal(part?.number ?? '0'), decimal(part?.count ?? '0')]
      return { total: signed(charge, decimal(part?.exact ?? '0')), volume: volumeOf(charge, number, count) }
    },
  }
}

/** Each customer's part less what it was billed before; a customer without a part now gets a negative one. */
function less(parts: Parts, asked: Parts): Map<string, Decimal> {
  const ids = new Set([...parts.keys(), ...asked.keys()])
  return new Map([...ids].map(id => [id, (parts.get(id) ?? ZERO).minus(asked.get(id) ?? ZERO)]))
}
