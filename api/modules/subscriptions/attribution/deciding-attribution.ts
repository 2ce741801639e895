// What of the attribution inputs decides which events are whose. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { AttributionInputs, AttributionSubscription } from './load-attribution.ts'

type Held = Pick<AttributionSubscription['held'][number], 'start_ms' | 'end_ms' | 'plan_reference' | 'meters'>
type Deciding = Pick<AttributionInputs, 'customers'> & {
  readonly subscriptions: readonly (Omit<AttributionSubscription, 'held'> & { readonly held: readonly Held[] })[]
}

const known = new WeakMap<AttributionInputs, Deciding>()

/**
 * The inputs without which version priced the events, and without a cut where a plan and its meters stay the same: a subscription that
 * moves to another version of its plan changes nothing for the others of its customer.
 */
export function decidingAttribution(inputs: AttributionInputs): Deciding {
  const found = known.get(inputs) ?? {
    customers: inputs.customers,
    subscriptions: inputs.subscriptions.map(each => ({ ...each, held: joined(each.held) })),
  }
  known.set(inputs, found)
  return found
}

function joined(held: AttributionSubscription['held']): Held[] {
  const parts: Held[] = []
  for (const { start_ms, end_ms, plan_reference, meters } of held) {
    const last = parts.at(-1)
    const goesOn =
      last?.end_ms === start_ms && last.plan_reference === plan_reference && isDeepStrictEqual(last.meters, meters)
    if (last && goesOn) parts[parts.length - 1] = { ...last, end_ms }
    else parts.push({ start_ms, end_ms, plan_reference, meters })
  }
  return parts
}
