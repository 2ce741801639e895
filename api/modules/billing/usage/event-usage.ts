// The usage of a need by the value of its events, for a price that applies to each event on its own.
import type { UsageCalculation } from '../../../usage/usage-query.ts'
import type { UsagePart } from '../terms/usage-parts.ts'
import type { ReadUsagePart } from './attributed-usage.ts'
import type { UsageFigure } from './usage-needs.ts'

/** One figure for each value and currency: `split` holds the value, `number` the sum of the events with it. */
export async function usageByValue(
  parts: readonly UsagePart[],
  calculation: UsageCalculation,
  read: ReadUsagePart,
): Promise<UsageFigure[]> {
  const found = await Promise.all(
    parts.map(async ({ customerKeys, interval, keys, isOurs }) => {
      const askingFor = keys === null ? null : { keys, orSelector: true }
      const quantities = await read({ customerKeys, interval, calculation, askingFor, grouped: true })
      return quantities.filter(({ subscription }) => isOurs(subscription ?? ''))
    }),
  )
  const figures = new Map<string, UsageFigure>()
  for (const { currency, number, count, split } of found.flat()) {
    const key = `${currency ?? ''} ${split[0] ?? ''}`
    const known = figures.get(key)
    figures.set(key, {
      currency,
      number: known ? known.number.plus(number) : number,
      count: count + (known?.count ?? 0),
      split,
    })
  }
  return [...figures].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, figure]) => figure)
}
