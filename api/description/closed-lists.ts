// Fields that take one of a list, where the route leaves the check to the code that knows the list.
import { SUPPORTED_PRICING_TYPES } from '../../shared/rating/rate.ts'
import { isObject, type JsonObject, objectIn, textIn } from './json.ts'

const LISTS: Readonly<Record<string, readonly string[]>> = {
  'PricingItemConfig.pricing_type': SUPPORTED_PRICING_TYPES,
  'PricingItemConfig.type': SUPPORTED_PRICING_TYPES,
  'InvoiceLine.pricing_type': SUPPORTED_PRICING_TYPES,
}

/** The shapes with those fields as enums. */
export const withClosedLists = (shapes: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, JsonObject> =>
  new Map(
    [...shapes].map(([name, schema]) => {
      const properties = Object.entries(objectIn(schema, 'properties')).map(([field, member]): [string, JsonObject] => {
        const values = LISTS[`${name}.${field}`]
        const given = isObject(member) ? member : {}
        return [field, values ? listed(given, values) : given]
      })
      return [name, { ...schema, properties: Object.fromEntries(properties) }]
    }),
  )

function listed({ description, type, ...rest }: JsonObject, values: readonly string[]): JsonObject {
  const mayBeNull = textIn({ type }, 'type') === null
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => !/Length$/.test(name)))
  return {
    ...others,
    ...(type === undefined ? {} : { type }),
    enum: [...values, ...(mayBeNull ? [null] : [])],
    ...(description === undefined ? {} : { description }),
  }
}
