// What discounts, coupons and minimums make of the charges of an invoice, for the slow model (semantics 2 and 5.4).
import { dayOf, daysBetween, startOfDay } from '../calendar.ts'
import { FAR, NOWHEN, spansOf } from '../closings.ts'
import type { Phase } from '../known.ts'
import { laterBy } from '../own-rules.ts'
import { type Coupon, itemOf, type Price } from '../story.ts'
import { categoryOf } from '../story-discounts.ts'
import { chargedDays, type Entry, type Lines, type On, type Part, sumOf } from './books.ts'
import { discountPrices, discountTotals, takeOff } from './discounts.ts'
import { ratio, rounded, times } from './ratio.ts'

/** A coupon, and the schedules that have it: those that took it along too. */
type Counting = { readonly coupon: Coupon; readonly having: ReadonlySet<string>; readonly begins: number }
type Reached = { readonly entry: Entry; readonly added: readonly Part[] }

/** Discounts of prices, coupons that are limited, minimums, and then coupons of everything, by line in the order of an invoice; what was paid ahead is noted. */
export function applyClauses(given: readonly Entry[], on: On): void {
  const { phases } = on.closing.known
  const entries = given.toSorted((a, b) => categoryOf(a.price.id).localeCompare(categoryOf(b.price.id)))
  discountPrices(entries, on)
  const counting = couponsOf(phases).filter(each => counts(each, entries, on))
  for (const each of counting.filter(({ coupon }) => coupon.price !== null)) redeemLimited(each, entries, on)
  const reached = entries.map(entry => ({ entry, added: minimumsOf(entry, on) }))
  const charged = reached.flatMap(({ entry: { phase, parts, period }, added }) =>
    [...parts, ...added].map(part => ({ phase: phase.id, part, period })),
  )
  for (const phase of phases) discountTotals(phase, charged, on)
  const partsOf = (having: ReadonlySet<string>): Part[] =>
    charged.filter(({ phase }) => having.has(phase)).map(({ part }) => part)
  for (const { coupon, having } of counting.filter(each => each.coupon.price === null))
    redeem(coupon, { parts: partsOf(having), lines: on.lines })
  for (const phase of phases) minimumOfInvoice(phase, partsOf(new Set([phase.id])), on)
  for (const each of reached) note(each, on)
}

/** The coupons of schedules in their order; one that a later schedule took along is one coupon. */
function couponsOf(phases: readonly Phase[]): Counting[] {
  const found = new Map<string, Counting>()
  for (const { id, start, deal } of phases)
    for (const coupon of deal.coupons) {
      const before = found.get(coupon.id)
      const having = new Set([...(before?.having ?? []), id])
      found.set(coupon.id, { coupon, having, begins: before?.begins ?? start })
    }
  return [...found.values()]
}

/** A percentage is of each period, an amount of everything but late usage. */
function redeemLimited({ coupon, having }: Counting, entries: readonly Entry[], { lines }: On): void {
  const own = entries.filter(entry => having.has(entry.phase.id) && itemOf(entry.price) === coupon.price)
  const inTime = own.filter(({ before }) => before === null).flatMap(({ parts }) => parts)
  const groups = coupon.percentage === null ? [inTime] : own.map(({ parts }) => parts)
  for (const parts of groups) redeem(coupon, { parts, lines })
}

/** What is left of it was paid ahead, and is refunded by its days. */
function note({ entry: { phase, price, parts }, added }: Reached, { books }: On): void {
  if (!price.inAdvance || price.kind === 'ONCE') return
  for (const { span, days, cents, off } of [...parts, ...added])
    books.ahead.push({ phase: phase.id, price, span, paidDays: days, cents, off, isGivenBack: false })
}

/** Whether a coupon counts on this invoice: it is for whole invoices, and its time for whole days. */
function counts(
  { coupon, having, begins: start }: Counting,
  entries: readonly Entry[],
  { story, closing, books }: On,
): boolean {
  const { from, cutoff, ahead } = closing
  // One that begins on the day on which a billing period begins, begins and ends with it, at midnights.
  const begins = dayOf(start, story.zone)
  const time = { start: story.start, end: FAR(story) }
  const period = spansOf(story, closing.known, story.billing, time, start + 1).at(-1)
  const withPeriod = period !== undefined && dayOf(period.start, story.zone) === begins
  if (cutoff < (withPeriod ? period.start : start)) return false
  const charges = entries.filter(({ before, isAgain }) => before === null && !isAgain)
  if (coupon.lasts === 'FOREVER') return true
  if (coupon.lasts === 'ONE_TIME') {
    const key = coupon.id
    // No seats are no charge, but their minimum is one, and so is that of the invoice that collects their time.
    const ofInvoice = ({ phase, price }: Entry): boolean =>
      from !== null && !price.inAdvance && phase.deal.minimum !== null
    const isCharged = charges.some(
      each => having.has(each.phase.id) && (!each.isEmpty || hasMinimum(each.price) || ofInvoice(each)),
    )
    if (isCharged && !books.redeemed.has(key)) books.redeemed.set(key, cutoff)
    return books.redeemed.get(key) === cutoff
  }
  const paysAhead = ahead > cutoff && charges.some(({ price, isEmpty }) => price.inAdvance && !isEmpty)
  const paid = paysAhead ? cutoff : (from ?? cutoff)
  const paidDay = dayOf(paid, story.zone)
  const lastDay = laterBy(begins, coupon.lasts)
  return withPeriod || start === startOfDay(begins, story.zone) ? paidDay < lastDay : paidDay <= lastDay
}

function redeem(
  { id, percentage, cents }: Coupon,
  { parts, lines }: { readonly parts: readonly Part[]; readonly lines: Lines },
): void {
  const base = sumOf(parts)
  if (base <= 0) return
  if (Number.isNaN(base)) {
    lines.add('COUPON', `${id} -`, NOWHEN, Number.NaN)
    for (const part of parts) part.cents = Number.NaN
    return
  }
  const part = percentage === null ? ratio(Math.min(cents, base), base) : ratio(percentage, 100)
  const off = takeOff(
    parts,
    parts.map(each => times(ratio(each.cents, 1), part)),
  )
  lines.add('COUPON', `${id} -`, NOWHEN, -off)
}

const hasMinimum = ({ minimum, second }: Price): boolean => minimum !== null || second !== undefined

/**
 * What is missing of the minimums of a period, after what earlier invoices charged of it: of the days that are left, as what was paid for
 * days that are gone is not given back. Those of the price itself are one line, of the larger; one of its pricing is a line of its own.
 */
function minimumsOf({ phase, price, period, parts }: Entry, { story, closing, books, lines }: On): Part[] {
  if (!hasMinimum(price)) return []
  const of = `${price.id} ${phase.id}`
  const key = `${of} ${period.start}`
  const { charged, reached } = books.periods.get(key) ?? { charged: [], reached: new Set<number>() }
  books.periods.set(key, { charged, reached })
  const days = chargedDays(story, closing, period)
  // The model does not say how much of a charge counts once some of its days are no longer charged, or once its time has changed.
  const isOpen =
    paidAgain(key, of, days, books) ||
    charged.some(part => part.cents !== 0 && part.days.some(day => !days.includes(day)))
  const before = isOpen ? Number.NaN : sumOf(charged)
  const missingOf = (cents: number): number => {
    const owed = (count: number): number => rounded(ratio(cents * count, period.fullDays))
    const added = Math.max(0, owed(days.filter(day => reached.has(day)).length) - before)
    return Math.max(0, owed(days.length) - before - sumOf(parts)) - added
  }
  // Of two minimums of the same lines, what the first adds counts towards the second, so that the larger is owed.
  const larger = Math.max(price.minimum ?? 0, price.second?.cents ?? 0)
  const first = missingOf(price.second?.scope === 'pricings' ? (price.minimum ?? 0) : larger)
  const all = missingOf(larger)
  // What is added for days that came back is for them alone.
  const more = days.filter(day => !reached.has(day))
  const isMore = reached.size > 0 && more.length > 0
  charged.push(...parts.map(part => ({ ...part })))
  for (const day of days) reached.add(day)
  lines.add('COMMITMENT', of, period, all)
  return [first, all - first].map(cents => ({ span: period, days: isMore && cents > 0 ? more : days, cents, off: [] }))
}

/** Whether days of a period were also charged as a part of another one, of an ADDON that was enabled at another time then. */
const paidAgain = (own: string, of: string, days: readonly number[], { periods }: On['books']): boolean =>
  [...periods].some(
    ([key, { charged }]) =>
      key !== own && key.startsWith(`${of} `) && charged.some(part => part.days.some(day => days.includes(day))),
  )

/**
 * What is missing of the minimum of everything that a schedule is charged on an invoice, for the days of the billing period in which it
 * holds. An invoice that collects no time has none.
 */
function minimumOfInvoice({ id, deal, start, end, trial }: Phase, parts: readonly Part[], on: On): void {
  const { story, closing, lines } = on
  const { known, from, cutoff } = closing
  if (deal.minimum === null || trial || from === null) return
  const [period] = spansOf(story, known, story.billing, { start: from, end: cutoff })
  if (!period) return
  const until = Math.min(cutoff, end ?? cutoff, known.cancel?.at ?? cutoff)
  const days = chargedDays(story, closing, { start: Math.max(from, start), end: until })
  const owed = rounded(ratio(deal.minimum * days.length, daysBetween(period.from, period.until, story.zone).length))
  lines.add('COMMITMENT', `commitment.totals.0 ${id}`, NOWHEN, Math.max(0, owed - sumOf(parts)))
}
