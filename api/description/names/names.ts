// What the shapes of the API description are called.
import { isObject, type JsonObject, objectIn, textIn } from '../json.ts'

/** `pricing_plan` or `PRICING_PLAN` as `PricingPlan`. */
export const pascal = (words: string): string =>
  words
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** One of them: `tax_categories` as `tax_category`. */
export const singular = (name: string): string => {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(ss|us|settings|details|_data)$/.test(name)) return name
  return name.endsWith('s') ? name.slice(0, -1) : name
}

/** Shapes that are the same thing wherever they are written down, by the names of their members. */
const EVERYWHERE: Readonly<Record<string, string>> = {
  'currency,quantity': 'Money',
  'type:string,value:integer': 'BillingPeriod',
}

/** The name of a shape that has one name wherever it stands; null for any other. */
export function nameEverywhere(schema: JsonObject): string | null {
  const properties = objectIn(schema, 'properties')
  const members = Object.keys(properties).toSorted()
  const byType = members.map(name => `${name}:${textIn(objectIn(properties, name), 'type') ?? ''}`)
  return textIn(schema, 'title') ?? EVERYWHERE[members.join(',')] ?? EVERYWHERE[byType.join(',')] ?? null
}

/** Names of bodies that are not those of a resource, by operation id. */
const BODIES: Readonly<Record<string, string>> = {
  api_keys_search: 'ApiKeySearch',
  customers_validate_tax_id: 'CustomerCreate',
  events_amend: 'EventAmend',
  events_amend_by_reference: 'EventAmendByReference',
  events_calculate: 'EventCalculate',
  events_delete_by_reference: 'EventDeleteByReference',
  events_ingest_list: 'MeterDataCreateList',
  ingest_persist_data: 'PersistDataCreate',
  invoices_preview: 'InvoicePreviewCreate',
  invoices_refresh: 'InvoiceRefresh',
  invoices_search: 'InvoiceSearch',
  invoices_update: 'InvoiceUpdate',
  meter_property_variables_values_change: 'MeterPropertyVariableValuesChange',
  pricing_plan_subscriptions_cancel: 'PricingPlanSubscriptionCancel',
  teams_create: 'TeamCreate',
  teams_update: 'TeamUpdate',
  users_create: 'UserCreate',
  users_memberships: 'RolesChange',
  users_memberships_update: 'RolesChange',
  users_revoke_invite: 'UserInviteRevoke',
  users_teams: 'UserTeamChange',
  users_update: 'UserUpdate',
}
const ANSWERS: Readonly<Record<string, string>> = {
  events_ingest_list: 'MeterDataList',
  invoices_preview: 'InvoicePreviews',
  meter_property_variables_values_change: 'MeterPropertyVariableValuesChanged',
  meter_property_variables_values_read: 'MeterPropertyVariableValue',
  permissions_list: 'Permission',
}

/** The name of a body that stands for no resource. */
export const bodyNameOf = (operationId: string): string => BODIES[operationId] ?? `${pascal(operationId)}Request`
/** The name of an answer, or of what a list of it holds, that is no resource. */
export const answerNameOf = (operationId: string): string => ANSWERS[operationId] ?? `${pascal(operationId)}Answer`

/** Things whose parts are those of another: named alike, whichever is declared first. */
const BASES: Readonly<Record<string, string>> = { InvoicePreview: 'Invoice', CostPredictionDetails: 'Invoice' }

/** What the parts of a thing are named after. */
export const baseOf = (title: string): string => BASES[title] ?? title

/** Where a shape stands: what the whole is called, what its parts are named after, and the members on the way to it. */
export type Place = { readonly root: string; readonly base: string; readonly path: readonly string[] }

/** The names a shape may get, the best first. */
export function namesFor(schema: JsonObject, { root, base, path }: Place): readonly string[] {
  const last = pascal(path.at(-1) ?? '')
  if (last === '') return [root]
  const before = pascal(path.at(-2) ?? '')
  return [
    ...objectTypeName(schema),
    last.startsWith(base) ? last : `${base}${last}`,
    `${root}${last}`,
    `${base}${before}${last}`,
  ]
}

/** A thing that says what it is has its name. */
function objectTypeName(schema: JsonObject): readonly string[] {
  const type = objectIn(objectIn(schema, 'properties'), 'object_type')
  const named =
    textIn(type, 'const') ?? (Array.isArray(type['enum']) && type['enum'].length === 1 ? type['enum'][0] : null)
  return typeof named === 'string' && !isObject(named) ? [pascal(named)] : []
}
