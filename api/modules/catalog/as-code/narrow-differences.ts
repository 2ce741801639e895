// What differs, as deep as it can be said: the amount of one band in place of the whole list of prices. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../../../resource/define-resource.ts'
import type { Difference } from './entries.ts'

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The differences within what differs. Values that one side alone has, and lists of texts, are told whole. */
export function narrowed({ field, before, after }: Difference): Difference[] {
  if (isDeepStrictEqual(before, after)) return []
  const below = Array.isArray(before) && Array.isArray(after) ? ofLists(before, after) : ofObjects(before, after)
  if (!below) return [{ field, before: before ?? null, after: after ?? null }]
  return below.flatMap(({ field: name, ...values }) => narrowed({ field: `${field}.${name}`, ...values }))
}

function ofObjects(before: unknown, after: unknown): Difference[] | null {
  if (!isObject(before) || !isObject(after)) return null
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].map(field => ({ field, before: before[field], after: after[field] }))
}

/** Prices stand beside what priced the same before, whatever their places; other members of lists by their places. */
function ofLists(before: readonly unknown[], after: readonly unknown[]): Difference[] | null {
  if (![...before, ...after].every(isObject)) return null
  const left = before.map((value, place) => ({ value, place, key: keyOf(value, place) }))
  const found = after.map((now, place): Difference => {
    const match = left.findIndex(each => each.key === keyOf(now, place))
    const [then] = match === -1 ? [] : left.splice(match, 1)
    return { field: String(place), before: then?.value, after: now }
  })
  return [...found, ...left.map(({ value, place }) => ({ field: String(place), before: value, after: null }))]
}

function keyOf(value: unknown, place: number): string {
  const items: unknown = isObject(value) ? value['product_items'] : undefined
  return items === undefined ? String(place) : JSON.stringify(items)
}
