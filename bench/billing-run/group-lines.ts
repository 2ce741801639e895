// The questions of a billing group: ten lines of each customer, as those of a billing run.
import type { UsageCalculation, UsageQuery } from '../../api/usage/usage-query.ts'
import { METERS, meterReference, PROPERTY, VALUES } from './platform.ts'

const property = { reference: PROPERTY, type: 'STRING' } as const

/** Six sums, two of one kind, a number of different kinds, a highest value. */
function calculationOf(line: number): Pick<UsageQuery, 'calculation' | 'condition'> {
  const valueReference = VALUES[line % VALUES.length] ?? ''
  if (line === 8) return { calculation: { type: 'UNIQUE', property } }
  const calculation: UsageCalculation = { type: line === 9 ? 'MAX' : 'SUM', valueReference }
  const isOfKind = line === 6 || line === 7
  return isOfKind ? { calculation, condition: { property, comparator: 'EQUALS', values: ['kind-1'] } } : { calculation }
}

/** The questions about the customers with these references. */
export const linesOf = (
  references: readonly string[],
  of: Pick<UsageQuery, 'tenant' | 'interval' | 'source'>,
): UsageQuery[] =>
  references.flatMap(reference => {
    const customerKeys = [reference]
    return Array.from({ length: METERS * VALUES.length }, (_, line) => ({
      ...of,
      customerKeys,
      meterReference: meterReference(Math.floor(line / VALUES.length)),
      ...calculationOf(line),
    }))
  })
