// Bills many subscriptions of a tenant at once: their inputs are read in a few statements, their usage in one, and the
// results are saved in a few transactions. Usage is read between two transactions, never inside one. So the inputs are
// compared with the current ones when the results are saved, and a subscription that changed meanwhile is run again.
import { readTenant } from '../../../../../shared/database/database.ts'
import { withNamedStatements } from '../../../../../shared/database/statements/named-statements.ts'
import { AppError } from '../../../../../shared/errors.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { extensionsOf } from '../../../../resource/rules.ts'
import { missing } from '../../../invoices/document/load-parties.ts'
import { CORRECTIONS } from '../../late/corrected/place.ts'
import { loadStatesTogether } from '../combined/siblings.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import type { Outcome } from '../outcome.ts'
import { wakeMissed } from '../state/followed-usage.ts'
import type { SubscriptionState } from '../state/subscription-state.ts'
import { waitBeforeAttempt } from '../wait-before-attempt.ts'
import { followZones } from './follow-zones.ts'
import { PART_MAX, partsOf } from './part-group.ts'
import { type Prepared, prepare, TOO_SLOW } from './prepare-group.ts'
import { savePart } from './save-group.ts'

/**
 * A group is normally read in moments. If a statement takes longer, some subscription in it is slow to read: each is
 * then read by itself.
 */
const READ_MS = 30_000
const ATTEMPTS_MAX = 5

/**
 * Brings the invoices of these subscriptions up to date. Idempotent: run twice, or by two workers, it gives the same
 * invoices and numbers. A subscription that cannot be billed is FAILED and delays no other; throws only when nothing
 * can be read or saved.
 */
export async function runGroup(
  deps: BillingDeps,
  tenant: Tenant,
  subscriptionIds: readonly string[],
  { readMs = READ_MS, partMax = PART_MAX }: { readonly readMs?: number; readonly partMax?: number } = {},
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const skip = subscriptionIds.length > 1
  let left = [...new Set(subscriptionIds)]
  for (let attempt = 0; attempt < ATTEMPTS_MAX && left.length > 0; attempt += 1) {
    await waitBeforeAttempt(attempt)
    const computesAll = attempt > 0
    const found = await runOnce(deps, tenant, { ids: left, skip, readMs: skip ? readMs : null, partMax, computesAll })
    for (const [id, outcome] of found) if (outcome) outcomes.set(id, outcome)
    left = left.filter(id => !outcomes.has(id))
  }
  for (const id of left) outcomes.set(id, skip ? { kind: 'ALONE' } : { kind: 'FAILED', error: keepsChanging() })
  return outcomes
}

const keepsChanging = (): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'What the invoices are computed from keeps changing; send the request again.', {
    retryAfterSeconds: 1,
  })

/** One attempt. Null for a subscription that changed while its usage was read. */
async function runOnce(
  deps: BillingDeps,
  tenant: Tenant,
  of: {
    readonly ids: readonly string[]
    readonly skip: boolean
    readonly readMs: number | null
    readonly partMax: number
    readonly computesAll: boolean
  },
): Promise<Map<string, Outcome | null>> {
  const { ids, skip, readMs, partMax, computesAll } = of
  // One time for both: what may close only later was not read with what it is combined with.
  const now = deps.database.clock.now()
  const { states, alone } = await readTenant(deps.database, tenant, uow =>
    loadStatesTogether(withNamedStatements(uow), ids, now),
  )
  const outcomes = new Map<string, Outcome | null>([...alone].map(id => [id, { kind: 'ALONE' }]))
  for (const id of ids)
    if (!states.has(id) && !alone.has(id))
      outcomes.set(id, { kind: 'FAILED', error: missing('PRICING_PLAN_SUBSCRIPTION', id) })
  const moved = await followZones(deps.database, tenant, states)
  for (const [id, outcome] of moved) outcomes.set(id, outcome)
  const uncorrected = await correctLate(deps, tenant, states)
  for (const [id, error] of uncorrected) outcomes.set(id, { kind: 'FAILED', error })
  const sound = new Map([...states].filter(([id]) => !uncorrected.has(id) && !moved.has(id)))
  const { prepared, failed, complete } = await prepare(deps, tenant, { states: sound, now, readMs, computesAll })
  for (const [id, error] of failed) outcomes.set(id, error === TOO_SLOW ? { kind: 'ALONE' } : { kind: 'FAILED', error })
  const unprepared = [...states].filter(([id]) => !prepared.has(id))
  const [{ positions } = { positions: [] }] = prepared.values()
  // One that is run by itself brings those that it is combined with.
  for (const ids of partsOf(prepared, skip ? partMax : Number.POSITIVE_INFINITY)) {
    const part = new Map<string, Prepared>()
    for (const id of ids) {
      const own = prepared.get(id)
      if (own) part.set(id, own)
      // What is saved is not kept until the last of the group is.
      prepared.delete(id)
    }
    const all = new Map([...unprepared, ...[...part].map(([id, { state }]) => [id, state] as const)])
    const saved = await savePart(deps, { tenant, prepared: part, complete, skip, all, outcomes })
    for (const [id, outcome] of saved) outcomes.set(id, outcome)
  }
  // Usage that came meanwhile belongs to them as well.
  for (const id of positions.length === 0 ? [] : await wakeMissed(deps, tenant, { ids: doneIn(outcomes), positions })) {
    const outcome = outcomes.get(id)
    if (outcome?.kind === 'DONE') outcomes.set(id, { kind: 'DONE', run: { ...outcome.run, nextBillingAt: now } })
  }
  return outcomes
}

const doneIn = (outcomes: ReadonlyMap<string, Outcome | null>): string[] =>
  [...outcomes].flatMap(([id, outcome]) => (outcome?.kind === 'DONE' ? [id] : []))

/**
 * Before the run, so that one that is killed here is run again. `rows` are empty for a subscription that was never
 * billed. Returns why subscriptions could not be corrected; throws only when nothing can be read.
 */
async function correctLate(
  deps: BillingDeps,
  tenant: Tenant,
  states: ReadonlyMap<string, SubscriptionState>,
): Promise<ReadonlyMap<string, unknown>> {
  const failed = new Map<string, unknown>()
  const own = [...states].filter(
    ([, { inputs, rows }]) => inputs.platform.late_event_policy === 'CREDIT_AND_REBILL' && rows.length > 0,
  )
  if (own.length === 0) return failed
  const [prepareOf] = extensionsOf(deps.database, CORRECTIONS)
  for (const [id, { inputs }] of own) {
    try {
      await prepareOf?.(deps, tenant, inputs)
    } catch (error) {
      // What keeps one subscription from being corrected must not keep the others from being billed.
      if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') throw error
      failed.set(id, error)
    }
  }
  return failed
}
