// Compares a year as it is billed with a year as the rules have it.
import { decimal, plain, sum } from '../../../../../shared/decimal.ts'
import { billYear, type Closed } from './bill-year.ts'
import { knownAt, type Phase } from './known.ts'
import { storyOf } from './random-story.ts'
import { type Expected, expectedYear } from './slow-model/model.ts'
import { pricesIn, type Story } from './story.ts'
import { linesOfYear } from './year-lines.ts'

/** What differs between the two, in words; none when they agree. */
export const differences = (seed: number): string[] => differencesIn(storyOf(seed))

/** The same of any story. */
export function differencesIn(story: Story): string[] {
  const [billed, expected] = [billYear(story), expectedYear(story)]
  const times = (all: readonly number[]): string => all.map(time => new Date(time).toISOString()).join(' ')
  const [a, b] = [times(billed.map(({ window }) => window.cutoffAt)), times(expected.map(({ cutoff }) => cutoff))]
  if (a !== b) return [`closed ${a}, not ${b}`]
  return billed.flatMap((invoice, index) => differing(story, invoice, expected[index]))
}

function differing(story: Story, closed: Closed, expected: Expected | undefined): string[] {
  const found = new Map<string, number>()
  for (const { kind, price, phase, start, end, cents } of linesOfYear(closed)) {
    const key = `${kind} ${price} ${phase} ${start}..${end}`
    found.set(key, (found.get(key) ?? 0) + cents)
  }
  const faults = sumsOf(closed)
  const wanted = expected?.lines ?? new Map<string, number>()
  const keys = [...new Set([...found.keys(), ...wanted.keys()])]
  const off = (key: string): number => Math.abs((found.get(key) ?? 0) - (wanted.get(key) ?? 0))
  // A coupon is of lines that may differ by a cent each, and so by no more than all of them and its own rounding.
  const { phases } = knownAt(story, Number.POSITIVE_INFINITY)
  const spread = keys.reduce((cents, key) => cents + (isSpread(story, key) ? off(key) : 0), 0)
  // What the rules leave open they leave open in all parts of its time.
  const open = keys.flatMap(key => (Number.isNaN(wanted.get(key)) ? [untimed(key)] : []))
  // Seats that are added to an ADDON are discounted in the time for which it was charged first, which the model does not follow.
  const sumIn = (lines: ReadonlyMap<string, number>, key: string): number =>
    keys.reduce((cents, each) => cents + (untimed(each) === untimed(key) ? (lines.get(each) ?? 0) : 0), 0)
  const isMoved = (key: string): boolean =>
    key.startsWith('DISCOUNT') &&
    pricesIn(story).some(({ kind, addon, inAdvance }) => kind === 'SEATS' && addon && inAdvance) &&
    sumIn(found, key) === sumIn(wanted, key)
  const differing = keys.flatMap(key => {
    const [is, should] = [found.get(key) ?? 0, wanted.get(key) ?? 0]
    const most = key.startsWith('COUPON') && spread > 0 ? spread + 1 : allowed(story, key, phases)
    return open.some(start => key.startsWith(start)) || off(key) <= most || isMoved(key)
      ? []
      : [`at ${new Date(closed.window.cutoffAt).toISOString()} ${readable(key)}: ${is}, not ${should}`]
  })
  return [...faults, ...differing]
}

/** Whether lines and taxes sum to the invoice. */
function sumsOf({ invoice: { columns, lines } }: Closed): string[] {
  const total = (of: 'amount_excluding_tax' | 'tax_amount' | 'amount_including_tax') =>
    plain(sum(lines.map(line => decimal(line[of]))))
  return (['amount_excluding_tax', 'tax_amount', 'amount_including_tax'] as const).flatMap(name =>
    total(name) === plain(decimal(columns[name]))
      ? []
      : [`its lines have ${total(name)} as ${name}, not ${columns[name]}`],
  )
}

/** Without its time. */
const untimed = (key: string): string => key.slice(0, key.lastIndexOf(' ') + 1)

const readable = (key: string): string =>
  key.replaceAll(/\d{13}/g, moment => new Date(Number(moment)).toISOString().slice(0, 16))

const priceOf = (story: Story, key: string) => pricesIn(story).find(({ id }) => key.split(' ')[1] === id)

/** Whether it is of a price whose amount is a part of a longer period's. */
const isSpread = (story: Story, key: string): boolean => (priceOf(story, key)?.pricing ?? null) !== null

/** Whether a price of the schedule of a line is spread: what clauses make of all of them may differ with it. */
const isOfSpread = ({ plans }: Story, key: string, phases: readonly Phase[]): boolean => {
  // A coupon may be of all of them.
  const own = phases.filter(({ id }) => [id, '-'].includes(key.split(' ')[2] ?? '')).map(({ plan }) => plan.id)
  return plans.some(({ id, prices }) => own.includes(id) && prices.some(({ pricing }) => pricing !== null))
}

/** A cent where an amount is a part of a longer period's, or is divided over several lines; more where several clauses are of such. */
function allowed(story: Story, key: string, phases: readonly Phase[]): number {
  const divided = key.startsWith('REFUND') && priceOf(story, key)?.kind === 'SEATS'
  const isWide =
    isOfSpread(story, key, phases) && phases.some(({ deal }) => deal.discounts.length > 0 || deal.minimum !== null)
  return isWide
    ? 3
    : isSpread(story, key) || (isOfSpread(story, key, phases) && key.startsWith('DISCOUNT'))
      ? 2
      : divided
        ? 1
        : 0
}
