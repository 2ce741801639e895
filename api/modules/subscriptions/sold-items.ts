// What a schedule sells: the items of its pricings, each with the configs of the variant that applies to it.
import { and, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../shared/database/database.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import type { PricingItem } from '../catalog/pricing-plans/schema.ts'
import { itemFor, type Terms, termsOf } from '../catalog/pricing-plans/variants/variants.ts'
import { type Schedule, subscriptions } from './table.ts'

type Of = Pick<Schedule, 'pricing_plan_subscription_id' | 'pricing_currency' | 'billing_period'>

/** What decides which variant of a price applies to the schedule. */
export async function scheduleTerms(uow: ReadUow, schedule: Of): Promise<Terms> {
  const s = subscriptions
  const where = and(inThisTenant(uow, s), eq(s.id, schedule.pricing_plan_subscription_id))
  const [subscription] = await uow.tx.select({ billing_period: s.billing_period }).from(s).where(where)
  if (!subscription) throw new Error(`the schedule is of no subscription: ${schedule.pricing_plan_subscription_id}`)
  return termsOf(schedule, subscription)
}

/** The items that have a price for it. */
export const soldItems = <I extends PricingItem>(items: readonly I[], terms: Terms): I[] =>
  items.flatMap(item => itemFor(item, terms) ?? [])
