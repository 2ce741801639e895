// Products that one billing entity alone sells are sold by its subscriptions alone.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { isOptionalIn } from '../../catalog/pricing-plans/checks/optional.ts'
import type { EnabledPricing } from './schema.ts'

/** A pricing with a product that another billing entity alone sells. */
type Foreign = {
  readonly pricing_id: string
  readonly optional: boolean
  readonly product: string
  readonly seller: string
}

async function foreignPricings(uow: Uow, versionIds: readonly string[], soldBy: string): Promise<Foreign[]> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<Foreign>(sql`
    select p.id as pricing_id, ${isOptionalIn('p')} as optional, sold.name as product, sold.billing_entity_id as seller
    from pricings p
    join products sold on sold.platform_id = p.platform_id and sold.environment = p.environment
      and sold.id = any (p.product_ids) and sold.billing_entity_id <> ${soldBy}
    where p.platform_id = ${platformId} and p.environment = ${environment} and p.pricing_plan_version_id = any(${sql.param(versionIds)})
    order by p.id`)
  return rows
}

const refused = ({ seller, product }: Foreign, soldBy: string, field: string): AppError => {
  const message = `The billing entity ${seller} alone sells the product ${product}, and the subscription is of ${soldBy}; choose prices without it, or that billing entity.`
  return new AppError('INVALID_FIELD', message, { field })
}

/** Throws INVALID_FIELD where the version always sells a product that only another billing entity sells. */
export async function requireSeller(uow: Uow, versionId: string, soldBy: string): Promise<void> {
  const found = (await foreignPricings(uow, [versionId], soldBy)).find(({ optional }) => !optional)
  if (found) throw refused(found, soldBy, 'pricing_plan_version_id')
}

/** Throws INVALID_FIELD where the schedule enables one. */
export async function requireSellerOfEnabled(
  uow: Uow,
  versionIds: readonly string[],
  { soldBy, enabled }: { readonly soldBy: string; readonly enabled: readonly EnabledPricing[] },
): Promise<void> {
  const foreign = await foreignPricings(uow, versionIds, soldBy)
  for (const [index, { pricing_id }] of enabled.entries()) {
    const found = foreign.find(each => each.pricing_id === pricing_id)
    if (found) throw refused(found, soldBy, `enabled_pricings.${index}.pricing_id`)
  }
}
