// Which events persisted usage has taken the place of (persist data): those before its moment, in the period it is in.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import type { Instant } from '../../../../../shared/time.ts'
import { chargeAt } from '../../../billing/charges/charges.ts'
import { loadBillingInputs } from '../../../billing/terms/load/load-inputs.ts'
import { resolveTerms } from '../../../billing/terms/price-terms.ts'
import type { Rating } from './load-prices.ts'

export type PersistedUsage = {
  /** Whether the price, where nothing that it asks for the time of this instant is closed, counts from a later moment on. */
  replaces(rating: Pick<Rating, 'configId' | 'productItemId'>, at: Instant): boolean
}

/** Of those of these subscriptions that have states recorded for a moment after `fromMs`; they are few, so each is read by itself. */
export async function loadPersistedUsage(
  uow: ReadUow,
  subscriptionIds: readonly string[],
  fromMs: number,
): Promise<Map<string, PersistedUsage>> {
  const found = new Map<string, PersistedUsage>()
  for (const id of await subscriptionsWithStates(uow, subscriptionIds, fromMs)) {
    const inputs = await loadBillingInputs(uow, id)
    const terms = resolveTerms(inputs).filter(({ persisted }) => persisted.length > 0)
    found.set(id, {
      replaces: ({ configId, productItemId }, at) =>
        terms
          .filter(({ config, productItem }) => config.id === configId && productItem.id === productItemId)
          .some(term => (chargeAt(term, at)?.usage?.start ?? at) > at),
    })
  }
  return found
}

async function subscriptionsWithStates(
  uow: ReadUow,
  subscriptionIds: readonly string[],
  fromMs: number,
): Promise<string[]> {
  if (subscriptionIds.length === 0) return []
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string }>(sql`
    select distinct pricing_plan_subscription_id as id from persist_data
    where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = any(${sql.param(subscriptionIds)})
      and start_at > to_timestamp(${fromMs}::float8 / 1000)
    order by 1`)
  return rows.map(({ id }) => id)
}
