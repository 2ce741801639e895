// What a customer has now, in all and by subscription, as answers show it.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { addUp } from '../../catalog/features/merge-entitlements.ts'
import { loadEntitlements } from './load-entitlements.ts'

export async function entitlementsOf(uow: ReadUow, customerId: string): Promise<object> {
  const found = await loadEntitlements(uow, { customerIds: [customerId] }, uow.now)
  return {
    entitlements: addUp(found.flatMap(({ grants }) => grants)),
    pricing_plan_subscription_entitlements: found.map(({ subscriptionId, grants }) => ({
      pricing_plan_subscription_id: subscriptionId,
      entitlements: grants,
    })),
  }
}
