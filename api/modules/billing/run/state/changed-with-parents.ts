// How far the log touched the usage of customers, and of those above them, whose subscriptions may bill it.
import type { AttributionCustomer } from '../../../subscriptions/attribution/load-attribution.ts'

/** For each partition of the log, its last position. */
export type Positions = readonly number[]

/** The later of two positions in each partition. */
export const latest = (a: Positions, b: Positions): number[] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, partition) => Math.max(a[partition] ?? 0, b[partition] ?? 0))

/** Of these customers, where `touched` has some of them: what touches a customer touches all that its events go on to. */
export function changedWithParents(
  related: readonly Pick<AttributionCustomer, 'id' | 'terms'>[],
  touched: ReadonlyMap<string, Positions>,
): Map<string, Positions> {
  const found = new Map(touched)
  const parentsOf = new Map(
    related.map(({ id, terms }) => [id, (terms ?? []).flatMap(term => term.parent_customer_ids)]),
  )
  const waiting = [...touched.keys()]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const own = found.get(id) ?? []
    for (const parentId of parentsOf.get(id) ?? []) {
      // Not among `related`: too far above for its subscriptions to bill these events.
      if (!parentsOf.has(parentId)) continue
      const before = found.get(parentId)
      const after = latest(before ?? [], own)
      if (before && after.every((position, partition) => position === (before[partition] ?? 0))) continue
      found.set(parentId, after)
      waiting.push(parentId)
    }
  }
  return found
}
