// What discounts, coupons and minimums make of the charges of an invoice, for the slow model (semantics 2 and 5.4).
import { dayOf, startOfDay } from './calendar.ts'
import { type Closing, FAR, type Span, spansOf } from './closings.ts'
import { laterBy } from './own-rules.ts'
import { ratio, rounded } from './ratio.ts'
import { type Books, chargedDays, type Entry, type Lines, type Part } from './slow-books.ts'
import type { Coupon, Phase, Price, Story } from './story.ts'

type On = {
  readonly story: Story
  readonly closing: Closing
  readonly books: Books
  readonly lines: Lines
}

const NOWHEN: Span = { start: 0, end: 0 }
const sumOf = (parts: readonly Pick<Part, 'cents'>[]): number => parts.reduce((sum, { cents }) => sum + cents, 0)
const partOf = (cents: number, percentage: number): number => rounded(ratio(cents * percentage, 100))

type Counting = { readonly phase: Phase; readonly coupon: Coupon }
type Reached = { readonly entry: Entry; readonly added: Part | null }

/** Discounts of prices, coupons that are limited, minimums, and then coupons of everything; what was paid ahead is noted. */
export function applyClauses(entries: readonly Entry[], on: On): void {
  for (const entry of entries) discount(entry, on)
  const counting = on.closing.known.phases.flatMap(phase =>
    phase.deal.coupons.filter(coupon => counts(coupon, phase, entries, on)).map(coupon => ({ phase, coupon })),
  )
  for (const each of counting.filter(({ coupon }) => coupon.price !== null)) redeemLimited(each, entries, on)
  const reached = entries.map(entry => ({ entry, added: minimumOf(entry, on) }))
  for (const { phase, coupon } of counting.filter(each => each.coupon.price === null)) {
    const own = reached.filter(({ entry }) => entry.phase.id === phase.id)
    const parts = [...own.flatMap(({ entry }) => entry.parts), ...own.flatMap(({ added }) => added ?? [])]
    redeem(coupon, phase, { parts, lines: on.lines })
  }
  for (const each of reached) note(each, on)
}

/** Adds the charges, and takes the discount of their price off them. */
function discount({ phase, price, period, parts, before }: Entry, { lines }: On): void {
  for (const { span, cents } of parts) lines.add('REVENUE', `${price.id} ${phase.id}`, span, cents)
  // Late usage: the discount of the whole, rounded once, less that of what was billed before.
  const of = (cents: number): number => (cents > 0 ? partOf(cents, price.discount ?? 0) : 0)
  const off = of((before ?? 0) + sumOf(parts)) - of(before ?? 0)
  if (before === null) take(parts, off, [price.discount ?? 0, 100])
  else for (const part of parts) part.cents -= off
  lines.add('DISCOUNT', `${price.id} ${phase.id}`, period, -off)
}

/** A percentage is of each period, an amount of everything but late usage. */
function redeemLimited({ phase, coupon }: Counting, entries: readonly Entry[], { lines }: On): void {
  const own = entries.filter(entry => entry.phase.id === phase.id && entry.price.id === coupon.price)
  const inTime = own.filter(({ before }) => before === null).flatMap(({ parts }) => parts)
  const groups = coupon.percentage === null ? [inTime] : own.map(({ parts }) => parts)
  for (const parts of groups) redeem(coupon, phase, { parts, lines })
}

/** What is left of it was paid ahead, and is refunded by its days. */
function note({ entry: { phase, price, parts }, added }: Reached, { books }: On): void {
  if (!price.inAdvance || price.kind === 'ONCE') return
  for (const { span, days, cents } of added ? [...parts, added] : parts)
    books.ahead.push({ phase: phase.id, price, span, paidDays: days, cents })
}

/** Whether a coupon counts on this invoice: it is for whole invoices, and its time for whole days. */
function counts(coupon: Coupon, phase: Phase, entries: readonly Entry[], { story, closing, books }: On): boolean {
  const { from, cutoff, ahead } = closing
  // One that begins on the day on which a billing period begins, begins and ends with it, at midnights.
  const begins = dayOf(phase.start, story.zone)
  const time = { start: story.start, end: FAR(story) }
  const period = spansOf(story, closing.known, story.billing, time, phase.start + 1).at(-1)
  const withPeriod = period !== undefined && dayOf(period.start, story.zone) === begins
  if (cutoff < (withPeriod ? period.start : phase.start)) return false
  const charges = entries.filter(({ before, isAgain }) => before === null && !isAgain)
  if (coupon.lasts === 'FOREVER') return true
  if (coupon.lasts === 'ONE_TIME') {
    const key = `${coupon.id} ${phase.id}`
    // No seats are no charge, but their minimum is one.
    const isCharged = charges.some(each => each.phase.id === phase.id && !(each.isEmpty && !hasMinimum(each.price)))
    if (isCharged && !books.redeemed.has(key)) books.redeemed.set(key, cutoff)
    return books.redeemed.get(key) === cutoff
  }
  const paysAhead = ahead > cutoff && charges.some(({ price, isEmpty }) => price.inAdvance && !isEmpty)
  const paid = paysAhead ? cutoff : (from ?? cutoff)
  const paidDay = dayOf(paid, story.zone)
  const lastDay = laterBy(begins, coupon.lasts)
  return withPeriod || phase.start === startOfDay(begins, story.zone) ? paidDay < lastDay : paidDay <= lastDay
}

function redeem(
  { id, percentage, cents }: Coupon,
  phase: Phase,
  { parts, lines }: { readonly parts: readonly Part[]; readonly lines: Lines },
): void {
  const base = sumOf(parts)
  if (base <= 0) return
  if (Number.isNaN(base)) {
    lines.add('COUPON', `${id} ${phase.id}`, NOWHEN, Number.NaN)
    for (const part of parts) part.cents = Number.NaN
    return
  }
  const off = percentage === null ? Math.min(cents, base) : partOf(base, percentage)
  take(parts, off, percentage === null ? [off, base] : [percentage, 100])
  lines.add('COUPON', `${id} ${phase.id}`, NOWHEN, -off)
}

/**
 * Takes an amount off lines, of each cent of them the part `[over, under]`: rounded down, and what is left of the amount goes to the largest
 * remainders, the first line first.
 */
function take(parts: readonly Part[], amount: number, [over, under]: readonly [number, number]): void {
  if (amount === 0) return
  const wanted = parts.map((part, place) => {
    const exact = part.cents * over
    const down = Math.floor(exact / under)
    return { part, place, down, rest: exact - down * under }
  })
  const left = amount - wanted.reduce((sum, { down }) => sum + down, 0)
  const inOrder = wanted.toSorted((a, b) => b.rest - a.rest || a.place - b.place)
  for (const [place, { part, down }] of inOrder.entries())
    part.cents -= down + Math.floor(left / parts.length) + (place < left % parts.length ? 1 : 0)
}

const hasMinimum = ({ minimum, second }: Price): boolean => minimum !== null || second !== undefined

/**
 * What is missing of the minimum of a period, after what earlier invoices charged of it: of the days that are left, as what was paid for
 * days that are gone is not given back.
 */
function minimumOf({ phase, price, period, parts }: Entry, { story, closing, books, lines }: On): Part | null {
  if (!hasMinimum(price)) return null
  const of = `${price.id} ${phase.id}`
  const key = `${of} ${period.start}`
  const { charged, reached } = books.periods.get(key) ?? { charged: [], reached: new Set<number>() }
  books.periods.set(key, { charged, reached })
  const days = chargedDays(story, closing, period)
  // The model leaves open what part of a charge counts of which some days are gone.
  const isOpen = charged.some(part => part.cents !== 0 && part.days.some(day => !days.includes(day)))
  const before = isOpen ? Number.NaN : sumOf(charged)
  // Of two minimums of the same lines, what the one adds counts towards the other, so that the larger is owed.
  const owed = (count: number): number =>
    Math.max(
      ...[price.minimum ?? 0, price.second?.cents ?? 0].map(cents => rounded(ratio(cents * count, period.fullDays))),
    )
  const added = Math.max(0, owed(days.filter(day => reached.has(day)).length) - before)
  const missing = Math.max(0, owed(days.length) - before - sumOf(parts)) - added
  // What is added for days that came back is for them alone.
  const more = days.filter(day => !reached.has(day))
  const ownDays = reached.size > 0 && missing > 0 && more.length > 0 ? more : days
  charged.push(...parts.map(part => ({ ...part })))
  for (const day of days) reached.add(day)
  lines.add('COMMITMENT', of, period, missing)
  return { span: period, days: ownDays, cents: missing }
}
