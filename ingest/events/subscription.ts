// The explicit subscription, or the selector of one, that an event may name. Checked for shape here, resolved when rated.
import { type JsonObject, type Reading, readChoice, readList, readObject, readReference, readText } from './reading.ts'

export const SUBSCRIPTION_FIELDS = [
  'pricing_plan_subscription_id',
  'pricing_plan_subscription_reference',
  'pricing_plan_subscription_selector',
] as const

const SELECTOR_FIELDS = new Set(['data', 'rules', 'filters', 'fallback'])
const SUBJECTS = ['BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY', 'PRICING_PLAN_REFERENCE'] as const
const COMPARATORS = [
  'EQUALS',
  'NOT_EQUALS',
  'IN',
  'NOT_IN',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUALS',
  'LESS_THAN',
  'LESS_THAN_OR_EQUALS',
  'EMPTY',
  'NOT_EMPTY',
  'CONTAINS',
  'NOT_CONTAINS',
] as const
const FALLBACKS = ['LATEST', 'NONE'] as const
const DATA_FIELDS = new Set(['field', 'value'])
const RULE_FIELDS = new Set(['field', 'type'])
const FILTER_FIELDS = new Set(['field', 'type', 'value'])

/** Entries in each list of a selector. */
const SELECTOR_ENTRIES_MAX = 20

/** JSON text, with the names of the wire, of what the event says about its subscription; '' when it says nothing. */
export function readSubscription(body: JsonObject, reading: Reading): string {
  const [idField, referenceField, selectorField] = SUBSCRIPTION_FIELDS
  const id = readReference(body[idField], idField, reading)
  const reference = readReference(body[referenceField], referenceField, reading)
  const selector = body[selectorField]
  const hasSelector = selector !== undefined && selector !== null
  if (id === null && reference === null && !hasSelector) return ''
  if (id !== null && reference !== null) {
    return reading.refuse('INVALID_FIELD', idField, `Give ${idField} or ${referenceField}, not both.`)
  }
  return JSON.stringify({
    ...(id === null ? {} : { [idField]: id }),
    ...(reference === null ? {} : { [referenceField]: reference }),
    ...(hasSelector ? { [selectorField]: readSelector(selector, reading) } : {}),
  })
}

function readSelector(value: unknown, reading: Reading): object {
  reading.inner = 'pricing_plan_subscription_selector.'
  const selector = readObject(value, SELECTOR_FIELDS, reading)
  const field = (entry: JsonObject) => readChoice(entry['field'], 'field', SUBJECTS, reading)
  const type = (entry: JsonObject) => readChoice(entry['type'], 'type', COMPARATORS, reading)
  const text = (entry: JsonObject) => readText(entry['value'], 'value', reading)
  const data = readEntries(selector, 'data', DATA_FIELDS, reading, entry => ({
    field: field(entry),
    value: text(entry),
  }))
  const rules = readEntries(selector, 'rules', RULE_FIELDS, reading, entry => ({
    field: field(entry),
    type: type(entry),
  }))
  const filters = readEntries(selector, 'filters', FILTER_FIELDS, reading, entry => ({
    field: field(entry),
    type: type(entry),
    value: text(entry),
  }))
  const fallback = selector['fallback'] ?? 'LATEST'
  const read = { data, rules, filters, fallback: readChoice(fallback, 'fallback', FALLBACKS, reading) }
  reading.inner = ''
  return read
}

function readEntries<T>(
  selector: JsonObject,
  name: 'data' | 'rules' | 'filters',
  known: ReadonlySet<string>,
  reading: Reading,
  read: (entry: JsonObject) => T,
): T[] {
  const outer = reading.inner
  const entries = readList(selector[name], name, SELECTOR_ENTRIES_MAX, reading).map((entry, index) => {
    reading.inner = `${outer}${name}.${index}.`
    return read(readObject(entry, known, reading))
  })
  reading.inner = outer
  return entries
}
