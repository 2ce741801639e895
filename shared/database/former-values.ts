// What an update changed, kept as the former values of what differs, so that a resource is not stored twice to say that its
// status is another one. Pure.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Where a value differs, from the top of the resource down, and what was there; without `value` nothing was. */
export type FormerValue = { readonly path: readonly (string | number)[]; readonly value?: Json }

/**
 * What `previous` had where `data` has something else, both as JSON has them: what it leaves out is not there, and what has a form of its
 * own, such as a Date, is that. Objects are compared member by member, and so are lists of the same length; of any other difference the
 * whole former value is kept. The values are those that were given: write them as JSON.
 */
export function formerValues(previous: unknown, data: unknown): FormerValue[] {
  const found: FormerValue[] = []
  collect(previous, data, [], found)
  return found
}

function collect(before: unknown, after: unknown, path: readonly (string | number)[], found: FormerValue[]): void {
  if (before === after) return
  const previous = asJson(before) ?? null
  const data = asJson(after) ?? null
  if (previous === data) return
  if (isList(previous) && isList(data) && previous.length === data.length) {
    for (const [index, value] of previous.entries()) collect(value, data[index], [...path, index], found)
    return
  }
  if (!isObject(previous) || !isObject(data)) {
    found.push({ path, value: previous })
    return
  }
  for (const [name, value] of Object.entries(previous)) {
    const was = asJson(value)
    if (was === undefined) continue
    const now = member(data, name)
    if (now === undefined) found.push({ path: [...path, name], value: was })
    else if (was !== now) collect(was, now, [...path, name], found)
  }
  for (const name of Object.keys(data)) {
    if (member(previous, name) === undefined && member(data, name) !== undefined) found.push({ path: [...path, name] })
  }
}

/** A value as JSON has it, its members left as they are; undefined where JSON leaves it out. */
function asJson(value: unknown): Json | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object') return undefined
  // Members are brought to their form when they are met.
  return 'toJSON' in value ? (JSON.parse(JSON.stringify(value)) as Json) : (value as Json)
}

/** The fields of the resource in which `data` differs by these former values; one that is absent is the same as one that is null. */
export function changedFields(former: readonly FormerValue[], data: unknown): string[] {
  const now = asJson(data) ?? null
  const names = former.flatMap(({ path: [name, ...rest], value = null }) => {
    if (name === undefined || !isObject(now)) return []
    const isNull = rest.length === 0 && value === null && (member(now, String(name)) ?? null) === null
    return isNull ? [] : [String(name)]
  })
  return [...new Set(names)].sort()
}

/**
 * The resource as it was: `data` with the former values of `formerValues` put back. What lies on none of their paths is shared with
 * `data`, which stays as it is.
 */
export function withFormerValues(data: Json, former: readonly FormerValue[]): Json {
  const root = { data }
  const own = new Set<object>([root])
  for (const { path, ...of } of former) {
    const steps = ['data', ...path]
    const last = steps.pop() ?? ''
    let holder: object = root
    for (const step of steps) {
      const next = (holder as Record<string | number, object>)[step] ?? {}
      const copy = own.has(next) ? next : Array.isArray(next) ? [...next] : { ...next }
      own.add(copy)
      Object.defineProperty(holder, step, { value: copy, ...ORDINARY })
      holder = copy
    }
    if ('value' in of) Object.defineProperty(holder, last, { value: of.value, ...ORDINARY })
    else Reflect.deleteProperty(holder, last)
  }
  return root.data
}

/** Defined and not assigned: `__proto__` is a name of a field here, and nothing else. */
const ORDINARY = { enumerable: true, configurable: true, writable: true }

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An own member as JSON has it, and not one that every object has. */
const member = (object: { readonly [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? asJson(object[name]) : undefined
