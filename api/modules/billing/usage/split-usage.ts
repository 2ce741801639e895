// The usage of a need by property values: each combination of values is combined as if its events were the only ones.
import type { UsageCalculation, UsageQuantity } from '../../../usage/usage-query.ts'
import type { UsagePart } from '../terms/usage-parts.ts'
import { attributedUsage, type ReadUsagePart, type UsagePartQuery } from './attributed-usage.ts'
import type { UsageFigure } from './usage-needs.ts'

/** Reads a part split by `width` properties of the need, before those that the question itself splits by. */
type Split = { readonly read: ReadUsagePart; readonly width: number }

/**
 * One figure for each combination of values and each currency, in the order of the values; none for values whose events
 * all belong to another subscription.
 */
export async function splitUsage(
  parts: readonly UsagePart[],
  calculation: UsageCalculation,
  { read, width }: Split,
): Promise<UsageFigure[]> {
  const combinations = new Map<string, readonly (string | null)[]>()
  const readOnce = byCombination(read, width)
  // Without a filter on the combination, to find which combinations exist.
  await attributedUsage(parts, calculation, async question => {
    for (const [key, [first]] of await readOnce(question)) combinations.set(key, first?.split.slice(0, width) ?? [])
    return []
  })
  const figures = await Promise.all(
    [...combinations]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(async ([key, split]) => {
        const own: ReadUsagePart = async question =>
          ((await readOnce(question)).get(key) ?? []).map(each => ({ ...each, split: each.split.slice(width) }))
        return (await attributedUsage(parts, calculation, own)).map(figure => ({ ...figure, split }))
      }),
  )
  return figures.flat()
}

type Combinations = ReadonlyMap<string, readonly UsageQuantity[]>

function byCombination(read: ReadUsagePart, width: number): (question: UsagePartQuery) => Promise<Combinations> {
  const known = new Map<string, Promise<Combinations>>()
  return question => {
    const key = JSON.stringify(question)
    const answer = known.get(key) ?? read(question).then(quantities => grouped(quantities, width))
    known.set(key, answer)
    return answer
  }
}

function grouped(quantities: readonly UsageQuantity[], width: number): Combinations {
  const found = new Map<string, UsageQuantity[]>()
  for (const each of quantities) {
    const key = JSON.stringify(each.split.slice(0, width))
    const own = found.get(key)
    if (own) own.push(each)
    else found.set(key, [each])
  }
  return found
}
