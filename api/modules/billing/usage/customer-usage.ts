// The usage of a need and each customer's part of it: the same parts are read once, and combined for all customers and
// for each.
import type { UsageCalculation, UsageQuantity } from '../../../usage/usage-query.ts'
import type { UsagePart } from '../terms/usage-parts.ts'
import { attributedUsage, type ReadUsagePart } from './attributed-usage.ts'
import type { CustomerFigure, UsageFigure } from './usage-needs.ts'

export type UsageOfCustomers = {
  readonly figures: readonly UsageFigure[]
  readonly byCustomer: readonly CustomerFigure[]
}

/** Like attributedUsage, and the same for each customer's events on their own, by customer id. */
export async function usageOfCustomers(
  parts: readonly UsagePart[],
  calculation: UsageCalculation,
  read: ReadUsagePart,
): Promise<UsageOfCustomers> {
  // A part belongs to one customer, so what is read for all is what is read for each; only distinct values need another
  // query.
  const readOnce = memoized(read)
  const each = [...partsOfEach(parts)].sort(([a], [b]) => (a < b ? -1 : 1))
  const [figures, ...byCustomer] = await Promise.all([
    attributedUsage(parts, calculation, readOnce),
    ...each.map(([customerId, own]) => figuresOf(customerId, own, calculation, readOnce)),
  ])
  return { figures, byCustomer: byCustomer.flat() }
}

function partsOfEach(parts: readonly UsagePart[]): Map<string, UsagePart[]> {
  const found = new Map<string, UsagePart[]>()
  for (const part of parts) {
    const known = found.get(part.customerId)
    if (known) known.push(part)
    else found.set(part.customerId, [part])
  }
  return found
}

async function figuresOf(
  customerId: string,
  parts: readonly UsagePart[],
  calculation: UsageCalculation,
  read: ReadUsagePart,
): Promise<CustomerFigure[]> {
  // An average is divided by the sum of its values: sums add up to it, averages do not.
  const weighed = calculation.type === 'AVERAGE' ? attributedUsage(parts, { ...calculation, type: 'SUM' }, read) : null
  const figures = await attributedUsage(parts, calculation, read)
  const weights = (await weighed) ?? figures
  const weightIn = new Map(weights.map(({ currency, number }) => [currency, number]))
  return figures.map(figure => ({ ...figure, customerId, weight: weightIn.get(figure.currency) ?? figure.number }))
}

function memoized(read: ReadUsagePart): ReadUsagePart {
  const known = new Map<string, Promise<readonly UsageQuantity[]>>()
  return question => {
    const key = JSON.stringify(question)
    const answer = known.get(key) ?? read(question)
    known.set(key, answer)
    return answer
  }
}
