// Compares a year as it is billed with a year as the rules have it.
import { decimal, plain, sum } from '../../../../../shared/decimal.ts'
import { billYear, type Closed, linesOfYear } from './bill-year.ts'
import { storyOf } from './random-story.ts'
import { type Expected, expectedYear } from './slow-model.ts'
import type { Story } from './story.ts'

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
  const differing = [...new Set([...found.keys(), ...wanted.keys()])].flatMap(key => {
    const [is, should] = [found.get(key) ?? 0, wanted.get(key) ?? 0]
    return Number.isNaN(should) || Math.abs(is - should) <= allowed(story, key)
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

const readable = (key: string): string =>
  key.replaceAll(/\d{13}/g, moment => new Date(Number(moment)).toISOString().slice(0, 16))

/** A cent where an amount is a part of a longer period's, or is divided over several lines. */
function allowed({ plans }: Story, key: string): number {
  const price = plans.flatMap(({ prices }) => prices).find(({ id }) => key.split(' ')[1] === id)
  if (!price) return 0
  const spread = price.pricing !== null
  const divided = key.startsWith('REFUND') && price.kind === 'SEATS'
  return spread ? 2 : divided ? 1 : 0
}
