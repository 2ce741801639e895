// Step 5 of semantics 5.4: markups on rated prices.
import { HUNDRED } from '../../decimal.ts'
import { isWhole, timesFraction } from '../fraction.ts'
import type { Markup } from './clauses.ts'
import type { Line } from './line.ts'
import {
  applicableShare,
  byPeriod,
  byWeight,
  change,
  inTurn,
  isAbout,
  partsOfLines,
  type Step,
  type StepContext,
  totalOf,
} from './step.ts'

/** Late usage gets no fixed amount, because the invoice of its period already added it. */
const joins = (clause: Markup, line: Line): boolean =>
  isAbout(clause, line) && !(line.late && clause.value.kind === 'AMOUNT')

/**
 * A percentage of the lines, or an amount once per period, prorated to the part of their time in which the clause
 * applies.
 */
export const markup: Step = (lines, { markups }, context) =>
  inTurn(lines, markups, (now, clause) =>
    inTurn(now, byPeriod(now.filter(line => joins(clause, line))), (current, members) =>
      markUp(current, clause, members, context),
    ),
  )

function markUp(
  lines: readonly Line[],
  clause: Markup,
  members: readonly [Line, ...Line[]],
  context: StepContext,
): readonly Line[] {
  const [{ period }] = members
  const share = applicableShare(clause.during, period.service, period.service, context.zone)
  const base = totalOf(members)
  const { value } = clause
  const parts =
    value.kind === 'PERCENTAGE'
      ? partsOfLines(members, of => timesFraction(of.times(value.percentage).div(HUNDRED), share))
      : byWeight(members, timesFraction(value.amount, share))
  const why = { step: 'MARKUP', clauseId: clause.id, base, coupon: null } as const
  const percentage = value.kind === 'PERCENTAGE' ? value.percentage : null
  return change(
    lines,
    {
      ...why,
      percentage,
      share: isWhole(share) ? null : share,
      kind: 'MARKUP',
      period,
      parts,
    },
    context,
  )
}
