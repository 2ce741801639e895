// The one condition that shapes have: a maximum of a field that holds where another field has a value. JSON Schema says it by `if` and
// `then`; what makes, reads and leaves out these keywords is here.
type Node = { readonly [keyword: string]: unknown }

type Condition = {
  readonly where: Readonly<Record<string, string>>
  readonly maximum: Readonly<Record<string, number>>
}

/** The keywords of a shape whose `maximum` of one field holds where another has the value of `where`. */
export const maximumWhere = ({ where, maximum }: Condition) => ({
  if: {
    properties: Object.fromEntries(Object.entries(where).map(([name, value]) => [name, { const: value }])),
    required: Object.keys(where),
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { properties: Object.fromEntries(Object.entries(maximum).map(([name, value]) => [name, { maximum: value }])) },
})

/** The maximum that the condition of a shape sets; null where it has none. */
export function maximumOf(schema: unknown): { readonly field: string; readonly maximum: number } | null {
  // Among properties `type` would be the shape of a field.
  if (!isNode(schema) || schema['type'] !== 'object' || !isNode(schema['if'])) return null
  if (!isNode(schema['then']) || !isNode(schema['then']['properties'])) return null
  const [[field, bound] = ['', null]] = Object.entries(schema['then']['properties'])
  const maximum = isNode(bound) ? bound['maximum'] : null
  return typeof maximum === 'number' ? { field, maximum } : null
}

/** A shape without its condition. What is no shape is given as it is: `if` may be a name among properties. */
export function withoutCondition<S extends object>(schema: S): Omit<S, 'if' | 'then'> {
  if (maximumOf(schema) === null) return schema
  const { if: _if, then: _then, ...unconditional } = schema as S & Node
  return unconditional
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
