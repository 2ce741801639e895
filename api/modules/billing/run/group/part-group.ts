// Which subscriptions of a group are saved together. Pure.
import { groupBy } from '../../../../../shared/group-by.ts'
import { combinedWith } from '../combined/match.ts'
import type { SubscriptionState } from '../state/subscription-state.ts'

/** Subscriptions that are saved together: half a group. What was computed for them is not kept until the last of the group is saved. */
export const PART_MAX = 125

/**
 * The ids of these subscriptions in parts of `max` or some more. Those that are combined stay together; so do those of a customer that has
 * no more than `max`, since they are paid from the same wallets (`advance-in-turns.ts`). Pure.
 */
export function partsOf(
  all: ReadonlyMap<string, { readonly state: Pick<SubscriptionState, 'inputs'> }>,
  max: number,
): string[][] {
  const parts: string[][] = []
  let open: string[] = []
  for (const [, own] of groupBy([...all], ([, { state }]) => state.inputs.customer.id)) {
    const sets =
      own.length <= max ? [own] : groupBy(own, ([id, { state }]) => combinedWith(state.inputs) ?? id).values()
    for (const set of sets) {
      open.push(...set.map(([id]) => id))
      if (open.length < max) continue
      parts.push(open)
      open = []
    }
  }
  return open.length === 0 ? parts : [...parts, open]
}
