// What differs, as deep as it can be said: the amount of one band in place of the whole list of prices. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../../../resource/define-resource.ts'
import type { Difference } from './entries.ts'

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The differences within what differs, each path once. Values that one side alone has, and lists of texts, are listed whole. A price
 * goes by the items that it prices (`items[a,b]`), whatever its place; other members of lists go by their places.
 */
export function narrowed({ field, before: then = null, after: now = null }: Difference): Difference[] {
  if (isDeepStrictEqual(then, now)) return []
  const parts = Array.isArray(then) && Array.isArray(now) ? ofLists(then, now) : ofObjects(then, now)
  if (!parts) return [{ field, before: then, after: now }]
  return parts.flatMap(({ field: name, ...values }) => narrowed({ field: field + name, ...values }))
}

function ofObjects(before: unknown, after: unknown): Difference[] | null {
  return isObject(before) && isObject(after) ? ofMembers(before, after, name => `.${name}`) : null
}

function ofMembers(before: Row, after: Row, pathOf: (name: string) => string): Difference[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)])
  return [...names].map(name => ({ field: pathOf(name), before: before[name], after: after[name] }))
}

function ofLists(before: readonly unknown[], after: readonly unknown[]): Difference[] | null {
  if (![...before, ...after].every(isObject)) return null
  const [then, now] = [byName(before), byName(after)]
  const parts = ofMembers(Object.fromEntries(then), Object.fromEntries(now), name => name)
  const [was, is] = [order(then, now), order(now, then)]
  return isDeepStrictEqual(was, is) ? parts : [...parts, { field: '', before: was, after: is }]
}

/** Each member by what it is named in a path; further prices of the same items are numbered. */
function byName(list: readonly unknown[]): Map<string, unknown> {
  const named = new Map<string, unknown>()
  for (const [place, value] of list.entries()) {
    const items: unknown = isObject(value) ? value['product_items'] : undefined
    const priced = Array.isArray(items) ? items.join(',') : null
    let name = priced === null ? `.${place}` : `[${priced}]`
    for (let times = 2; named.has(name); times += 1) name = `[${priced} (${times})]`
    named.set(name, value)
  }
  return named
}

/** The prices that the other list has too, in their order. */
const order = (list: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): string[] =>
  [...list.keys()].filter(name => name.startsWith('[') && other.has(name)).map(name => name.slice(1, -1))
