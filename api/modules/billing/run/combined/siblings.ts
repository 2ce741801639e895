// The other subscriptions that are invoiced together with those of a billing run.
import { and, eq, inArray } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import type { Instant } from '../../../../../shared/time.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { subscriptions as s } from '../../../subscriptions/table.ts'
import { planBilling } from '../billing-plan.ts'
import type { Outcome } from '../run-group.ts'
import { loadStates, type SubscriptionState } from '../subscription-state.ts'
import { combinedWith } from './match.ts'

type States = Map<string, SubscriptionState>

/**
 * The states of these subscriptions, and of those that are combined with one whose period has ended. Where none combines,
 * nothing more is read.
 */
export async function loadStatesTogether(uow: ReadUow, ids: readonly string[], now: Instant): Promise<States> {
  const states = await loadStates(uow, ids)
  const closing = [...states.values()].filter(
    ({ inputs, rows }) => inputs.subscription.combine === true && planBilling(inputs, rows, now).closes,
  )
  if (closing.length === 0) return states
  const wanted = new Set(closing.map(({ inputs }) => combinedWith(inputs)))
  const found = await uow.tx
    .select({ id: s.id })
    .from(s)
    .where(
      and(
        inThisTenant(uow, s),
        inArray(s.customer_id, idsOf('cust', new Set(closing.map(({ inputs }) => inputs.subscription.customer_id)))),
        eq(s.combine, true),
        eq(s.type, 'BILLING'),
        inArray(s.status, ['ACTIVE', 'CANCELLED']),
      ),
    )
    .orderBy(s.id)
  const others = await loadStates(
    uow,
    found.flatMap(({ id }) => (states.has(id) ? [] : [id])),
  )
  const together = [...others].filter(([, { inputs }]) => wanted.has(combinedWith(inputs)))
  return new Map([...states, ...together])
}

/**
 * Removes from `held` those that are combined with one that could not be held; `left` says why not, and takes them too.
 * One that is refused keeps no other waiting. After any other fault, such as a lost connection, the next run may bill all
 * of them, so each is left to a run by itself.
 */
export function leaveTogether(
  all: ReadonlyMap<string, Pick<SubscriptionState, 'inputs'>>,
  held: States,
  left: Map<string, Outcome | null>,
): void {
  for (const [id, { inputs }] of all) {
    const own = combinedWith(inputs)
    const outcome = left.get(id) ?? null
    if (own === null || held.has(id) || isRefused(outcome)) continue
    for (const [other, state] of held) {
      if (combinedWith(state.inputs) !== own) continue
      held.delete(other)
      left.set(other, outcome === null ? null : { kind: 'ALONE' })
    }
  }
}

const isRefused = (outcome: Outcome | null): boolean =>
  outcome?.kind === 'FAILED' && outcome.error instanceof AppError && outcome.error.code !== 'SERVICE_UNAVAILABLE'
