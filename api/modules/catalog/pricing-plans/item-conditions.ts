// The conditions of the items of a pricing, found and canonical.
import type { Uow } from '../../../../shared/database/database.ts'
import { canonicalConditions } from '../conditions/canonical-conditions.ts'
import type { Conditions, ConditionsInput } from '../conditions/schema.ts'
import type { PricingItemInput } from './schema.ts'

/** By the path they stand at. Throws as `canonicalConditions`. */
export async function itemConditions(uow: Uow, items: readonly PricingItemInput[]): Promise<Map<string, Conditions>> {
  const placed = items.flatMap((item, index) =>
    (item.configs ?? []).flatMap(({ conditions, tiering_conditions: tiering }, place) => {
      const field = `items.${index}.configs.${place}`
      return [
        ...(conditions ? [{ conditions, field: `${field}.conditions` }] : []),
        // The shape of an expression is that of its schema.
        ...(tiering ? [{ conditions: tiering as ConditionsInput, field: `${field}.tiering_conditions` }] : []),
      ]
    }),
  )
  const found = await canonicalConditions(uow, placed)
  return new Map(found.map((conditions, index) => [placed[index]?.field ?? '', conditions]))
}
