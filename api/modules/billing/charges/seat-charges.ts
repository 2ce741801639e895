// The charges of a billing period with changing seats: in arrears one per number of seats; in advance one for the seats
// at the start and one for each rise (semantics 4.4). Pure.
import {
  type PaidSeats,
  type SeatChange,
  type SeatPart,
  seatsInAdvance,
  seatsInArrears,
} from '../../../../shared/billing/charging/seats.ts'
import { localDays } from '../../../../shared/billing/local-days.ts'
import type { BillingPeriod } from '../../../../shared/billing/periods.ts'
import { type Decimal, decimal, plain } from '../../../../shared/decimal.ts'
import {
  contains,
  formatInstant,
  type Instant,
  type Interval,
  interval,
  parseInstant,
} from '../../../../shared/time.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'
import { type PaidCharge, paidDays, REST, segmentsOf } from './paid-parts.ts'
import { withoutPauses } from './paused-days.ts'

/** A number of seats for a part of a billing period. */
type SeatsOfPart = {
  readonly number: Decimal
  /** Seats that are already paid for the same time, which are deducted; null where there are none. */
  readonly before: Decimal | null
  /** The part, with its charged days. */
  readonly period: BillingPeriod
}
/** `earlier` are the earlier parts of the same period on the same invoice: their lines sum to the rounded whole. */
export type ChargedSeats = SeatsOfPart & { readonly earlier: readonly SeatsOfPart[] }

type SeatCharge = { readonly key: string; readonly service: Interval; readonly seats: ChargedSeats }

type Paying = {
  readonly changes: readonly SeatChange[]
  readonly inAdvance: boolean
  readonly calendar: PriceCalendar
}
/** What tells which seats other invoices bill. */
type Billed = {
  readonly billed: ReadonlySet<string>
  readonly keyed: (from: Instant) => string
  /** The seats of a key without a number: it was billed while one number held at all times. */
  readonly byDefault: Decimal
}

/**
 * The charges of one billing period. In advance a key ends in the number of seats, so `billed`, the keys that other
 * invoices bill, shows how many seats are paid for and from when. A part without a charged day has no charge.
 */
export function seatCharges({ changes, inAdvance, calendar }: Paying, whole: BillingPeriod, of: Billed): SeatCharge[] {
  const { covered } = whole
  const { keyed } = of
  const parts = inAdvance ? seatsInAdvance(changes, covered, paidIn(of, covered)) : seatsInArrears(changes, covered)
  const charges: SeatCharge[] = []
  for (const part of parts) {
    const own = seatsOfPart(part, whole, calendar)
    if (!own) continue
    const { start } = part.time
    const earlier = inAdvance ? [] : charges.map(({ seats }) => seats)
    const key = inAdvance ? `${keyed(start)} ${plain(part.seats)}` : keyed(start)
    charges.push({ key, service: part.time, seats: { ...own, earlier } })
  }
  return charges
}

/** The advance charges of one billing period that `billed` has, as they were charged. */
export function paidSeatCharges(calendar: PriceCalendar, whole: BillingPeriod, of: Billed): SeatCharge[] {
  const { covered } = whole
  const { keyed } = of
  const paid = paidIn(of, covered).toSorted((a, b) => a.from - b.from || a.seats.cmp(b.seats))
  return paid.flatMap(({ from, seats }, index) => {
    const time = interval(from, covered.end)
    const own = seatsOfPart({ time, seats, before: paid[index - 1]?.seats ?? null }, whole, calendar)
    return own ? [{ key: `${keyed(from)} ${plain(seats)}`, service: time, seats: { ...own, earlier: [] } }] : []
  })
}

type Left = {
  readonly changes: readonly SeatChange[]
  readonly calendar: PriceCalendar
  readonly keyed: (from: Instant) => string
  readonly byDefault: Decimal
}

/** The seats of a period that was charged in part, as far as they are not paid for; `isRest`: for time that no charge reached. */
export function seatsLeft(
  { changes, calendar, keyed, byDefault }: Left,
  whole: BillingPeriod,
  paid: readonly PaidCharge[],
): (SeatCharge & { readonly isRest: boolean })[] {
  return segmentsOf(paid, whole.covered).flatMap(({ time, paid: own, isRest }) =>
    seatsInAdvance(
      changes,
      time,
      own.map(({ seats }) => ({ from: time.start, seats: numberOf(seats, byDefault) })),
    ).flatMap(part => {
      const seats = seatsOfPart(part, whole, calendar)
      const key = `${keyed(part.time.start)} ${plain(part.seats)}${isRest ? REST : ''}`
      return seats ? [{ key, service: part.time, seats: { ...seats, earlier: [] }, isRest }] : []
    }),
  )
}

/** The charges of a period that was charged in part, as they were charged. */
export function seatsPaidInParts(
  { calendar, byDefault }: Pick<Left, 'calendar' | 'byDefault'>,
  whole: BillingPeriod,
  paid: readonly PaidCharge[],
): SeatCharge[] {
  const counted = paid
    .map(each => ({ ...each, number: numberOf(each.seats, byDefault) }))
    .toSorted((a, b) => a.service.start - b.service.start || a.number.cmp(b.number))
  return counted.flatMap(({ key, service, paused, number }, index) => {
    const coveredDays = paidDays({ service, paused }, calendar.billingGrid.zone)
    if (coveredDays <= 0) return []
    const before = counted.slice(0, index).findLast(each => contains(each.service, service.start))?.number ?? null
    const period = { ...whole, covered: service, coveredDays }
    return [{ key, service, seats: { number, before, period, earlier: [] } }]
  })
}

const numberOf = (seats: string | null, byDefault: Decimal): Decimal => (seats === null ? byDefault : decimal(seats))

function seatsOfPart(
  { time, seats, before }: SeatPart,
  whole: BillingPeriod,
  calendar: PriceCalendar,
): SeatsOfPart | null {
  const coveredDays = localDays(time, calendar.billingGrid.zone)
  const period = withoutPauses(calendar, { ...whole, covered: time, coveredDays })
  return period && period.coveredDays > 0 ? { number: seats, before, period } : null
}

/** The seats of a period that other invoices bill in advance. */
function paidIn({ billed, keyed, byDefault }: Billed, { start, end }: Interval): PaidSeats[] {
  const name = keyed(start).slice(0, -formatInstant(start).length)
  const paid: PaidSeats[] = []
  for (const key of billed) {
    if (!key.startsWith(name)) continue
    const [time = '', seats] = key.slice(name.length).split(' ')
    const from = parseInstant(time)
    if (from !== null && start <= from && from < end)
      paid.push({ from, seats: seats === undefined ? byDefault : decimal(seats) })
  }
  return paid
}
