// The changes that have invoices computed again: changes of what decides where a customer's usage belongs, and of what
// a live schedule prices.
import { isDeepStrictEqual } from 'node:util'
import type { Uow } from '../../../../shared/database/database.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { at, instantOf, parseInstant } from '../../../../shared/time.ts'
import { afterSave } from '../../../resource/rules.ts'
import { getOne } from '../../../resource/store.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import type { Customer } from '../../parties/customers/table.ts'
import { clauseChanges } from '../../subscriptions/clauses/clause-entries.ts'
import { couponChanges } from '../../subscriptions/coupons/coupon-lists.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import { isCharged, seatAssignmentResource } from '../../subscriptions/seats/seat-assignment.ts'
import { seatTimes } from '../../subscriptions/seats/seat-times.ts'
import type { SeatAssignment } from '../../subscriptions/seats/table.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Schedule } from '../../subscriptions/table.ts'
import { scheduleReprocess } from './schedule-reprocess.ts'

const DECIDING = ['pricing_plan_subscription_selector', 'parent_customer_ids'] as const
/** The terms of a new or DRAFT customer apply from the beginning. */
const ALWAYS = instantOf(0)

/** The invoices of all the customer's subscriptions, and of its parents, both previous and current. */
async function followCustomer(uow: Uow, row: Customer, previous: Customer | null): Promise<void> {
  const before = previous ?? { pricing_plan_subscription_selector: null, parent_customer_ids: [] }
  if (DECIDING.every(name => isDeepStrictEqual(row[name], before[name]))) return
  const from = previous === null || previous.status === 'DRAFT' ? ALWAYS : uow.now
  const dropped = before.parent_customer_ids.filter(id => !row.parent_customer_ids.includes(id))
  for (const customerId of [row.id, ...idsOf('cust', dropped)].toSorted())
    await scheduleReprocess(uow, { customerId, from })
}

/** Only the end and the clauses of a live schedule can change its price (semantics 1.4). */
async function followSchedule(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  if (previous?.status !== 'ACTIVE') return
  const ends = [row.end_at, previous.end_at].flatMap(end => parseInstant(end ?? '') ?? [])
  const changed = [
    ...(row.end_at === previous.end_at ? [] : [uow.now, ...ends]),
    ...clauseChanges(previous, row, at(row.start_at)).map(({ from }) => from),
    ...couponChanges(previous.applied_coupons, row.applied_coupons, row.start_at).map(({ from }) => from),
  ]
  if (changed.length === 0) return
  const { customer_id } = await getOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  // A TEMPLATE is never billed.
  if (customer_id === null) return
  await scheduleReprocess(uow, { customerId: customer_id, from: instantOf(Math.min(...changed)) })
}

/** Computes invoices again after a change of a seat assignment that is charged. */
async function followSeat(uow: Uow, row: SeatAssignment, previous: SeatAssignment | null): Promise<void> {
  const [change] = seatTimes(row, previous)
  if (!change || !(await isCharged(uow, row))) return
  const { customer_id } = await getOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  if (customer_id !== null) await scheduleReprocess(uow, { customerId: customer_id, from: change.from })
}

export const REPROCESS_EFFECTS = [
  afterSave(seatAssignmentResource, followSeat),
  afterSave(customerResource, followCustomer),
  afterSave(scheduleResource, followSchedule),
] as const
