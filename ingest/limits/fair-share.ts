// How gateways split one platform's limit by the demand at each. Pure, and the same at every gateway: when all know the
// same demands, their shares add up to the limit.

/** The part of a limit that is split evenly whatever is asked, so that a gateway nobody asked yet can take its first events. */
const RESERVE = 0.01

/**
 * Our share of `limit`, in its unit, when we are asked `own` and the other gateways `others` each. Max-min fair: a gateway that asks
 * for little gets it, the rest share evenly; what nobody asks for is split evenly too. It never shrinks when `own` grows or
 * another's demand falls.
 */
export function fairShare(limit: number, own: number, others: readonly number[]): number {
  const gateways = others.length + 1
  const reserved = (limit * RESERVE) / gateways
  const toSplit = limit * (1 - RESERVE)
  const asked = Math.min(own, toSplit)
  const demands = others.map(demand => Math.min(demand, toSplit))
  const spare = demands.reduce((left, demand) => left - demand, toSplit - asked)
  if (spare >= 0) return reserved + asked + spare / gateways
  return reserved + Math.min(asked, waterLevel(toSplit, [asked, ...demands]))
}

/** What each may have at most so that all get the lesser of it and their demand, and nothing is left over. */
function waterLevel(toSplit: number, demands: readonly number[]): number {
  let left = toSplit
  let sharing = demands.length
  for (const demand of demands.toSorted((a, b) => a - b)) {
    if (demand * sharing >= left) return left / sharing
    left -= demand
    sharing -= 1
  }
  return toSplit
}
