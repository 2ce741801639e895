// Ids of things inside a list of a resource (prices of a pricing, registrations of an entity): given on the first save,
// kept when they are sent back, so that what refers to one still means the same thing.
import { AppError } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'

type Nested = { readonly id?: string | null | undefined }

/**
 * `entries` with an id each. An id that was sent must be one of `previous` and stand once; a client cannot choose one.
 * Throws INVALID_FIELD with the position.
 */
export function withIds<Entry extends Nested>(
  entries: readonly Entry[],
  previous: readonly Nested[],
  options: { prefix: string; field: string },
): (Entry & { id: string })[] {
  return idKeeper(previous, options.prefix)(entries, options.field)
}

/** The same for several lists whose entries may move from one to another: an id stands once in all of them. */
export function idKeeper(
  previous: readonly Nested[],
  prefix: string,
): <Entry extends Nested>(entries: readonly Entry[], field: string) => (Entry & { id: string })[] {
  const free = new Set(previous.map(entry => entry.id))
  return (entries, field) =>
    entries.map((entry, index) => {
      if (!entry.id) return { ...entry, id: newId(prefix) }
      if (!free.delete(entry.id)) {
        const message = `${JSON.stringify(entry.id)} is not in this list as it is now, or is there twice; leave the id out for a new entry.`
        throw new AppError('INVALID_FIELD', message, { field: `${field}.${index}.id` })
      }
      return { ...entry, id: entry.id }
    })
}
