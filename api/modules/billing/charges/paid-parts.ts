// Which time a charge ahead paid for, where that is not its whole billing period: it was charged while a cancellation, another
// plan or a pause was known. When that falls away, the rest of the period is charged (semantics 4.1, 4.4). Pure.
import { localDays, type Zone } from '../../../../shared/billing/local-days.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import {
  contains,
  formatInstant,
  type Instant,
  type Interval,
  instantOf,
  intersect,
  interval,
  parseInstant,
} from '../../../../shared/time.ts'

/** What a charge ahead of a part of its period paid for. */
export type PaidPart = {
  /** The key of the charge. */
  readonly key: string
  readonly service: Interval
  /** The end of its whole billing period. */
  readonly periodEnd: Instant
  /** Parts of its service that were paused, so that they were not charged. */
  readonly paused: readonly Interval[]
}

const PREFIX = 'part '

/** A part as a text among the keys of charges, which tell what other invoices bill. */
export const textOfPart = ({ key, service, periodEnd, paused }: PaidPart): string =>
  PREFIX +
  JSON.stringify([key, service.start, service.end, periodEnd, ...paused.flatMap(({ start, end }) => [start, end])])

/** Whether it is the text of a part, rather than the key of a charge. */
export const isPart = (text: string): boolean => text.startsWith(PREFIX)

function partOfText(text: string): PaidPart {
  const [key, ...times] = JSON.parse(text.slice(PREFIX.length)) as [string, ...number[]]
  const at = (index: number): Instant => instantOf(times[index] ?? Number.NaN)
  const paused: Interval[] = []
  for (let index = 3; index + 1 < times.length; index += 2) paused.push(interval(at(index), at(index + 1)))
  return { key, service: interval(at(0), at(1)), periodEnd: at(2), paused }
}

type Parts = {
  /** By the key of a charge, which has one part. */
  readonly one: ReadonlyMap<string, PaidPart>
  /** By the key of a minimum: it is reached again, under one key, for days that came back. */
  readonly all: ReadonlyMap<string, readonly PaidPart[]>
}

/** The parts among what other invoices bill. */
function readParts(billed: ReadonlySet<string>): Parts {
  if (billed.size === 0) return NONE
  const known = partsOf.get(billed)
  // A set that grows is read again.
  if (known?.size === billed.size) return known.parts
  const texts = [...billed].filter(isPart).sort()
  const found = texts.map(partOfText)
  const parts =
    found.length === 0
      ? NONE
      : { one: new Map(found.map(part => [part.key, part])), all: groupBy(found, ({ key }) => key) }
  partsOf.set(billed, { size: billed.size, parts })
  return parts
}

/** The parts of charges among what other invoices bill, by the key of the charge. */
export const partsIn = (billed: ReadonlySet<string>): Parts['one'] => readParts(billed).one

/** All parts of each key: of a minimum there may be several. */
export const allPartsIn = (billed: ReadonlySet<string>): Parts['all'] => readParts(billed).all

const NONE: Parts = { one: new Map(), all: new Map() }
const partsOf = new WeakMap<ReadonlySet<string>, { readonly size: number; readonly parts: Parts }>()

/** The text of the part that a key has among what is billed; none for a charge of a whole period. */
export function textsOf(key: string, billed: ReadonlySet<string>): string[] {
  const part = partsIn(billed).get(key)
  return part ? [textOfPart(part)] : []
}

/** The end of the key of a charge for the rest of a period. */
export const REST = ' rest'

/** A charge ahead for a billing period. */
export type PaidCharge = {
  readonly key: string
  readonly service: Interval
  readonly paused: readonly Interval[]
  /** What its key says of seats; null where it says nothing. */
  readonly seats: string | null
}

/**
 * The charges ahead for this billing period of a price, in order of time, when one of them is for a part of it; otherwise null.
 * `keyed`: the key of a charge from a time on.
 */
export function paidInParts(
  billed: ReadonlySet<string>,
  keyed: (from: Instant) => string,
  { start, end }: Interval,
): PaidCharge[] | null {
  const parts = partsIn(billed)
  if (parts.size === 0) return null
  const name = keyed(start).slice(0, -formatInstant(start).length)
  if (![...parts.keys()].some(key => key.startsWith(name))) return null
  const paid = paidBy(billed, name, { start, end }).filter(({ service }) => start <= service.start)
  return paid.some(({ key }) => parts.has(key)) ? paid : null
}

/** The charges ahead whose key begins so and that begin before `end`, in order of time. */
function paidBy(billed: ReadonlySet<string>, name: string, { start, end }: Interval): PaidCharge[] {
  const parts = partsIn(billed)
  const paid: PaidCharge[] = []
  for (const key of billed) {
    if (!key.startsWith(name)) continue
    const [time = '', ...rest] = key.slice(name.length).split(' ')
    const from = parseInstant(time)
    if (from === null || from < start || from >= end) continue
    const { service = interval(from, end), paused = [] } = parts.get(key) ?? {}
    paid.push({ key, service, paused, seats: rest.find(word => word !== REST.trim()) ?? null })
  }
  return paid.toSorted((a, b) => a.service.start - b.service.start)
}

/** The times that begin in this one for which a fee with such a key was charged ahead; what is left of a period and seats are not among them. */
export const feesPaid = (billed: ReadonlySet<string>, key: string, time: Interval): Interval[] =>
  paidBy(billed, key.slice(0, -formatInstant(time.start).length), time)
    .filter(paid => paid.seats === null && !paid.key.endsWith(REST))
    .map(({ service }) => service)

/** A time that was paid for ahead without a gap, and the charges by which it was; none where it was a minimum alone. */
export type PaidTime = { readonly time: Interval; readonly paid: readonly PaidCharge[] }

type OtherTimes = {
  readonly covered: Interval
  readonly full: Interval
  /** Whether seats are taken where the covered time begins, so that a charge would begin there. */
  readonly isTaken: boolean
  /** Times for which it was charged, as charges and minimums beside it tell: they begin where its time does, with seats or without. */
  readonly beside: readonly Interval[]
}

/**
 * What was paid in the whole billing period for times other than the covered one, as far as they overlap. None where what was paid first
 * begins with the covered time.
 */
export function paidForOtherTimes(
  billed: ReadonlySet<string>,
  keyed: (from: Instant) => string,
  { covered, full, isTaken, beside }: OtherTimes,
): readonly PaidTime[] {
  const { start } = covered
  const name = keyed(start).slice(0, -formatInstant(start).length)
  const charged = paidBy(billed, name, full).filter(({ service }) => intersect(service, covered) !== null)
  const known = beside.filter(time => intersect(time, covered) !== null)
  const times = [...known, ...charged.map(({ service }) => service)]
  const isEarlier = times.some(time => time.start < start)
  const isTakenLater = isTaken && charged.length > 0 && times.every(time => time.start > start)
  if (!isEarlier && !isTakenLater && !known.some(time => time.start > start)) return []
  return inOneTime(times).map(time => ({
    time,
    paid: charged.filter(({ service }) => intersect(service, time) !== null),
  }))
}

/** Times that overlap as one. */
function inOneTime(times: readonly Interval[]): Interval[] {
  const found: Interval[] = []
  for (const { start, end } of times.toSorted((a, b) => a.start - b.start)) {
    const before = found.at(-1)
    if (before && start < before.end)
      found[found.length - 1] = interval(before.start, instantOf(Math.max(before.end, end)))
    else found.push(interval(start, end))
  }
  return found
}

/**
 * The times for which charges ahead of this price that begin in the whole billing period, other than at `start`, are paid. What is left of
 * a period is not among them.
 */
export function paidFromOtherTimes(
  billed: ReadonlySet<string>,
  keyed: (from: Instant) => string,
  { start, full }: { readonly start: Instant; readonly full: Interval },
): Interval[] {
  const name = keyed(start).slice(0, -formatInstant(start).length)
  const parts = partsIn(billed)
  return [...billed].flatMap(key => {
    if (!key.startsWith(name)) return []
    const [time = '', ...rest] = key.slice(name.length).split(' ')
    const from = parseInstant(time)
    const isOther = from !== null && contains(full, from) && from !== start
    if (!isOther || (from > start && rest.includes(REST.trim()))) return []
    return [parts.get(key)?.service ?? interval(from, full.end)]
  })
}

/** A part of a period in which the same charges pay for every day. */
export type PaidSegment = {
  readonly time: Interval
  readonly paid: readonly PaidCharge[]
  /** Whether a charge that began before it does not pay for it. */
  readonly isRest: boolean
}

/** A period, cut where charges and the pauses that they left out start and end. */
export function segmentsOf(paid: readonly PaidCharge[], { start, end }: Interval): PaidSegment[] {
  const cuts = paid.flatMap(({ service, paused }) => [service, ...paused].flatMap(each => [each.start, each.end]))
  const moments = [...new Set([start, ...cuts.filter(cut => start < cut && cut < end), end])].toSorted((a, b) => a - b)
  return moments.slice(0, -1).map((from, index) => {
    const time = interval(from, moments[index + 1] ?? end)
    const own = paid.filter(each => paysFor(each, time))
    return { time, paid: own, isRest: paid.some(each => each.service.start <= from && !own.includes(each)) }
  })
}

const paysFor = ({ service, paused }: PaidCharge, time: Interval): boolean =>
  service.start <= time.start && time.end <= service.end && !paused.some(pause => intersect(pause, time) !== null)

/** The local days that a charge paid for. */
export const paidDays = ({ service, paused }: Pick<PaidCharge, 'service' | 'paused'>, zone: Zone): number =>
  paused.reduce((days, pause) => days - localDays(pause, zone), localDays(service, zone))
