// Which of the customer's subscriptions an event asks for: at most one of an id, a reference and a selector. Whether there is
// such a subscription is not known here, and need not be: it may be created after the event (semantics 1.2).
import {
  SELECTOR_COMPARATORS,
  SELECTOR_ENTRIES_MAX,
  SELECTOR_FALLBACKS,
  SELECTOR_FIELDS,
  type Selector,
  type SelectorComparator,
  type SelectorField,
  subscriptionKey,
  takesNoValue,
} from '../../../shared/attribution/selector.ts'
import { type JsonObject, type Reading, readList, readObject, readReference } from './reading.ts'

/** The fields of an event that name a subscription. */
export const SUBSCRIPTION_FIELDS = [
  'pricing_plan_subscription_id',
  'pricing_plan_subscription_reference',
  'pricing_plan_subscription_selector',
] as const

const [ID, REFERENCE, SELECTOR] = SUBSCRIPTION_FIELDS
const SELECTOR_MEMBERS = new Set(['data', 'rules', 'filters', 'fallback'])
const DATA_MEMBERS = new Set(['field', 'value'])
const RULE_MEMBERS = new Set(['field', 'type'])
const FILTER_MEMBERS = new Set(['field', 'type', 'value'])

/** The canonical text of what the event asks for (`subscriptionKey`); '' when it asks for nothing. */
export function readSubscription(body: JsonObject, reading: Reading): string {
  const given = SUBSCRIPTION_FIELDS.filter(name => body[name] !== undefined && body[name] !== null)
  const [first, second] = given
  if (first === undefined) return ''
  if (second !== undefined) {
    return reading.refuse('INVALID_FIELD', second, `An event names its subscription once; leave out ${first} or this.`)
  }
  if (first === SELECTOR) return subscriptionKey({ kind: 'SELECTOR', selector: readSelector(body[first], reading) })
  const text = readReference(body[first], first, reading) ?? ''
  return subscriptionKey(first === ID ? { kind: 'ID', id: text } : { kind: 'REFERENCE', reference: text })
}

/** `key` as the JSON members that show it again, each with a comma after it; '' for nothing. */
export function subscriptionMembers(key: string): string {
  if (key === '') return ''
  const text = key.slice(key.indexOf(':') + 1)
  if (key.startsWith('sel:')) return `"${SELECTOR}":${text},`
  return `"${key.startsWith('id:') ? ID : REFERENCE}":${JSON.stringify(text)},`
}

function readSelector(value: unknown, reading: Reading): Selector {
  reading.inner = `${SELECTOR}.`
  const object = readObject(value, SELECTOR_MEMBERS, reading)
  const fallback = readOneOf(object['fallback'] ?? 'LATEST', 'fallback', SELECTOR_FALLBACKS, reading)
  const data = readEntries(object, 'data', DATA_MEMBERS, reading, entry => ({
    field: readField(entry, reading),
    value: readRequired(entry, 'value', reading),
  }))
  const rules = readEntries(object, 'rules', RULE_MEMBERS, reading, entry => {
    const rule = { field: readField(entry, reading), type: readComparator(entry, reading) }
    if (!takesNoValue(rule.type) && !data.some(({ field }) => field === rule.field)) {
      reading.refuse('INVALID_FIELD', 'field', `data gives no ${rule.field} for this rule to compare with.`)
    }
    return rule
  })
  const filters = readEntries(object, 'filters', FILTER_MEMBERS, reading, entry => {
    const type = readComparator(entry, reading)
    const given = readReference(entry['value'], 'value', reading)
    if (takesNoValue(type) !== (given === null)) {
      const message = given === null ? `${type} compares with a value.` : `${type} takes no value.`
      reading.refuse(given === null ? 'MISSING_FIELD' : 'INVALID_FIELD', 'value', message)
    }
    return { field: readField(entry, reading), type, value: given }
  })
  reading.inner = ''
  return { data, rules, filters, fallback }
}

function readEntries<T>(
  selector: JsonObject,
  name: string,
  members: ReadonlySet<string>,
  reading: Reading,
  read: (entry: JsonObject) => T,
): T[] {
  const entries = readList(selector[name], name, SELECTOR_ENTRIES_MAX, reading)
  reading.inner = ''
  reading.list = `${SELECTOR}.${name}`
  const found = entries.map((entry, index) => {
    reading.entry = index
    return read(readObject(entry, members, reading))
  })
  reading.list = ''
  reading.inner = `${SELECTOR}.`
  return found
}

const readField = (entry: JsonObject, reading: Reading): SelectorField =>
  readOneOf(entry['field'], 'field', SELECTOR_FIELDS, reading)
const readComparator = (entry: JsonObject, reading: Reading): SelectorComparator =>
  readOneOf(entry['type'], 'type', SELECTOR_COMPARATORS, reading)

function readRequired(entry: JsonObject, name: string, reading: Reading): string {
  const text = readReference(entry[name], name, reading)
  return text ?? reading.refuse('MISSING_FIELD', name, `${name} is required.`)
}

function readOneOf<T extends string>(value: unknown, name: string, known: readonly T[], reading: Reading): T {
  const found = known.find(each => each === value)
  if (found !== undefined) return found
  const code = value === undefined || value === null ? 'MISSING_FIELD' : 'INVALID_FIELD'
  return reading.refuse(code, name, `Expected one of ${known.join(', ')}.`)
}
