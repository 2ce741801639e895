// What the slow model keeps: the periods of prices, what invoices charge of them, and what was charged before.
import { dayOf, daysBetween } from '../calendar.ts'
import type { Closing, Cut, Span } from '../closings.ts'
import type { Phase } from '../known.ts'
import type { Price, Story } from '../story.ts'
import type { Ratio } from './ratio.ts'

/** A period of a price in one phase: its whole length, the part in force, and the days of it that are charged. */
export type Period = Cut & { readonly fullDays: number; readonly charged: number }

/** What an amount took off charges of one period, on the invoice that closed then. */
export type Taken = { readonly clause: string; readonly period: Period; readonly cutoff: number; cents: number }
type Off = { readonly taken: Taken; readonly cents: number }
/** A line that is charged; `cents` is what is left of it after every clause so far, `off` what amounts took of it. */
export type Part = { readonly span: Span; readonly days: readonly number[]; cents: number; readonly off: Off[] }
/** What an invoice charges of one period of a price. */
export type Entry = {
  readonly phase: Phase
  readonly price: Price
  readonly period: Period
  readonly parts: readonly Part[]
  /** Of late usage: what percentages left so far of what was billed of the period before, and null of anything else. */
  before: number | null
  /** Of no seats. */
  readonly isEmpty: boolean
  /** Of no seats, as an earlier invoice had it: no coupon counts it, but the minimum may have grown. */
  readonly isAgain: boolean
}

/** What was charged ahead. */
export type Ahead = {
  readonly phase: string
  readonly price: Price
  readonly span: Span
  readonly paidDays: readonly number[]
  readonly cents: number
  readonly off: readonly Off[]
  isGivenBack: boolean
}
/** What was charged ahead of a period: from when to when, with the pauses that were known then. */
export type ChargedPart = {
  readonly at: number
  readonly end: number
  readonly seats: number
  readonly days: number
  readonly pauses: readonly Span[]
  /** Whether it is for time that an earlier charge left out. */
  readonly isRest: boolean
}
export type Books = {
  /** By price, phase and start. */
  readonly charged: Map<string, ChargedPart[]>
  /** The periods of no seats. */
  readonly empty: Set<string>
  readonly ahead: Ahead[]
  /** What amounts took off. */
  readonly taken: Taken[]
  /** Of a period: what was left of its charges, and the days for which its minimum was reached. */
  readonly periods: Map<string, { readonly charged: Pick<Part, 'days' | 'cents'>[]; readonly reached: Set<number> }>
  /** Of closed usage: what was counted and charged. */
  readonly usage: Map<
    string,
    { readonly phase: Phase; readonly price: Price; readonly period: Period; quantity: number; cents: number }
  >
  /** On which closing a coupon for one invoice was taken. */
  readonly redeemed: Map<string, number>
}

export const emptyBooks = (): Books => ({
  charged: new Map(),
  empty: new Set(),
  ahead: [],
  taken: [],
  periods: new Map(),
  usage: new Map(),
  redeemed: new Map(),
})

/** Cents by line, of one invoice. */
export class Lines {
  private readonly made = new Map<string, number>()

  add(kind: string, of: string, { start, end }: Span, value: number): void {
    const key = `${kind} ${of} ${start}..${end}`
    this.made.set(key, (this.made.get(key) ?? 0) + value)
  }

  /** Those that are not zero. */
  all(): ReadonlyMap<string, number> {
    return new Map([...this.made].filter(([, value]) => value !== 0))
  }
}

/** The charged days from one moment to another: the first day counts, the last does not, paused days do not. */
export function chargedDays({ zone }: Story, { known }: Closing, { start, end }: Span): number[] {
  const paused = (day: number): boolean =>
    known.pauses.some(pause => dayOf(pause.start, zone) <= day && day < dayOf(pause.end, zone))
  return daysBetween(dayOf(start, zone), dayOf(end, zone), zone).filter(day => !paused(day))
}

export const sumOf = (parts: readonly Pick<Part, 'cents'>[]): number => parts.reduce((sum, { cents }) => sum + cents, 0)

/** What clauses are applied with. */
export type On = {
  readonly story: Story
  readonly closing: Closing
  readonly books: Books
  readonly lines: Lines
  /** What the refunds of the invoice give back of what amounts took. */
  readonly givenBack: ReadonlyMap<Taken, Ratio>
}
