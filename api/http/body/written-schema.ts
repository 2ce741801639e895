// Schemas as the serializer reads them. `T or null` as a union is checked by a validator, which it compiles for each field of each
// schema; `T, nullable` is written without one. Most fields of most answers may be null, so this is most of what a first answer costs.
import { DESCRIBED_AS } from '../../resource/shapes.ts'
import { withoutCondition } from './conditions.ts'

type Node = { readonly [keyword: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
const isNull = (schema: unknown): boolean => isNode(schema) && schema['type'] === 'null'

/**
 * `schema` with every union of one type and null as that type, nullable: it writes the same text for every value that the schema
 * allows. Other unions stay, since only a validator finds the branch of a value. Conditions on what is accepted,
 * and what the description says instead, are left out.
 */
export function writtenSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(writtenSchema)
  if (!isNode(schema)) return schema
  // In this order: below a union that becomes a nullable type nothing is copied twice, which would double with each level.
  return orNull(schema) ?? membersOf(schema)
}

const membersOf = (schema: Node): Node =>
  Object.fromEntries(
    Object.entries(withoutCondition(schema)).flatMap(([key, value]) =>
      key === DESCRIBED_AS ? [] : [[key, writtenSchema(value)]],
    ),
  )

/** The nullable form, or null where there is none. */
function orNull({ anyOf, ...more }: Node): Node | null {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return null
  const others = anyOf.filter(branch => !isNull(branch))
  const [only] = others
  if (others.length !== 1 || !isNode(only)) return null
  const { enum: values, const: constant, type = typeOf(values) } = only
  // Other unions keep their validators: `nullable` works beside a single type only, and a list of values must contain null.
  if (typeof type !== 'string' || constant !== undefined) return null
  const list = Array.isArray(values) ? { enum: [...values, null] } : {}
  // A default within a branch is not that of the field.
  const { default: _ofBranch, ...branch } = writtenSchema(only) as Node
  return { ...branch, ...more, type, ...list, nullable: true }
}

/** Of a list of values that is given without it. */
const typeOf = (values: unknown): 'string' | undefined =>
  Array.isArray(values) && values.every(each => typeof each === 'string') ? 'string' : undefined
