// The conditions of the items of a pricing, found and canonical.
import type { Uow } from '../../../../shared/database/database.ts'
import { canonicalConditions } from '../conditions/canonical-conditions.ts'
import type { Conditions } from '../conditions/schema.ts'
import type { PricingItemInput } from './schema.ts'

/** By the path they stand at. Throws as `canonicalConditions`. */
export async function itemConditions(uow: Uow, items: readonly PricingItemInput[]): Promise<Map<string, Conditions>> {
  const placed = items.flatMap((item, index) =>
    (item.configs ?? []).flatMap(({ conditions }, place) =>
      conditions ? [{ conditions, field: `items.${index}.configs.${place}.conditions` }] : [],
    ),
  )
  const found = await canonicalConditions(uow, placed)
  return new Map(found.map((conditions, index) => [placed[index]?.field ?? '', conditions]))
}
