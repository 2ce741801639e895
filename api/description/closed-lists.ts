// Fields that take one of a list, where the route leaves the check to the code that knows the list.
import { type EventType, objectTypesOf } from '../../shared/contracts/event-types.ts'
import { ERRORS } from '../../shared/errors.ts'
import { SUPPORTED_PRICING_TYPES } from '../../shared/rating/rate.ts'
import { OTHER_OBJECT_TYPES } from '../modules/modules.ts'
import type { Resource } from '../resource/define-resource.ts'
import { isObject, type JsonObject, objectIn, textIn } from './json.ts'

const ERROR_CODES = Object.keys(ERRORS)

export type ListDeps = { readonly resources: readonly Resource[]; readonly eventTypes: readonly EventType[] }

/** The kinds of thing that an answer can name, in order. */
export const nameableTypes = ({ resources, eventTypes }: ListDeps): string[] =>
  [
    ...new Set([...resources.map(({ objectType }) => objectType), ...objectTypesOf(eventTypes), ...OTHER_OBJECT_TYPES]),
  ].toSorted()

/** The list of event types is long, so it stands once. */
const EVENT_TYPE = { $ref: '#/components/schemas/EventType' }
export const eventTypeSchema = (eventTypes: readonly EventType[]): JsonObject => ({
  type: 'string',
  enum: [...eventTypes],
  description: 'The type of an event. New types may be added.',
})

/** By the field of a shape, or by the name of a field wherever it stands. */
function listsOf(deps: ListDeps): Readonly<Record<string, readonly string[] | typeof EVENT_TYPE>> {
  const objectTypes = nameableTypes(deps)
  return {
    pricing_type: SUPPORTED_PRICING_TYPES,
    'PricingItemConfig.type': SUPPORTED_PRICING_TYPES,
    'OverridePricingItemConfig.type': SUPPORTED_PRICING_TYPES,
    'InvoiceLine.commitment_type': ['PRICING_ITEM_CONFIG', 'PRICING_ITEM', 'PRICING', 'TOTAL'],
    'InvoiceLine.discount_type': [
      'PRICING_ITEM_CONFIG',
      'PRICING_ITEM',
      'PRICING',
      'PRODUCT_ITEM',
      'PRODUCT',
      'PRODUCT_CATEGORY',
      'TOTAL',
    ],
    'InvoiceLineUsage.calculation_type': ['SUM', 'MAX', 'MIN', 'AVERAGE', 'UNIQUE'],
    'CatalogRefusal.code': ERROR_CODES,
    'MigratedSubscription.code': ERROR_CODES,
    'UsageIngestionRefusal.code': ERROR_CODES,
    'Platform.status': ['DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED'],
    'ResourceIdentifier.type': objectTypes,
    'WebhookAction.object_type': objectTypesOf(deps.eventTypes),
    'InvoiceProductCategory.object_type': ['PRODUCT_CATEGORY', 'PRODUCT'],
    'InvoiceProductItem.object_type': ['PRODUCT_ITEM'],
    'OAuthGrantChange.revoke_reason': ['CLIENT', 'CODE_REUSED', 'NO_PLATFORM_LEFT', 'REFRESH_TOKEN_REUSED', 'USER'],
    'Webhook.included_actions': EVENT_TYPE,
    'Webhook.excluded_actions': EVENT_TYPE,
    'WebhookCreate.included_actions': EVENT_TYPE,
    'WebhookCreate.excluded_actions': EVENT_TYPE,
    'WebhookUpdate.included_actions': EVENT_TYPE,
    'WebhookUpdate.excluded_actions': EVENT_TYPE,
    'WebhookAction.actions': EVENT_TYPE,
    'WebhookEvent.type': EVENT_TYPE,
  }
}

/** Codes of ISO: too many, and too alike, for an enum in each place. docs/codes.md lists them. */
const CODES: readonly { readonly name: RegExp; readonly form: JsonObject; readonly text: string }[] = [
  {
    name: /(^|_)currency$/,
    form: { format: 'currency', pattern: '^[A-Z]{3}$' },
    text: 'ISO 4217 code, such as EUR.',
  },
  {
    name: /^country(_code)?$/,
    form: { format: 'country', pattern: '^[A-Z]{2}$' },
    text: 'ISO 3166-1 alpha-2 code, such as NL.',
  },
]

/** The shapes with those fields as enums, and codes with their form. */
export function withClosedLists(
  shapes: ReadonlyMap<string, JsonObject>,
  deps: ListDeps,
): ReadonlyMap<string, JsonObject> {
  const lists = listsOf(deps)
  return new Map(
    [...shapes].map(([name, schema]) => {
      const properties = Object.entries(objectIn(schema, 'properties')).map(([field, member]): [string, JsonObject] => {
        const given = isObject(member) ? member : {}
        const values = lists[`${name}.${field}`] ?? (isOpen(given) ? lists[field] : undefined)
        if (values !== undefined) return [field, Array.isArray(values) ? listed(given, values) : oneOfShape(given)]
        return [field, coded(field, given)]
      })
      return [name, { ...schema, properties: Object.fromEntries(properties) }]
    }),
  )
}

/** A text of any value. */
const isOpen = (given: JsonObject): boolean =>
  given.enum === undefined && (given.type === 'string' || (Array.isArray(given.type) && given.type.includes('string')))

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

/** An event type, or a list of them. */
const oneOfShape = (given: JsonObject): JsonObject =>
  isObject(given.items)
    ? { ...given, items: EVENT_TYPE }
    : { ...EVENT_TYPE, ...(given.description ? { description: given.description } : {}) }

/** A text field that is a code of ISO by its name, with the form of one. */
function coded(field: string, given: JsonObject): JsonObject {
  const code = CODES.find(({ name }) => name.test(field))
  if (code === undefined || !isOpen(given)) return given
  return { description: code.text, ...given, ...code.form }
}
