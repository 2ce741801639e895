// What the schedules of a subscription say about the lines of its invoices, as the steps of the amount pipeline take it. Pure.
import { type Change, type Clauses, type Discount, NO_CLAUSES } from '../../../../shared/billing/steps/clauses.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { at } from '../../../../shared/time.ts'
import { type DiscountEntry, discountEntries } from '../../subscriptions/discounts/discount-entries.ts'
import type { ScheduleInput } from './billing-inputs.ts'

/** The clauses of these schedules; NO_CLAUSES itself when they have none. */
export function clausesOf(schedules: readonly ScheduleInput[]): Clauses {
  const discounts = schedules.flatMap(schedule =>
    discountEntries(schedule.discount).map(entry => discountOf(schedule, entry)),
  )
  return discounts.length === 0 ? NO_CLAUSES : { ...NO_CLAUSES, discounts }
}

const ofSchedule = (scheduleId: string, path: string): string => `${scheduleId} ${path}`

/** The path of a clause in its schedule. */
export const pathOfClause = (clauseId: string): string => clauseId.slice(clauseId.indexOf(' ') + 1)

function discountOf(schedule: ScheduleInput, { path, level, ids, value }: DiscountEntry): Discount {
  const { start_at, end_at, condition } = value
  const during =
    start_at || end_at ? { start: at(start_at ?? schedule.start_at), end: end_at ? at(end_at) : null } : null
  return {
    id: ofSchedule(schedule.id, path),
    scheduleId: schedule.id,
    during,
    of: level === null ? null : { level, ids },
    value: changeOf(value),
    condition: condition
      ? { comparator: condition.comparator, amount: decimal(condition.value.amount.quantity) }
      : null,
    coupon: null,
  }
}

const changeOf = ({ amount, percentage }: DiscountEntry['value']): Change =>
  amount
    ? { kind: 'AMOUNT', amount: decimal(amount.quantity) }
    : { kind: 'PERCENTAGE', percentage: percentage ? decimal(percentage) : ZERO }
