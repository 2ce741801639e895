// What a story must be billed, written from the rules (semantics 3.2, 4 and 5) and slowly: day by day, in whole numbers,
// with calendars of its own. It shares no code with billing, so that the two agree only when both are right.
import { dayOf, daysBetween, startOfDay } from '../calendar.ts'
import { type Closing, closingsOf, FAR, type Span, spansOf } from '../closings.ts'
import type { Phase } from '../known.ts'
import { countOf, type Price, type Story } from '../story.ts'
import {
  type Ahead,
  type Books,
  type ChargedPart,
  chargedDays,
  type Entry,
  emptyBooks,
  Lines,
  type Period,
  type Taken,
} from './books.ts'
import { during, earliest, takenOverAt, versionTime } from './cards.ts'
import { applyClauses } from './clauses.ts'
import { chargedBefore, leftOut, paysFor, timesBeside, within } from './parts.ts'
import { usagePrice, worth } from './prices.ts'
import { cents, plus, type Ratio, ratio, rounded } from './ratio.ts'
import { rises, stretches } from './seats.ts'

/** An invoice as the rules have it: when it closes, and by line the cents. */
export type Expected = {
  readonly cutoff: number
  /** When: at its cutoff, or later. */
  readonly issued: number
  /** Whether it is the first one, which collects no time. */
  readonly isFirst: boolean
  /** Whether all it does is to refund after the end. */
  readonly gives: boolean
  /** Until when it charges ahead, where that is all it charges; null for any other. */
  readonly onlyAheadUntil: number | null
  readonly lines: ReadonlyMap<string, number>
  /** How much usage it charges, by line: of late usage what is more than was charged before. */
  readonly quantities: ReadonlyMap<string, number>
}

export function expectedYear(story: Story): Expected[] {
  const books = emptyBooks()
  return closingsOf(story).flatMap(closing => {
    const invoice = new Invoice(story, closing, books)
    return closing.gives && !invoice.refundsAny() ? [] : [invoice.expected()]
  })
}

/** A number of seats, or a fee, for a part of a period: how many more than were paid for, and how many there are then. */
type Unpaid = { readonly at: number; readonly end: number; readonly seats: number; readonly more: number }
type OfPeriod = {
  readonly price: Price
  readonly period: Period
  readonly charged: ChargedPart[]
  readonly isRest: boolean
}

class Invoice {
  private readonly lines = new Lines()
  private readonly quantities = new Lines()
  private readonly entries: Entry[] = []
  private readonly givenBack = new Map<Taken, Ratio>()
  private readonly story: Story
  private readonly closing: Closing
  private readonly books: Books
  constructor(story: Story, closing: Closing, books: Books) {
    this.story = story
    this.closing = closing
    this.books = books
  }

  expected(): Expected {
    const { story, closing, books, lines } = this
    const late = this.lateUsage()
    for (const phase of closing.known.phases) {
      for (const price of phase.plan.prices) {
        const version = versionTime(phase, price, this.story)
        for (const time of price.addon ? phase.enabled : [phase])
          if (version !== null) this.charge(phase, price, during(time, version))
      }
    }
    const charged = [...this.entries]
    // What is refunded was charged by earlier invoices.
    this.refunds()
    applyClauses([...charged, ...late], { story, closing, books, lines, givenBack: this.givenBack })
    return {
      cutoff: closing.cutoff,
      issued: closing.issued,
      isFirst: closing.from === null,
      gives: closing.gives === true,
      onlyAheadUntil: late.length === 0 && charged.every(({ price }) => price.inAdvance) ? closing.ahead : null,
      lines: lines.all(),
      quantities: this.quantities.all(),
    }
  }

  private days(span: Span): number[] {
    return chargedDays(this.story, this.closing, span)
  }

  /** A price in a time in which it is sold. */
  private charge(phase: Phase, price: Price, time: Pick<Phase, 'start' | 'end'>): void {
    const { known, from, cutoff, ahead } = this.closing
    if (phase.trial) return
    const far = FAR(this.story)
    const start = Math.max(phase.start, time.start)
    const end = Math.min(phase.end ?? far, known.cancel?.at ?? far, time.end ?? far)
    if (end <= start) return
    const scan = { start: from ?? cutoff, end: ahead }
    if (price.kind === 'ONCE') {
      this.chargeOnce(phase, price, { start, end }, scan)
      return
    }
    for (const span of spansOf(this.story, known, price.billing ?? this.story.billing, { start, end }, ahead + 1)) {
      if (span.start >= Math.max(ahead, cutoff)) break
      const charged = this.days(span).length
      const { zone } = this.story
      const wholeDays = daysBetween(dayOf(span.start, zone), dayOf(span.end, zone), zone).length
      if (charged === 0 && wholeDays > 0) continue
      const period = { ...span, fullDays: daysBetween(span.from, span.until, zone).length, charged }
      if (price.inAdvance)
        for (const each of this.notPaid(phase, price, period)) this.chargeAhead(phase, price, each, scan)
      else if (from !== null && from < span.end && span.end <= cutoff) this.chargeAfter(phase, price, period)
    }
  }

  private chargeOnce(phase: Phase, price: Price, { start, end }: Span, scan: Span): void {
    const key = `${price.id} ${phase.id} ${start}`
    if (start < scan.start || start >= scan.end || this.books.charged.has(key)) return
    const [first] = spansOf(this.story, this.closing.known, this.story.billing, { start, end })
    if (!first) return
    this.books.charged.set(key, [])
    const period = { ...first, fullDays: 1, charged: 1 }
    this.entry(phase, price, period, [{ span: first, cents: rounded(cents(price.amount)) }])
  }

  /** A period of an ADDON without what was charged of it before. How many seats are paid for counts where they are charged. */
  private notPaid(phase: Phase, price: Price, period: Period): Period[] {
    if (!price.addon || price.kind !== 'FEE') return [period]
    const paid = chargedBefore(this.books.charged, `${price.id} ${phase.id} `, period)
    return timesBeside(period, paid).map(time => ({ ...period, ...time, charged: this.days(time).length }))
  }

  private chargeAfter(phase: Phase, price: Price, period: Period): void {
    if (price.kind === 'USAGE') {
      const quantity = this.used(period)
      const value = usagePrice(price, this.beyond(phase, price, period, quantity))
      this.books.usage.set(`${price.id} ${phase.id} ${period.start}`, { phase, price, period, quantity, cents: value })
      this.quantities.add('USAGE', `${price.id} ${phase.id}`, period, quantity)
      this.entry(phase, price, period, [{ span: period, cents: value }])
      return
    }
    const parts: { span: Span; cents: number }[] = []
    let soFar = ratio(0, 1)
    let billed = 0
    let isEmpty = true
    for (const { span, seats } of price.kind === 'SEATS'
      ? stretches(this.closing.known, period)
      : [{ span: period, seats: 1 }]) {
      const days = this.days(span).length
      if (price.kind === 'SEATS' && days === 0) continue
      soFar = plus(soFar, worth(price, { seats, days, period }, this.story.billing))
      parts.push({ span, cents: rounded(soFar) - billed })
      billed = rounded(soFar)
      isEmpty &&= seats === 0
    }
    this.entry(phase, price, period, parts, { isEmpty, isAgain: false })
  }

  private chargeAhead(phase: Phase, price: Price, period: Period, scan: Span): void {
    const key = `${price.id} ${phase.id} ${period.start}`
    const known = this.books.charged.get(key)
    // Where it was paused for all of the period, its days are due where they come back.
    const [firstDay] = this.days(period)
    const comesBack =
      firstDay === undefined ? period.start : Math.max(period.start, startOfDay(firstDay, this.story.zone))
    const isNear = [period.start, comesBack].some(moment => scan.start <= moment && moment < scan.end)
    const before =
      price.addon && price.kind === 'SEATS'
        ? within(period, chargedBefore(this.books.charged, `${price.id} ${phase.id} `, period))
        : []
    if (!known && before.length === 0 && !isNear) return
    const charged = known ?? []
    this.books.charged.set(key, charged)
    const { pauses } = this.closing.known
    const all = [...before, ...charged]
    const open = leftOut(period, { charged: all, now: pauses, isMoved: before.length > 0 })
    const due: { span: Span; cents: number }[] = []
    let isEmpty = true
    for (const time of open ? open.times(price.kind === 'SEATS' ? [] : pauses) : [period]) {
      const paying = all.filter(each => open === null || paysFor(each, time, pauses))
      const isRest = open !== null && paying.length === 0
      if (isRest && time.start >= scan.end) continue
      for (const part of this.unpaid(price, time, paying)) {
        // No seats are no charge, but the minimum of the period is due where it begins.
        if (part.seats === 0 && !isNear) continue
        isEmpty &&= part.seats === 0
        due.push(...this.part({ price, period, charged, isRest }, part))
      }
    }
    if (due.length === 0) return
    this.entry(phase, price, period, due, { isEmpty, isAgain: isEmpty && this.books.empty.has(key) })
    if (isEmpty) this.books.empty.add(key)
  }

  /** What is not paid for of a time that the same charges are for. */
  private unpaid(price: Price, time: Span, paying: readonly ChargedPart[]): Unpaid[] {
    const found =
      price.kind === 'SEATS'
        ? rises(this.closing, time, paying)
        : paying.length > 0
          ? []
          : [{ at: time.start, seats: 1, more: 1 }]
    return found.map(each => ({ ...each, end: time.end }))
  }

  /** The charge for it, which is noted; none where no day is charged. */
  private part({ price, period, charged, isRest }: OfPeriod, { at, end, seats, more }: Unpaid) {
    const span = { start: at, end }
    const days = this.days(span).length
    const isSeats = price.kind === 'SEATS'
    if (days === 0 && (isSeats || charged.length > 0)) return []
    // The parts of a fee sum to the rounded whole.
    const before = isSeats ? 0 : charged.reduce((sum, each) => sum + each.days, 0)
    const centsOf = (all: number): number =>
      rounded(worth(price, { seats: more, days: all, period }, this.story.billing))
    if (seats > 0) charged.push({ at, end, seats, days, pauses: this.closing.known.pauses, isRest })
    return [{ span, cents: centsOf(before + days) - centsOf(before) }]
  }

  private entry(
    phase: Phase,
    price: Price,
    period: Period,
    parts: readonly { readonly span: Span; readonly cents: number }[],
    of: Pick<Entry, 'isEmpty' | 'isAgain'> = { isEmpty: false, isAgain: false },
  ): void {
    const charged = parts.map(({ span, cents: value }) => ({ span, cents: value, days: this.days(span), off: [] }))
    this.entries.push({ phase, price, period, parts: charged, before: null, ...of })
  }

  /** What has arrived by now of what was used in a time. */
  private used({ start, end }: Span): number {
    const taken = this.closing.issued + (this.story.grace ?? 0)
    const quantities = this.story.usage
      .filter(({ time }) => start <= time && time < end)
      .flatMap(({ versions }) => versions.findLast(({ arrives }) => arrives <= taken)?.quantity ?? [])
    return countOf(this.story, quantities)
  }

  /** What is left of a quantity after what the schedule includes: of each day of the period that is not paused, its part of a whole one. */
  private beyond({ deal }: Phase, { id }: Price, period: Period, quantity: number): Ratio {
    const { zone } = this.story
    let included = 0
    for (const day of this.days(period)) {
      const entry = deal.included.find(
        each =>
          each.price === id && dayOf(each.start, zone) <= day && (each.end === null || day < dayOf(each.end, zone)),
      )
      included += entry?.quantity ?? 0
    }
    // What is given back is not more by what was included.
    if (quantity < 0) return ratio(quantity, 1)
    const [over, under] = ratio(quantity * period.fullDays - included, period.fullDays)
    return over < 0n ? ratio(0, 1) : [over, under]
  }

  /** More usage of closed time is charged as if it had come in time; less is not given back. */
  private lateUsage(): Entry[] {
    const late: Entry[] = []
    for (const unit of this.books.usage.values()) {
      const quantity = this.used(unit.period)
      if (quantity <= unit.quantity) continue
      const value = usagePrice(unit.price, this.beyond(unit.phase, unit.price, unit.period, quantity))
      const before = unit.cents
      this.quantities.add('USAGE', `${unit.price.id} ${unit.phase.id}`, unit.period, quantity - unit.quantity)
      unit.quantity = quantity
      unit.cents = value
      const { phase, price, period } = unit
      late.push({
        phase,
        price,
        period,
        parts: [{ span: period, days: [], cents: value - before, off: [] }],
        before,
        isEmpty: false,
        isAgain: false,
      })
    }
    return late
  }

  /** What was charged for the days left when a phase, or the subscription, ends with a refund. */
  private refunds(): void {
    for (const { charged, moment } of this.refunded()) this.refund(charged, Math.max(moment, charged.span.start))
  }

  refundsAny(): boolean {
    return this.refunded().some(({ charged: { cents } }) => cents !== 0)
  }

  /** It is given back once, by the first invoice that knows of the end. */
  private refunded(): { readonly charged: Ahead; readonly moment: number }[] {
    const { known, from, cutoff } = this.closing
    return known.phases.flatMap(phase =>
      this.books.ahead.flatMap(charged => {
        if (charged.phase !== phase.id || charged.paidDays.length === 0 || charged.isGivenBack) return []
        const moment = this.refundedFrom(phase, charged.price)
        const isNow = from !== null && moment !== null && from <= moment && moment <= cutoff
        return isNow && moment < charged.span.end ? [{ charged, moment }] : []
      }),
    )
  }

  /** From when on it is: another version of a rate card that takes over charges its own price for the days left. */
  private refundedFrom(phase: Phase, price: Price): number | null {
    const { cancel } = this.closing.known
    const isCancelled = cancel?.refund === true && (phase.end === null || cancel.at < phase.end)
    const ended = isCancelled ? cancel.at : phase.refund ? phase.end : null
    return earliest(ended, takenOverAt(phase, price, this.story))
  }

  private refund(charged: Ahead, start: number): void {
    const { phase, price, span, paidDays, cents: paid, off } = charged
    charged.isGivenBack = true
    const left = paidDays.filter(day => day >= dayOf(start, this.story.zone)).length
    const back = Number.isNaN(paid) ? paid : rounded(ratio(paid * left, paidDays.length))
    this.lines.add('REFUND', `${price.id} ${phase}`, { start, end: span.end }, -back)
    for (const { taken, cents: part } of off) {
      const before = this.givenBack.get(taken) ?? ratio(0, 1)
      this.givenBack.set(taken, plus(before, ratio(part * left, paidDays.length)))
    }
  }
}
