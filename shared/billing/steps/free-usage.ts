// Coupons of type USAGE (step 2 of semantics 5.4): deducts what the free usage would have cost, before anything else
// changes the lines.
import { sum } from '../../decimal.ts'
import { byPeriod, change, inTurn, type Step, totalOf } from './step.ts'

/** Each line keeps its full price, and a DISCOUNT line deducts the free part: their sum is the price of the rest. */
export const freeUsage: Step = (lines, { freeUsage: all }, context) =>
  inTurn(lines, all, (now, free) => {
    const partOf = (key: string) => free.parts.filter(part => part.lineKey === key).map(({ exact }) => exact.neg())
    const touched = now.filter(({ key }) => free.parts.some(part => part.lineKey === key))
    return inTurn(now, byPeriod(touched), (current, members) =>
      change(
        current,
        {
          step: 'DISCOUNT',
          kind: 'DISCOUNT',
          clauseId: free.id,
          base: totalOf(members),
          percentage: null,
          share: null,
          coupon: free.coupon,
          period: members[0].period,
          parts: members.map(line => ({ line, exact: sum(partOf(line.key)) })),
        },
        context,
      ),
    )
  })
