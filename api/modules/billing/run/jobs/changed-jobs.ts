// What is billed because it changed. One subscription is billed by itself, at once. Many of a tenant that change together, as when a version
// is migrated, are made due and billed in groups, which costs a third.
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

/** Subscriptions of a tenant that changed in one batch: from so many on, a group is worth its search. */
const MANY = 10

const BILL_CHANGED = { name: 'bill-changed' }

type ChangedPayload = TenantPayload & { readonly ids: readonly string[] }

/** A subscription that changed, and the first notice of the batch that says so. */
type Changed = DueSubscription & { readonly noticeId: string }

/** Whether it is a cancellation that took effect: the run that is about to bill up to it does that. */
const isSettled = ({ type, data, previous_data: previous }: OutboxRow): boolean =>
  type === 'PRICING_PLAN_SUBSCRIPTION.UPDATED' &&
  data.status === 'CANCELLED' &&
  previous?.status === 'ACTIVE' &&
  isDeepStrictEqual(data.inactive_periods, previous.inactive_periods)

/** The subscriptions that a batch of changes makes due: those that are billed, when they or their schedules changed. */
function billingOf(rows: readonly OutboxRow[]): Changed[] {
  const due = new Map<string, Changed>()
  for (const row of rows) {
    if (isSettled(row)) continue
    const { object_type, data, platform_id, environment, id: noticeId } = row
    const id = object_type === 'PRICING_PLAN_SUBSCRIPTION' ? data.id : scheduledOn(object_type, data)
    const bills = data.status === 'ACTIVE' || data.status === 'CANCELLED'
    if (bills && typeof id === 'string') due.set(id, due.get(id) ?? { platform_id, environment, id, noticeId })
  }
  return [...due.values()]
}

const scheduledOn = (objectType: string, data: Record<string, unknown>): unknown =>
  objectType === 'PRICING_PLAN_SCHEDULE' ? data.pricing_plan_subscription_id : undefined

export const billingReactions = [
  on(
    [
      'PRICING_PLAN_SUBSCRIPTION.CREATED',
      'PRICING_PLAN_SUBSCRIPTION.UPDATED',
      'PRICING_PLAN_SCHEDULE.CREATED',
      'PRICING_PLAN_SCHEDULE.UPDATED',
    ],
    async (tx, rows) => {
      const tenants = groupBy(billingOf(rows), ({ platform_id, environment }) => `${platform_id} ${environment}`)
      for (const [, own] of tenants) {
        const [first] = own
        if (!first) continue
        const { platform_id, environment, noticeId } = first
        if (own.length < MANY) await queueBilling(tx, own)
        else {
          // A notice is relayed once, so no other batch has this key.
          const payload: ChangedPayload = { platform_id, environment, ids: own.map(({ id }) => id) }
          await queueJobs(tx, BILL_CHANGED, [{ key: noticeId, payload }])
        }
      }
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
