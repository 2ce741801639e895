// What billing keeps on a subscription: its lock, and when to look at it next.
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type Subscription, subscriptions } from '../table.ts'

/**
 * Everything that changes a subscription's invoices queues here; always taken before the lock of an invoice. Rows that name the
 * subscription can still be stored: a credit note holds its original by then, and would otherwise wait in a circle.
 */
export async function lockSubscription(uow: Uow, id: Id<'ppsu'>): Promise<{ status: string }> {
  const [row] = await uow.tx
    .select({ status: subscriptions.status })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, id)))
    .for('no key update')
  if (row) return row
  throw new AppError('RESOURCE_NOT_FOUND', `There is no PRICING_PLAN_SUBSCRIPTION ${JSON.stringify(id)}.`, {
    resourceType: 'PRICING_PLAN_SUBSCRIPTION',
  })
}

/**
 * The same of many subscriptions, in one order. Gives the ids of those it holds: one that another transaction holds is waited for,
 * or left out with `skip`.
 */
export async function lockSubscriptions(
  uow: Uow,
  ids: readonly Id<'ppsu'>[],
  { skip }: { readonly skip: boolean },
): Promise<Id<'ppsu'>[]> {
  const rows = await uow.tx
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), anyOf(subscriptions.id, [...ids])))
    .orderBy(asc(subscriptions.id))
    .for('no key update', skip ? { skipLocked: true } : {})
  return rows.map(({ id }) => id)
}

/** Lets the billing run look at an ACTIVE subscription now. Internal, so no event is published for it. */
export async function wakeBilling(uow: Uow, subscription: Pick<Subscription, 'id' | 'status'>): Promise<void> {
  if (subscription.status !== 'ACTIVE') return
  await uow.tx
    .update(subscriptions)
    .set({
      next_billing_at: sql`least(coalesce(next_billing_at, ${formatInstant(uow.now)}), ${formatInstant(uow.now)})`,
    })
    .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, subscription.id)))
}

/**
 * For customers whose usage was touched at these positions of the log: lets the billing run look now at what is billed of them, where the
 * last run did not count up to there. Gives the subscriptions that are due by this.
 */
export const wakeBillingOfChanged = (uow: Uow, touched: ReadonlyMap<string, readonly number[]>): Promise<string[]> => {
  const rows = [...touched].map(([customer_id, positions]) => ({ customer_id, positions }))
  return wakeThose(uow, {
    named: [...touched.keys()],
    from: sql`from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as touched(customer_id text, positions bigint[])`,
    which: sql`s.customer_id = any(${sql.param([...touched.keys()])}) and s.customer_id = touched.customer_id
      and exists (select from unnest(touched.positions, s.usage_counted_positions) as log(touched, counted)
        where log.touched > coalesce(log.counted, 0))`,
  })
}

/** Lets the billing run look now at these subscriptions; gives those that are due by this. */
export const wakeBillings = (uow: Uow, subscriptionIds: readonly string[]): Promise<string[]> =>
  wakeThose(uow, { named: subscriptionIds, from: sql``, which: sql`s.id = any(${sql.param(subscriptionIds)})` })

/** Lets the billing run look now at a subscription that is over, which may have nothing left to bill. */
export const wakeBillingOfOver = (uow: Uow, id: string): Promise<string[]> =>
  wakeThose(uow, { named: [id], from: sql``, which: sql`s.id = ${id} and s.status = 'CANCELLED'` })

async function wakeThose(
  uow: Uow,
  { named, from, which }: { readonly named: readonly string[]; readonly from: SQL; readonly which: SQL },
): Promise<string[]> {
  if (named.length === 0) return []
  const { platformId, environment } = uow.tenant
  const now = formatInstant(uow.now)
  const { rows } = await uow.tx.execute<{ id: string }>(sql`
    update pricing_plan_subscriptions as s set next_billing_at = ${now} ${from}
    where s.platform_id = ${platformId} and s.environment = ${environment} and ${which}
      and s.status in ('ACTIVE', 'CANCELLED') and (s.next_billing_at > ${now}::timestamptz
        -- One that has ended has no next invoice, but its last ones may be corrected.
        or (s.next_billing_at is null and exists (select from platforms p
          where p.platform_id = s.platform_id and p.environment = s.environment
            and p.late_event_policy = 'CREDIT_AND_REBILL')))
    returning s.id`)
  return rows.map(({ id }) => id)
}

/** Lets the billing run look now at what is billed by an ACTIVE schedule on the plan. */
export async function wakeBillingOfPlan(uow: Uow, planId: string): Promise<void> {
  const { platformId, environment } = uow.tenant
  const now = formatInstant(uow.now)
  await uow.tx.execute(sql`
    update pricing_plan_subscriptions set next_billing_at = ${now}
    where platform_id = ${platformId} and environment = ${environment} and status = 'ACTIVE'
      and next_billing_at > ${now}::timestamptz and id in (
        select pricing_plan_subscription_id from pricing_plan_schedules
        where platform_id = ${platformId} and environment = ${environment} and pricing_plan_id = ${planId} and status = 'ACTIVE')`)
}

/**
 * Condition of the subscriptions called `name` in a statement: no test clock has their customers. Those live in its time, and it does
 * itself what is due.
 */
export const hasNoTestClock = (name: string): SQL => {
  const s = sql.raw(name)
  return sql`(${s}.environment = 'LIVE' or not exists (select from test_clock_customers m
    where m.platform_id = ${s}.platform_id and m.environment = ${s}.environment and m.customer_id = ${s}.customer_id))`
}

/**
 * Makes these subscriptions due now. Gives those that a group may bill; a group bills none that has a test clock, that is not billed at
 * all, or that a run has or left.
 */
export async function makeDue(uow: Uow, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { platformId, environment } = uow.tenant
  const now = formatInstant(uow.now)
  const { rows } = await uow.tx.execute<{ id: string }>(sql`
    -- Locked in the order of ids, as everywhere: two that each wait for the other would deadlock.
    with own as materialized (
      select s.id from pricing_plan_subscriptions s
      where s.platform_id = ${platformId} and s.environment = ${environment} and s.id = any(${sql.param([...ids])})
        and s.type = 'BILLING' and s.status in ('ACTIVE', 'CANCELLED') and s.billing_claimed_until is null and ${hasNoTestClock('s')}
      order by s.id for no key update of s)
    update pricing_plan_subscriptions as s set next_billing_at = least(coalesce(s.next_billing_at, ${now}), ${now})
    from own
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id = own.id
    returning s.id`)
  return rows.map(({ id }) => id)
}

/** Characters of a customer's name that order claims: an index holds them. */
const USAGE_ORDER_MAX = 40

/** When the billing run looks at the subscription next. Not a change of the subscription: its updated_at stays. */
export const saveNextBilling = (uow: Uow, subscriptionId: string, nextBillingAt: string | null): Promise<void> =>
  saveNextBillings(uow, new Map([[subscriptionId, nextBillingAt]]))

/**
 * The same of many subscriptions. What held them for a run lets them go. `counted`: the positions of the log up to which their usage was
 * counted; absent where no usage was read.
 */
export async function saveNextBillings(
  uow: Uow,
  times: ReadonlyMap<string, string | null>,
  counted?: readonly number[],
): Promise<void> {
  if (times.size === 0) return
  const rows = [...times].map(([id, next_billing_at]) => ({ id, next_billing_at }))
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    update pricing_plan_subscriptions as s set next_billing_at = g.next_billing_at, billing_claimed_until = null,
      usage_order = (select left(coalesce(c.reference, c.id), ${USAGE_ORDER_MAX}) from customers c
        where c.platform_id = s.platform_id and c.environment = s.environment and c.id = s.customer_id),
      usage_counted_positions = coalesce(${counted ? sql.param([...counted]) : null}::bigint[], s.usage_counted_positions)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(id text, next_billing_at timestamptz)
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id = g.id`)
}

/** Up to which positions of the log the last run of these subscriptions counted their usage; absent where that is not known. */
export async function loadCountedPositions(
  uow: ReadUow,
  ids: readonly Id<'ppsu'>[],
): Promise<Map<string, readonly number[]>> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; positions: number[] }>(sql`
    select id, to_json(usage_counted_positions) as positions from pricing_plan_subscriptions
    where platform_id = ${platformId} and environment = ${environment} and id = any(${sql.param([...ids])})
      and usage_counted_positions is not null`)
  return new Map(rows.map(({ id, positions }) => [id, positions]))
}

/** A subscription that a run holds. `ends`: its cancellation takes effect first. `set`: the same for those that may be combined. */
export type ClaimedBilling = { readonly id: string; readonly ends: boolean; readonly set: string }

/** A claim takes at most this many more that combine with those of a group. */
const COMBINED_MAX = 1_000

/**
 * Takes at most `max` subscriptions that are due and held by no run, those first that have been due for longest, and those that are due
 * of what they may be combined with: two groups that each had a part would both compute all of it, and one in vain. Those that became due at the
 * same time come in the order in which ClickHouse stores their usage, so that a group reads less of others' usage. Holds them until
 * `until`. One that a run left held is not among them: it is billed by itself.
 */
export async function claimBilling(
  uow: Uow,
  { max, until }: { readonly max: number; readonly until: Instant },
): Promise<ClaimedBilling[]> {
  const { platformId, environment } = uow.tenant
  const now = formatInstant(uow.now)
  // One claim of a tenant at a time: another must not take what this one is about to take as well.
  await uow.tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended(${`claims\n${platformId}\n${environment}`}, 0))`,
  )
  const isFree = sql`platform_id = ${platformId} and environment = ${environment} and next_billing_at <= ${now}::timestamptz
    and billing_claimed_until is null and status <> 'DRAFT' and ${hasNoTestClock('pricing_plan_subscriptions')}`
  const { rows } = await uow.tx.execute<ClaimedBilling>(sql`
    -- Materialized: a plan that read it again for each row would take more than the limit.
    with due as materialized (
      select id, customer_id, combine from pricing_plan_subscriptions
      where ${isFree} order by next_billing_at, usage_order limit ${max} for update skip locked),
    others as materialized (
      select id from pricing_plan_subscriptions
      where ${isFree} and combine and customer_id = any(array(select customer_id from due where combine))
        and id <> all(array(select id from due))
      order by customer_id, id limit ${COMBINED_MAX} for update skip locked)
    update pricing_plan_subscriptions as s set billing_claimed_until = ${formatInstant(until)}
    from (select id from due union all select id from others) as taken
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id = taken.id
    returning s.id, case when s.combine then s.customer_id else s.id end as set,
      (s.status = 'ACTIVE' and s.cancelled_at is not null and s.cancelled_at <= ${now}::timestamptz) as ends`)
  return rows
}

/** Lets subscriptions go that could not be looked at; they are due as they were. */
export async function releaseBilling(uow: Uow, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    update pricing_plan_subscriptions set billing_claimed_until = null
    where platform_id = ${platformId} and environment = ${environment} and id in ${ids}`)
}
