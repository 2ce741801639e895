// What the discounts of schedules make of the charges of an invoice, for the slow model (semantics 5.4).
import { dayOf, daysBetween } from '../calendar.ts'
import { NOWHEN, type Span } from '../closings.ts'
import { isWholeAmount, type Phase } from '../known.ts'
import type { Discount } from '../story.ts'
import { discountsOf, pricesOf } from '../story-discounts.ts'
import { type Entry, type On, type Part, type Period, sumOf, type Taken } from './books.ts'
import { divided, isAbove, min, plus, type Ratio, ratio, rounded, times } from './ratio.ts'

const NONE = ratio(0, 1)
type Of = { readonly phase: Phase; readonly discount: Discount; readonly path: string }

/** Adds the charges, and takes off them the discounts of prices, from narrow to wide. */
export function discountPrices(entries: readonly Entry[], on: On): void {
  for (const { phase, price, parts } of entries)
    for (const { span, cents } of parts) on.lines.add('REVENUE', `${price.id} ${phase.id}`, span, cents)
  for (const phase of on.closing.known.phases) {
    const own = entries.filter(entry => entry.phase.id === phase.id)
    for (const [index, price] of phase.plan.prices.filter(({ discount }) => discount !== null).entries()) {
      const discount = { ...PLAIN, prices: [price.id], percentage: price.discount }
      discountEach({ phase, discount, path: `discount.pricing_item_configs.${index}` }, own, on)
    }
    for (const each of discountsOf(phase))
      if (each.discount.level !== 'totals') discountEach({ phase, ...each }, own, on)
  }
}

const PLAIN: Discount = {
  level: 'pricing_item_configs',
  prices: [],
  percentage: null,
  cents: 0,
  from: null,
  until: null,
  condition: null,
}

/** One discount, once for each service period. */
function discountEach(of: Of, entries: readonly Entry[], on: On): void {
  const { phase, discount, path } = of
  const prices = pricesOf(discount, phase.plan)
  const periods = new Map<string, Entry[]>()
  for (const entry of entries) {
    // The invoice of its period had the amount.
    const isLeftOut = entry.before !== null && discount.percentage === null
    if (isLeftOut || !prices.some(({ id }) => id === entry.price.id)) continue
    const key = `${entry.period.start} ${entry.period.end}`
    periods.set(key, [...(periods.get(key) ?? []), entry])
  }
  for (const [first, ...more] of periods.values()) {
    if (!first) continue
    const members = [first, ...more]
    const parts = members.flatMap(entry => entry.parts)
    const off = [...parts, ...members.map(({ before }) => ({ cents: before ?? 0 }))].some(({ cents }) =>
      Number.isNaN(cents),
    )
      ? spoiled(parts)
      : discount.percentage === null
        ? amountOff(of, first.period, parts, on)
        : percentageOff(of, members, on)
    on.lines.add('DISCOUNT', `${path} ${phase.id}`, first.period, -off)
  }
}

/** What the model leaves open is not known after a discount either. */
function spoiled(parts: readonly Part[]): number {
  for (const part of parts) part.cents = Number.NaN
  return Number.NaN
}

/** Once for a period: less what a fee that begins with it, for at least as long, took of it before. */
function amountOff({ phase, discount, path }: Of, period: Period, parts: readonly Part[], on: On): number {
  const { books, givenBack } = on
  const base = sumOf(parts)
  if (base <= 0 || !isMet(discount, base)) return 0
  const clause = `${phase.id} ${path}`
  const earlier = books.taken.filter(
    each =>
      each.cutoff !== on.closing.cutoff &&
      each.clause === clause &&
      each.period.start === period.start &&
      (each.period.end >= period.end || each.period.until >= period.until),
  )
  const before = earlier.reduce((sum, each) => sum + each.cents - rounded(givenBack.get(each) ?? NONE), 0)
  const left = plus(times(ratio(discount.cents, 1), heldIn(discount, phase, period, on)), ratio(-before, 1))
  if (!isAbove(left)) return 0
  const all = min(left, ratio(base, 1))
  const taken: Taken = { clause, period, cutoff: on.closing.cutoff, cents: 0 }
  taken.cents = takeOff(
    parts,
    parts.map(part => times(all, ratio(part.cents, base))),
    taken,
  )
  books.taken.push(taken)
  return taken.cents
}

/** Of late usage: the discount of the whole, rounded once, less that of what was billed before. */
function percentageOff({ phase, discount }: Of, members: readonly Entry[], on: On): number {
  const [{ period } = { period: null }] = members
  if (period === null) return 0
  const parts = members.flatMap(({ parts: own, before }) => own.map(part => ({ part, before: before ?? 0 })))
  const share = times(ratio(discount.percentage ?? 0, 100), heldIn(discount, phase, period, on))
  const partsOf = (amounts: readonly number[]): number[] =>
    amounts.reduce((a, b) => a + b, 0) > 0
      ? divided(amounts.map(cents => times(ratio(cents, 1), share)))
      : amounts.map(() => 0)
  if (discount.condition) {
    const amounts = parts.map(({ part }) => part.cents)
    const base = sumOf(parts.map(({ part }) => part))
    if (base <= 0 || !isMet(discount, base)) return 0
    return takenFrom(
      parts.map(({ part }) => part),
      partsOf(amounts),
    )
  }
  const wholes = partsOf(parts.map(({ part, before }) => part.cents + before))
  const earlier = partsOf(parts.map(({ before }) => before))
  const off = takenFrom(
    parts.map(({ part }) => part),
    wholes.map((cents, index) => cents - (earlier[index] ?? 0)),
  )
  // Late usage is one line for a period.
  let place = 0
  for (const entry of members) {
    if (entry.before !== null) entry.before -= earlier[place] ?? 0
    place += entry.parts.length
  }
  return off
}

type Charged = { readonly phase: string; readonly part: Part; readonly period: Period }

/**
 * The discounts of everything that a schedule is charged on an invoice: an amount is taken in full where it holds on any day of it. One that a
 * later schedule took along is taken once, off the charges of all schedules that have it.
 */
export function discountTotals(phase: Phase, invoiced: readonly Charged[], on: On): void {
  for (const { discount, path } of discountsOf(phase).filter(each => each.discount.level === 'totals')) {
    const sharing = isWholeAmount(discount) ? sharingOf(phase, discount, on.closing.known.phases) : [phase.id]
    const [first] = sharing.filter(id => invoiced.some(each => each.phase === id))
    if (first !== phase.id) continue
    const charged = invoiced.filter(each => sharing.includes(each.phase))
    const parts = charged.map(({ part }) => part)
    const base = sumOf(parts)
    const key = `${path} ${phase.id}`
    if (Number.isNaN(base)) {
      on.lines.add('DISCOUNT', key, NOWHEN, spoiled(parts))
      continue
    }
    if (base <= 0 || !isMet(discount, base)) continue
    const shares = charged.map(({ period }) => heldIn(discount, phase, period, on))
    const { percentage, cents } = discount
    const wanted =
      percentage === null
        ? parts.map(part => ratio(shares.some(isAbove) ? Math.min(cents, base) * part.cents : 0, base))
        : parts.map((part, index) => times(ratio(part.cents * percentage, 100), shares[index] ?? NONE))
    const all = wanted.reduce(plus, NONE)
    if (!isAbove(all)) continue
    const most = min(all, ratio(base, 1))
    const off = takeOff(
      parts,
      wanted.map(each => times(times(each, most), [all[1], all[0]])),
    )
    on.lines.add('DISCOUNT', key, NOWHEN, -off)
  }
}

/** The schedules, each beginning where another ends, that have the same amount on the total: of two alike, the second is the second of each. */
function sharingOf(phase: Phase, discount: Discount, phases: readonly Phase[]): string[] {
  const isAlike = (other: Discount): boolean =>
    isWholeAmount(other) &&
    other.cents === discount.cents &&
    other.condition?.cents === discount.condition?.cents &&
    other.condition?.isAbove === discount.condition?.isAbove
  const alikeIn = ({ deal }: Phase): Discount[] => deal.discounts.filter(isAlike)
  const place = alikeIn(phase).indexOf(discount)
  const has = (other: Phase): boolean => alikeIn(other).length > place
  const found = [phase]
  for (const other of phases) if (found.at(-1)?.end === other.start && has(other)) found.push(other)
  for (const other of [...phases].reverse()) if (other.end === found[0]?.start && has(other)) found.unshift(other)
  return found.map(({ id }) => id)
}

const isMet = ({ condition }: Discount, base: number): boolean =>
  condition === null || (condition.isAbove ? base > condition.cents : base <= condition.cents)

/** The share of the days of a period in which a discount holds. */
function heldIn({ from, until }: Discount, phase: Phase, { start, end }: Span, { story: { zone } }: On): Ratio {
  const begins = from === null ? start : Math.max(start, phase.start + from)
  const ends = until === null ? end : Math.min(end, phase.start + until)
  if (begins === start && ends === end) return ratio(1, 1)
  const daysOf = (from: number, until: number): number =>
    daysBetween(dayOf(from, zone), dayOf(until, zone), zone).length
  const days = daysOf(start, end)
  return ends <= begins || days === 0 ? NONE : ratio(daysOf(begins, ends), days)
}

/** Takes these parts off lines, rounded as a whole; gives how much that is. */
export const takeOff = (parts: readonly Part[], wanted: readonly Ratio[], taken?: Taken): number =>
  takenFrom(parts, divided(wanted), taken)

function takenFrom(parts: readonly Part[], off: readonly number[], taken?: Taken): number {
  for (const [index, part] of parts.entries()) {
    const cents = off[index] ?? 0
    part.cents -= cents
    if (taken) part.off.push({ taken, cents })
  }
  return off.reduce((sum, cents) => sum + cents, 0)
}
