// What the items of a pricing name of meters: their conditions and the properties they are split by, found and canonical.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { canonicalConditions, canonicalProperty, propertyFinder } from '../conditions/canonical-conditions.ts'
import type { ConditionsInput } from '../conditions/schema.ts'
import type { FoundInItems } from './canonical-items.ts'
import type { PricingItemInput, SplitPricing } from './schema.ts'
import { placedConfigs } from './variants/variants.ts'

/** By the path it stands at. Throws RESOURCE_NOT_FOUND, MISSING_FIELD or INVALID_FIELD with the path of the first that is wrong. */
export async function findInItems(uow: Uow, items: readonly PricingItemInput[]): Promise<FoundInItems> {
  const placed = items.flatMap((item, index) =>
    placedConfigs(item).flatMap(({ config: { conditions, tiering_conditions: tiering }, path }) => {
      const field = `items.${index}.${path}`
      return [
        ...(conditions ? [{ conditions, field: `${field}.conditions` }] : []),
        // The shape of an expression is that of its schema.
        ...(tiering ? [{ conditions: tiering as ConditionsInput, field: `${field}.tiering_conditions` }] : []),
      ]
    }),
  )
  const found = await canonicalConditions(uow, placed)
  return {
    conditions: new Map(found.map((conditions, index) => [placed[index]?.field ?? '', conditions])),
    splits: await findSplits(uow, items),
  }
}

async function findSplits(uow: Uow, items: readonly PricingItemInput[]): Promise<Map<string, SplitPricing>> {
  const given = items.flatMap((item, index) =>
    placedConfigs(item).flatMap(({ config: { split_pricing: split }, path }) =>
      split ? [{ split, field: `items.${index}.${path}.split_pricing` }] : [],
    ),
  )
  const names = given.flatMap(({ split }) => split.meter_properties.flatMap(({ id, reference }) => [id, reference]))
  const find = await propertyFinder(
    uow,
    names.filter(name => typeof name === 'string'),
  )
  return new Map(
    given.map(({ split, field }) => {
      const properties = split.meter_properties.map((each, index) =>
        canonicalProperty(each, `${field}.meter_properties.${index}`, find),
      )
      const twice = properties.findIndex(({ id }, index) => properties.findIndex(other => other.id === id) < index)
      if (twice !== -1) {
        const path = `${field}.meter_properties.${twice}.id`
        throw new AppError('INVALID_FIELD', 'The price is split by this property already.', { field: path })
      }
      return [field, { meter_properties: properties }]
    }),
  )
}
