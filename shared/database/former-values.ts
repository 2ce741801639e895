// What an update changed, kept as the former values of what differs, so that a resource is not stored twice to say that its
// status is another one. Pure.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Where a value differs, from the top of the resource down, and what was there; without `value` nothing was. */
export type FormerValue = { readonly path: readonly (string | number)[]; readonly value?: Json }

/**
 * What `previous` had where `data` has something else, both as JSON. Objects are compared member by member, and so are lists of
 * the same length; of any other difference the whole former value is kept.
 */
export function formerValues(previous: Json, data: Json): FormerValue[] {
  const found: FormerValue[] = []
  collect(previous, data, [], found)
  return found
}

function collect(previous: Json, data: Json, path: readonly (string | number)[], found: FormerValue[]): void {
  if (previous === data) return
  if (isList(previous) && isList(data) && previous.length === data.length) {
    for (const [index, value] of previous.entries()) collect(value, data[index] ?? null, [...path, index], found)
    return
  }
  if (!isObject(previous) || !isObject(data)) {
    found.push({ path, value: previous })
    return
  }
  for (const [name, value] of Object.entries(previous)) {
    const now = member(data, name)
    if (now === undefined) found.push({ path: [...path, name], value })
    else collect(value, now, [...path, name], found)
  }
  for (const name of Object.keys(data)) {
    if (member(previous, name) === undefined) found.push({ path: [...path, name] })
  }
}

/** The resource as it was: `data` with the former values of `formerValues` put back. */
export function withFormerValues(data: Json, former: readonly FormerValue[]): Json {
  const root = { data: structuredClone(data) }
  for (const { path, ...of } of former) {
    const steps = ['data', ...path]
    const last = steps.pop() ?? ''
    let holder: unknown = root
    for (const step of steps) holder = (holder as Record<string | number, unknown>)[step]
    if ('value' in of) Object.defineProperty(holder, last, { value: of.value, ...ORDINARY })
    else Reflect.deleteProperty(holder as object, last)
  }
  return root.data
}

/** Defined and not assigned: `__proto__` is a name of a field here, and nothing else. */
const ORDINARY = { enumerable: true, configurable: true, writable: true }

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An own member, and not one that every object has. */
const member = (object: { readonly [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined
