// What is made from a schema is made once: schemas are compared by identity, and kept as long as what was made from them.
import type { TSchema } from 'typebox'

/** `make`, remembering its result by the schema object it was given. */
export function bySchema<T extends object>(make: (schema: TSchema) => T): (schema: TSchema) => T {
  const made = new WeakMap<TSchema, T>()
  return schema => {
    const known = made.get(schema)
    if (known) return known
    const fresh = make(schema)
    made.set(schema, fresh)
    return fresh
  }
}
