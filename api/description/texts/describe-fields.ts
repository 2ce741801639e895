// A sentence for every field: its own, where its shape has one; else the one for this field of this component; else the one that
// fields of this name have everywhere.
import { refName } from '../components.ts'
import { FIELD_TEXTS } from '../fields/index.ts'
import { isObject, type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../json.ts'
import { FORMS } from './forms.ts'

/** The shapes with every member described. A member without a text stays without one; a test finds it. */
export function describeFields(shapes: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, JsonObject> {
  return new Map([...shapes].map(([name, schema]) => [name, described(name, schema)]))
}

/** Shapes that show what another shows, and say the same of it where they have no text of their own. */
const LIKE: Readonly<Record<string, string>> = {
  InvoicePreview: 'Invoice',
  OnDemandInvoice: 'Invoice',
  PricingPlanSubscriptionInit: 'PricingPlanSubscription',
}

function described(component: string, schema: JsonObject): JsonObject {
  const properties = Object.entries(objectIn(schema, 'properties')).map(([name, member]): [string, JsonObject] => {
    const given = isObject(member) ? member : {}
    const text = fieldText(component, name, given)
    return [name, text === null ? given : { ...given, description: text }]
  })
  const own = textIn(schema, 'description') ?? FIELD_TEXTS[`${component}.`]
  return { ...(own ? { ...schema, description: own } : schema), properties: Object.fromEntries(properties) }
}

function fieldText(component: string, name: string, given: JsonObject): string | null {
  const exact = FIELD_TEXTS[`${component}.${name}`] ?? FIELD_TEXTS[`${LIKE[component]}.${name}`]
  const byName = exact ?? FIELD_TEXTS[name] ?? null
  const own = textIn(given, 'description') ?? innerText(given)
  // A text about the form alone says how it is written; what it is comes first.
  if (own !== null && FORMS.has(own)) return byName === null ? own : `${byName} ${own}`
  // What every id of the kind says of itself is the least there is to say.
  const id = own === null ? null : /^Id of (an? [^;:.]+\.)$/.exec(own)
  if (id) return (name === 'id' ? exact : byName) ?? (isList(given) ? `Each is the id of ${id[1]}` : own)
  return exact ?? own ?? byName
}

const isList = (schema: JsonObject): boolean =>
  schema['type'] === 'array' || textsIn(schema, 'type').includes('array') || 'items' in schema

/** What the items of a list, or the one form of a value, say of themselves. */
function innerText(schema: JsonObject): string | null {
  const inner = [objectIn(schema, 'items'), ...objectsIn(schema, 'anyOf')].filter(each => refName(each) === null)
  return inner.map(each => textIn(each, 'description')).find(text => text !== null) ?? null
}
