// What a customer, or a whole platform, has now: in all and by subscription, as answers show it.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { sumGrants } from '../../catalog/features/merge-entitlements.ts'
import { loadEntitlements, type SubscriptionGrants } from './load-entitlements.ts'

/** More subscriptions than one answer can list. */
const LISTED_MAX = 10_000

export const entitlementsOf = async (uow: ReadUow, customerId: string): Promise<object> =>
  viewOf(await loadEntitlements(uow, { customerIds: [customerId] }, uow.now))

/** Throws INVALID_OPERATION when more than 10,000 subscriptions are ACTIVE. */
export async function entitlementsOfPlatform(uow: ReadUow, listedMax = LISTED_MAX): Promise<object> {
  const found = await loadEntitlements(uow, { first: listedMax + 1 }, uow.now)
  if (found.length > listedMax) {
    const message = `More than ${listedMax} subscriptions are ACTIVE; read them by GET /v1/customers/{id}/entitlements.`
    throw new AppError('INVALID_OPERATION', message)
  }
  return viewOf(found)
}

const viewOf = (found: readonly SubscriptionGrants[]): object => ({
  entitlements: sumGrants(found.flatMap(({ grants }) => grants)),
  pricing_plan_subscription_entitlements: found.map(({ subscriptionId, grants }) => ({
    pricing_plan_subscription_id: subscriptionId,
    entitlements: grants,
  })),
})
