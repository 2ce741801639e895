// What is billed because it changed. A subscription is billed by itself, at once. Where many of a tenant change at nearly the same time, as
// when a client patches thousands, they are made due and billed in groups, which costs a third.
import { isDeepStrictEqual } from 'node:util'
import { asSystem, type Database, inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { defineJob, queueJobs } from '../../../../jobs/define-job.ts'
import { type TenantPayload, tenantOf } from '../../../../jobs/tenant-jobs.ts'
import type { OutboxRow } from '../../../../workers/outbox-row.ts'
import { on } from '../../../../workers/reaction.ts'
import { makeDue } from '../../../subscriptions/billing-time/next-billing.ts'
import { queueGroups } from './group-jobs.ts'
import { type DueSubscription, queueBilling } from './queue-billing.ts'

/** From so many subscriptions of a tenant in one batch on, they are billed in groups. */
const MANY = 10

const BILL_CHANGED = { name: 'bill-changed' }

type ChangedPayload = TenantPayload & { readonly ids: readonly string[] }

/** Whether it is a cancellation that took effect: the run that is about to bill up to it does that. */
const isSettled = ({ type, data, previous_data: previous }: OutboxRow): boolean =>
  type === 'PRICING_PLAN_SUBSCRIPTION.UPDATED' &&
  data.status === 'CANCELLED' &&
  previous?.status === 'ACTIVE' &&
  isDeepStrictEqual(data.inactive_periods, previous.inactive_periods)

/** The subscriptions that a batch of changes makes due: those that are billed, when they or their schedules changed. */
function billingOf(rows: readonly OutboxRow[]): DueSubscription[] {
  const due = new Map<string, DueSubscription>()
  for (const row of rows) {
    if (isSettled(row)) continue
    const { object_type, data, platform_id, environment } = row
    const id = object_type === 'PRICING_PLAN_SUBSCRIPTION' ? data.id : scheduledOn(object_type, data)
    const bills = data.status === 'ACTIVE' || data.status === 'CANCELLED'
    if (bills && typeof id === 'string') due.set(id, { platform_id, environment, id })
  }
  return [...due.values()]
}

const scheduledOn = (objectType: string, data: Record<string, unknown>): unknown =>
  objectType === 'PRICING_PLAN_SCHEDULE' ? data.pricing_plan_subscription_id : undefined

const tenantName = ({ platform_id, environment }: TenantPayload): string => `${platform_id}:${environment}`

/** One for all of them, which are of one tenant. */
function payloadsOf(own: readonly DueSubscription[]): ChangedPayload[] {
  const [first] = own
  if (!first) return []
  const { platform_id, environment } = first
  return [{ platform_id, environment, ids: own.map(({ id }) => id) }]
}

export const billingReactions = [
  on(
    [
      'PRICING_PLAN_SUBSCRIPTION.CREATED',
      'PRICING_PLAN_SUBSCRIPTION.UPDATED',
      'PRICING_PLAN_SCHEDULE.CREATED',
      'PRICING_PLAN_SCHEDULE.UPDATED',
    ],
    async (tx, rows) => {
      const tenants = [...groupBy(billingOf(rows), tenantName).values()]
      await queueBilling(tx, tenants.filter(own => own.length < MANY).flat())
      const changed = tenants.flatMap(own => (own.length < MANY ? [] : payloadsOf(own)))
      // A notice is relayed once, so no other batch has this key.
      const waiting = changed.map(payload => ({ key: `${rows[0]?.id}:${tenantName(payload)}`, payload }))
      await queueJobs(tx, BILL_CHANGED, waiting)
    },
  ),
]

/** Makes the subscriptions of its payload due, and queues the groups that bill them. */
export const changedJob = defineJob<{ readonly system: Database; readonly database: Database }, ChangedPayload>({
  ...BILL_CHANGED,
  class: 'short',
  rights: {},
  run: async ({ database, system }, payload) => {
    const { platform_id, environment, ids } = payload
    const due = new Set(await inTenant(database, tenantOf(payload), SERVICE, uow => makeDue(uow, ids)))
    await asSystem(system, BILL_CHANGED.name, async tx => {
      await queueGroups(
        tx,
        [...due].map(() => ({ platform_id, environment })),
      )
      await queueBilling(
        tx,
        ids.filter(id => !due.has(id)).map(id => ({ platform_id, environment, id })),
      )
    })
  },
})
