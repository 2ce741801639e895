// A sentence for every parameter of path and query.
import { isObject, type JsonObject, mapObjects, textIn } from '../json.ts'
import { FORMS } from './forms.ts'

const TEXTS: Readonly<Record<string, string>> = {
  id: 'The id of the resource, or its `reference` where it has one.',
  replayId: 'The id of the replay.',
  membershipResourceId: 'The id of the membership.',
  'expand[]': 'What to include that the resource refers to; ALL includes everything. May be repeated.',
  order_by: 'The field to sort by. Default `created_at`.',
  order_direction: '`asc` or `desc`; capitals are accepted. Default `desc`.',
  identifier_field: 'Which field finds the existing resource. Default `reference`.',
  custom_field:
    'Only those with this value of a custom field, as `reference:value`. May be repeated; then all must match.',
  custom_field_reference: 'With `identifier_field=custom_field`: the reference of that custom field.',
  field_actions:
    'What a list that is sent does, by the name of its field: `?field_actions[custom_fields]=ADD`. REPLACE by default; ADD puts its ' +
    'entries beside those there are; REMOVE takes them away; CLEAR empties the list, which is then left out.',
  resource_type: 'Only fields of resources of this object type.',
  format: 'The kind of document: PDF, HTML, or the e-invoices UBL and FACTUR_X. Default PDF.',
  reference: 'Only the resource with this reference.',
  name: 'Only those of this name.',
  type: 'Only those of this type.',
  status: 'Only those with this status.',
  'statuses[]': 'Only those with one of these statuses. May be repeated.',
  'types[]': 'Only those of one of these types, by their exact names. May be repeated.',
  variant: 'Only those of this variant.',
  'variants[]': 'Only those of one of these variants. May be repeated.',
  active: 'Only those that are active, or only those that are not.',
  source_type: 'Only those about what is of this type.',
  'source_ids[]': 'Only those about the things with these ids. May be repeated; not with `source_id`.',
  coupon_id: 'Only those of the coupon with this id.',
  code: 'Only the one with this code; case does not count.',
  created_at: 'Only those created within this range.',
  updated_at: 'Only those last changed within this range.',
  start_at: 'Only those that start within this range.',
  invoice_date: 'Only those with a date within this range.',
  billing_entity_id: 'Only those of the billing entity with this id.',
  pricing_plan_subscription_group_id: 'Only subscriptions of this group.',
  owner_customer_id: 'Only groups of this owner.',
  customer_id: 'Only those of the customer with this id.',
  outcome: 'Only those that would have paid less (WINNER), more (LOSER) or the same (UNCHANGED).',
  currency: 'Only those of this currency.',
  country: 'Only those of this country.',
  base_currency: 'Only those whose base is this currency.',
  pricing_plan_version_id: 'Only those of the plan version with this id.',
  from_pricing_plan_version_id: 'Only migrations from the plan version with this id.',
  pricing_plan_subscription_id: 'Only those of the subscription with this id.',
  wallet_id: 'Only those of the wallet with this id.',
  wallet_type_id: 'Only those of the wallet type with this id.',
  wallet_grant_id: 'Only those of the grant with this id.',
  reservation: 'The id or the `reference` of the reservation.',
  meter_id: 'Only those of the meter with this id.',
  meter_property_id: 'Only those of the meter property with this id.',
  product_category_id: 'Only those of the product category with this id.',
  parent_product_id: 'Only those that belong to the product with this id.',
  pricing_plan_id: 'Only the group that the plan with this id is in.',
  product_id: 'Only those of the product with this id.',
  product_item_id: 'Only those of the product item with this id.',
  processed_details_type: 'Only events that are billed (DEFAULT), not matched, or repeats (DUPLICATE).',
  deleted: 'true: only deleted events; false: only those that are not. Default: both.',
  include_invoice_pdf: 'Whether the e-invoice carries the PDF of the invoice. Default false.',
  include_periods: 'Whether invoices are shown with their periods. Default false.',
  include_lines: 'Whether invoices are shown with their lines. Default false.',
  on_hold: 'Only invoices that are on hold, or only those that are not.',
  paid: 'Only invoices that are paid, or only those that are not.',
  username: 'The e-mail address, or a part of it.',
  user_type: 'Only keys of this type.',
  user_id: 'Only changes by this user or API key.',
  target_id: 'Only changes of the resource with this id.',
  target_type: 'Only changes of resources of this object type.',
}

/** The paths with every parameter described that has no text of its own. */
export function describeParameters(paths: JsonObject): JsonObject {
  const described = mapObjects(paths, object => {
    const name = textIn(object, 'name')
    if (name === null || !isObject(object.schema)) return object
    const text = TEXTS[name]
    const own = textIn(object, 'description')
    if (text === undefined || (own !== null && !FORMS.has(own))) return object
    // A text about the form alone says how it is written; what it is comes first.
    return { ...object, description: own === null ? text : `${text} ${own}` }
  })
  return isObject(described) ? described : paths
}
