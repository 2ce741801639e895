// The other subscriptions that are invoiced together with those of a billing run.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { type Id, idsOf } from '../../../../../shared/ids.ts'
import { at, type Instant } from '../../../../../shared/time.ts'
import { planBilling } from '../billing-plan.ts'
import type { Outcome, WaitsFor } from '../outcome.ts'
import { loadStates, type SubscriptionState } from '../state/subscription-state.ts'
import { COMBINED_MAX, combinedWith } from './match.ts'

type States = Map<string, SubscriptionState>

/** A run reads at most this many more subscriptions. Each of the others is run by itself, and reads one set. */
const OTHERS_MAX = 1_000

/**
 * The states of these subscriptions at `now`, and of those that are combined with one that may become FINAL. Where none
 * may, nothing more is read. `alone`: those that are to be run by themselves, because more is combined with all of these
 * than one run reads.
 */
export async function loadStatesTogether(
  uow: ReadUow,
  ids: readonly string[],
  now: Instant,
): Promise<{ readonly states: States; readonly alone: ReadonlySet<string> }> {
  const states = await loadStates(uow, ids)
  const issuing = [...states.values()].filter(
    ({ inputs, rows }) => inputs.subscription.combine === true && planBilling(inputs, rows, now).issues,
  )
  if (issuing.length === 0) return { states, alone: new Set() }
  const wanted = new Set(issuing.map(({ inputs }) => combinedWith(inputs)))
  const sets = await loadSets(uow, idsOf('ppsu', new Set(issuing.map(({ inputs }) => inputs.subscription.id))))
  const { others, alone } = chooseSets(sets, new Set(states.keys()), OTHERS_MAX)
  const loaded = await loadStates(uow, others)
  const together = [...loaded].filter(([, { inputs }]) => wanted.has(combinedWith(inputs)))
  const own = [...states].filter(([id]) => !alone.has(id))
  return { states: new Map([...own, ...together]), alone }
}

/** The subscriptions that may be combined with this one, itself among them; empty for one that does not combine. */
export const siblingsOf = async (uow: ReadUow, id: Id<'ppsu'>): Promise<Id<'ppsu'>[]> =>
  idsOf('ppsu', (await loadSets(uow, [id]))[0] ?? [])

/**
 * The sets of subscriptions that may be combined and have one of these. A set has at most COMBINED_MAX, in the order of
 * their ids, and only such as agree in what a statement can compare; `combinedWith` compares all of it.
 */
async function loadSets(uow: ReadUow, ids: readonly Id<'ppsu'>[]): Promise<string[][]> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ ids: string[] }>(sql`
    with placed as (
      select id, customer_id, forward_customer_id, billing_currency, billing_entity_id, variant, purchase_order_number,
        (row_number() over (
          partition by customer_id, forward_customer_id, billing_currency, billing_entity_id, variant, purchase_order_number
          order by id) - 1) / ${COMBINED_MAX}::int as part
      from pricing_plan_subscriptions
      where platform_id = ${platformId} and environment = ${environment}
        and customer_id in (select customer_id from pricing_plan_subscriptions
          where platform_id = ${platformId} and environment = ${environment} and id = any(${sql.param(ids)}))
        and combine and type = 'BILLING' and status in ('ACTIVE', 'CANCELLED'))
    select array_agg(id order by id) as ids from placed
    group by customer_id, forward_customer_id, billing_currency, billing_entity_id, variant, purchase_order_number, part
    having bool_or(id = any(${sql.param(ids)}))
    order by min(id)`)
  return rows.map(row => row.ids)
}

/**
 * Which others a run that has `own` reads: those of whole sets, as long as there are at most `max` of them, and always those
 * of the first. The members of `own` in other sets are left alone. Pure.
 */
export function chooseSets(
  sets: readonly (readonly string[])[],
  own: ReadonlySet<string>,
  max: number,
): { readonly others: readonly string[]; readonly alone: ReadonlySet<string> } {
  const others: string[] = []
  const alone = new Set<string>()
  for (const [place, set] of sets.entries()) {
    const more = set.filter(id => !own.has(id))
    if (place === 0 || others.length + more.length <= max) others.push(...more)
    else for (const id of set) if (own.has(id)) alone.add(id)
  }
  return { others, alone }
}

/**
 * Removes from `held` those that are combined with one that could not be held; `left` says why not, and takes them too.
 * One that is refused keeps no other waiting. After any other fault, such as a lost connection, the next run may bill all
 * of them, so each is left to a run by itself; one whose invoice has waited for a day no longer
 * does.
 */
export function leaveTogether(
  all: ReadonlyMap<string, Pick<SubscriptionState, 'inputs'>>,
  held: States,
  left: Map<string, Outcome | null>,
  now: Instant,
): void {
  for (const [id, { inputs }] of all) {
    const own = combinedWith(inputs)
    const outcome = left.get(id) ?? null
    if (own === null || held.has(id) || isRefused(outcome)) continue
    for (const [other, state] of held) {
      if (combinedWith(state.inputs) !== own) continue
      if (outcome?.kind === 'FAILED' && isLate(state, now)) continue
      held.delete(other)
      left.set(other, outcome && { kind: 'ALONE', ...waitsFor(id, outcome) })
    }
  }
}

/**
 * How long invoices wait for one that they are combined with and that cannot be billed, from the first run that it kept waiting: one
 * that is late for another reason does not issue without the others at the first fault.
 */
export const LATE_MS = 86_400_000

const isLate = ({ rows }: Pick<SubscriptionState, 'rows'>, now: Instant): boolean =>
  rows.some(({ status, combine_fault_at: since }) => status === 'DRAFT' && since !== null && at(since) + LATE_MS <= now)

const waitsFor = (subscriptionId: string, outcome: Outcome): { readonly waitsFor?: WaitsFor } =>
  outcome.kind === 'FAILED' ? { waitsFor: { subscriptionId, error: outcome.error } } : {}

const isRefused = (outcome: Outcome | null): boolean =>
  outcome?.kind === 'FAILED' && outcome.error instanceof AppError && outcome.error.code !== 'SERVICE_UNAVAILABLE'
