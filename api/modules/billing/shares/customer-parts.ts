// What of a usage line is whose. The line is priced as a whole, and its figures are shared by what each customer's events come
// to (shared/billing/customer-shares.ts). What was asked for the same time before is taken off customer by customer, so that
// the parts of all invoices of a time sum to what one invoice in time would have shown. A state that was told is the
// invoice's own customer's: nobody said whose events it came of. Pure.
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
import type { Charge } from '../charges/charges.ts'
import type { LateCharge, LateUnit } from '../late/late-usage.ts'
import { withPersistedUsage } from '../rating/charge-volume.ts'
import { type RatedCharge, signed } from '../rating/rate-charge.ts'
import { type CustomerFigure, type CustomerFigures, needKey } from '../usage/usage-needs.ts'

export type CustomerPart = {
  readonly customerId: string
  /** Its share of the usage that is rated: from 0 to 1. */
  readonly share: Decimal
  /** Whether shares go by how many events each customer has, for want of proportions. */
  readonly byEvents: boolean
  /** What its events come to on their own. */
  readonly volume: Volume
  /** Its part of what was asked before, and what its events came to then. */
  readonly before: { readonly total: Decimal; readonly volume: Volume } | null
  /** Its part of the line: exactly, and as it is printed; negative for a deduction. */
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
  /** Whose invoice it is. */
  readonly ownId: string
  readonly rounding: RoundingMode
  /** The line's amount as it is printed. */
  readonly printed: Decimal
  /** Of a late charge: what closed invoices asked. */
  readonly unit: LateUnit | null
}

/** The parts of every charge, of those without a line too; null when the usage was not read by customer. */
export function partsOfCharges(
  { usageByCustomer, late = [] }: SharedUsage,
  of: {
    readonly rated: readonly RatedCharge[]
    readonly printed: (key: string) => Decimal
    readonly rounding: RoundingMode
    /** Whose invoice it is. */
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

/** The parts of a charge, by customer id: of everybody whose events are in it, or were when it was asked before. */
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

/** The own customer with the state that was told and its events. Where shares go by events, the telling counts as one. */
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
  const places = currencyExponent(charge.schedule.pricing_currency)
  return {
    exact: apportion(members, exact, places),
    printed: apportion(members, sharing.printed, places),
    before: null,
  }
}

/**
 * What is left of a pricing period that earlier invoices began to charge; null when nothing was charged of it, or before
 * anybody had events in it.
 */
function splitCharged(
  { charge, rated, before }: RatedCharge,
  members: readonly Member[],
  { usage, ownId, printed, rounding }: Sharing,
): Split | null {
  const earlier = charge.billedUsage === null ? [] : membersOf(charge, charge.billedUsage, { usage, ownId })
  if (!before || earlier.length === 0) return null
  const places = currencyExponent(charge.schedule.pricing_currency)
  const [whole, asked] = [signed(charge, rated.total.quantity), signed(charge, before.total.quantity)]
  const askedOf = apportion(earlier, asked, places)
  const exact = less(apportion(members, whole, places), askedOf)
  // Rounded once, from what is exact: what each invoice prints is rounded on its own, as its line is.
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
 * What late usage adds: everybody's part of the whole, less what closed invoices asked of it. Null when nobody knows what that
 * was: they did not share it, or asked it of nobody, as a minimum without usage.
 */
function splitLate(
  { charge, rated }: RatedCharge,
  members: readonly Member[],
  { printed, rounding, unit }: Sharing,
): Split | null {
  const asked = unit?.parts ?? new Map()
  if (!unit?.exact.eq(sum([...asked.values()].map(part => decimal(part.exact))))) return null
  const currency = charge.schedule.pricing_currency
  const places = currencyExponent(currency)
  const whole = signed(charge, rated.total.quantity)
  const of = (name: 'exact' | 'printed') => new Map([...asked].map(([id, part]) => [id, decimal(part[name])]))
  const exact = less(apportion(members, whole, places), of('exact'))
  const rounded = less(apportion(members, toMoney(amount(whole, currency)).quantity, places), of('printed'))
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

/** Every customer's part less what it was asked; those that have no part any more are asked less. */
function less(parts: Parts, asked: Parts): Map<string, Decimal> {
  const ids = new Set([...parts.keys(), ...asked.keys()])
  return new Map([...ids].map(id => [id, (parts.get(id) ?? ZERO).minus(asked.get(id) ?? ZERO)]))
}
