// A sentence for every field: its own, where its shape has one; else the one for this field of this component; else the one that
// fields of this name have everywhere.
import { Country, Currency, DecimalText, Reference, Timestamp, TimeZone } from '../../resource/shapes.ts'
import { refName } from '../components.ts'
import { FIELD_TEXTS } from '../fields/index.ts'
import { isObject, type JsonObject, objectIn, objectsIn, textIn } from '../json.ts'

/** The shapes with every member described. A member without a text stays without one; a test finds it. */
export function describeFields(shapes: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, JsonObject> {
  return new Map([...shapes].map(([name, schema]) => [name, described(name, schema)]))
}

function described(component: string, schema: JsonObject): JsonObject {
  const properties = Object.entries(objectIn(schema, 'properties')).map(([name, member]): [string, JsonObject] => {
    const given = isObject(member) ? member : {}
    const text = fieldText(component, name, textIn(given, 'description') ?? innerText(given))
    return [name, text === null ? given : { ...given, description: text }]
  })
  const own = textIn(schema, 'description') ?? FIELD_TEXTS[`${component}.`]
  return { ...(own ? { ...schema, description: own } : schema), properties: Object.fromEntries(properties) }
}

function fieldText(component: string, name: string, own: string | null): string | null {
  const exact = FIELD_TEXTS[`${component}.${name}`]
  const byName = exact ?? FIELD_TEXTS[name] ?? null
  // A text about the form alone says how it is written; what it is comes first.
  if (own !== null && FORMS.has(own)) return byName === null ? own : `${byName} ${own}`
  return exact ?? own ?? byName
}

/** What shapes say of their form wherever they are used. */
const FORMS = new Set(
  [Timestamp, DecimalText, Reference, Currency, Country, TimeZone].flatMap(shape =>
    'description' in shape ? [String(shape.description)] : [],
  ),
)

/** What the items of a list, or the one form of a value, say of themselves. */
function innerText(schema: JsonObject): string | null {
  const inner = [objectIn(schema, 'items'), ...objectsIn(schema, 'anyOf')].filter(each => refName(each) === null)
  return inner.map(each => textIn(each, 'description')).find(text => text !== null) ?? null
}
