// A schema that stands alone: what it refers to is in it, since a client reads one tool at a time.
import type { JsonSchema, Shapes } from './operations.ts'

const PREFIX = '#/components/schemas/'

/** The schemas with their references pointing to `$defs`, and those definitions: everything they lead to, each once. */
export function selfContained<T extends JsonSchema>(
  schemas: T,
  shapes: Shapes,
): { readonly schemas: T; readonly defs: Readonly<Record<string, JsonSchema>> } {
  const defs = new Map<string, JsonSchema>()
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, member]) => key !== 'examples' || !Array.isArray(member))
        .map(([key, member]) => [key, key === '$ref' ? localRef(String(member)) : visit(member)]),
    )
  }
  const localRef = (ref: string): string => {
    const name = ref.startsWith(PREFIX) ? ref.slice(PREFIX.length) : ref
    const shape = shapes[name]
    if (shape && !defs.has(name)) {
      // Before what is in it: a shape may refer to itself.
      defs.set(name, {})
      defs.set(name, visit(shape) as JsonSchema)
    }
    return `#/$defs/${name}`
  }
  return { schemas: visit(schemas) as T, defs: Object.fromEntries(defs) }
}

/** The shape itself in place of a reference to it, so that the outermost is read first. */
export const unfolded = (schema: JsonSchema, shapes: Shapes): JsonSchema => {
  const { $ref: ref, ...rest } = schema
  const shape = typeof ref === 'string' && ref.startsWith(PREFIX) ? shapes[ref.slice(PREFIX.length)] : undefined
  return shape ? { ...shape, ...rest } : schema
}
