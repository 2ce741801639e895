// What subscriptions grant at one moment, read for any number of them at once.
import { and, asc, eq, gt, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { timeOfCustomerIn, timesOfCustomers } from '../../../test-clock/test-clock.ts'
import { mergeEntitlements } from '../../catalog/features/merge-entitlements.ts'
import type { Entitlement, Grant } from '../../catalog/features/schema.ts'
import { isOptional } from '../../catalog/pricing-plans/checks/optional.ts'
import { pricings } from '../../catalog/pricing-plans/table.ts'
import { isEnabledAt } from '../enabled-pricings/enabled-spans.ts'
import type { EnabledPricing } from '../enabled-pricings/schema.ts'
import { schedules, scheduleVersions, subscriptions } from '../table.ts'

/** What one subscription has of each feature it grants. */
export type SubscriptionGrants = {
  readonly subscriptionId: string
  readonly customerId: string
  readonly grants: readonly Grant[]
}

/**
 * What these subscriptions, those of these customers, or the first ones of the tenant grant at `at`, where the first ones are each taken
 * in the time of its customer: of the ACTIVE ones, by the ACTIVE schedule that holds
 * then and the pricings of its version and of its own. One with no schedule then is absent. Two queries, whatever the number; the
 * subscriptions in the order of their ids, which is that of their making.
 */
export async function loadEntitlements(
  uow: ReadUow,
  of:
    | { readonly subscriptionIds: readonly string[] }
    | { readonly customerIds: readonly string[] }
    | { readonly first: number },
  at: Instant,
): Promise<SubscriptionGrants[]> {
  const chosen =
    'subscriptionIds' in of
      ? sql`${subscriptions.id} = any(${sql.param(of.subscriptionIds)}::text[])`
      : 'customerIds' in of
        ? sql`${subscriptions.customer_id} = any(${sql.param(of.customerIds)}::text[])`
        : isNotNull(subscriptions.customer_id)
  const first = 'first' in of ? of.first : null
  const time = first === null ? formatInstant(at) : timeOfCustomerIn(uow, 'pricing_plan_subscriptions')
  const held = await heldSchedules(uow, { chosen, first }, time)
  const customers = first === null ? [] : held.flatMap(({ customerId }) => customerId ?? [])
  const ownTime = await timesOfCustomers(uow, customers)
  const ofVersion = await grantedByVersions(uow, [...new Set(held.flatMap(({ versionIds }) => versionIds))])
  return held.flatMap(({ subscriptionId, customerId, versionIds, entitlements, enabled }) =>
    // A TEMPLATE grants nothing to anybody.
    customerId === null
      ? []
      : [
          {
            subscriptionId,
            customerId,
            grants: mergeEntitlements(
              grantedNow(
                versionIds.flatMap(id => ofVersion.get(id) ?? []),
                enabled,
                first === null ? at : ownTime(customerId),
              ),
              entitlements,
            ),
          },
        ],
  )
}

async function heldSchedules(
  uow: ReadUow,
  { chosen, first }: { readonly chosen: SQL; readonly first: number | null },
  at: string | SQL,
) {
  const query = uow.tx
    .select({
      subscriptionId: subscriptions.id,
      customerId: subscriptions.customer_id,
      // The version of its own prices, where it has a plan besides, comes last: what it grants instead holds.
      versionIds: sql<string[]>`array_agg(${scheduleVersions.pricing_plan_version_id}
        order by ${scheduleVersions.pricing_plan_version_id} = ${schedules.own_pricing_plan_version_id})`,
      entitlements: schedules.entitlements,
      enabled: schedules.enabled_pricings,
    })
    .from(subscriptions)
    .innerJoin(
      schedules,
      and(inThisTenant(uow, schedules), eq(schedules.pricing_plan_subscription_id, subscriptions.id)),
    )
    .innerJoin(
      scheduleVersions,
      and(
        inThisTenant(uow, scheduleVersions),
        eq(scheduleVersions.pricing_plan_schedule_id, schedules.id),
        holdsAt(scheduleVersions, at),
      ),
    )
    .where(
      and(
        inThisTenant(uow, subscriptions),
        chosen,
        eq(subscriptions.status, 'ACTIVE'),
        // A cancellation holds from its moment on, also before the run that notes it.
        or(isNull(subscriptions.cancelled_at), gt(subscriptions.cancelled_at, at)),
        eq(schedules.status, 'ACTIVE'),
        holdsAt(schedules, at),
      ),
    )
    // Once each, whatever prices it: the keys of both tables.
    .groupBy(...keyOf(subscriptions), ...keyOf(schedules))
    .orderBy(asc(subscriptions.id))
  return await (first === null ? query : query.limit(first))
}

const keyOf = ({ platform_id, environment, id }: typeof subscriptions | typeof schedules) => [
  platform_id,
  environment,
  id,
]

type Timed = Pick<typeof schedules, 'start_at' | 'end_at'> | Pick<typeof scheduleVersions, 'start_at' | 'end_at'>
const holdsAt = ({ start_at, end_at }: Timed, at: string | SQL) =>
  and(lte(start_at, at), or(isNull(end_at), gt(end_at, at)))

type Granting = { readonly pricingId: string; readonly addon: boolean; readonly entitlements: readonly Entitlement[] }

/** What is granted by the pricings that are sold then: an ADDON only while it is enabled. */
const grantedNow = (all: readonly Granting[], enabled: readonly EnabledPricing[], now: Instant): Entitlement[] =>
  all
    .filter(({ pricingId, addon }) => !addon || isEnabledAt(enabled, pricingId, now))
    .flatMap(({ entitlements }) => entitlements)

/** By version, its pricings that grant something, in the order of display. */
async function grantedByVersions(
  uow: ReadUow,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Granting[]>> {
  if (versionIds.length === 0) return new Map()
  const rows = await uow.tx
    .select({
      versionId: pricings.pricing_plan_version_id,
      pricingId: pricings.id,
      product_type: pricings.product_type,
      pricing_group_id: pricings.pricing_group_id,
      entitlements: pricings.entitlements,
    })
    .from(pricings)
    .where(
      and(
        inThisTenant(uow, pricings),
        sql`${pricings.pricing_plan_version_id} = any(${sql.param(versionIds)}::text[])`,
        sql`${pricings.entitlements} <> '[]'`,
      ),
    )
    .orderBy(asc(pricings.display_order), asc(pricings.created_at), asc(pricings.id))
  const granting = rows.map(({ product_type, pricing_group_id, ...row }) => ({
    ...row,
    addon: isOptional({ product_type, pricing_group_id }),
  }))
  return groupBy(granting, row => row.versionId)
}
