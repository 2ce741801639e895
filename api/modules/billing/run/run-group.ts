// Bills many subscriptions of a tenant at once: their inputs are read in a few statements, their usage in one, and the
// results are saved in one transaction. Usage is read between two transactions, never inside one. So the inputs are
// compared with the current ones when the results are saved, and a subscription that changed meanwhile is run again.

import { type Actor, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { isTestTime } from '../../../../shared/test-time.ts'
import { formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import { extensionsOf } from '../../../resource/rules.ts'
import { requireClocks } from '../../../test-clock.ts'
import { addedLinesOfMany } from '../../invoices/added-lines/store-added-lines.ts'
import type { PendingInvoice } from '../../invoices/changes/pending-invoice.ts'
import { saveTogether } from '../../invoices/changes/save-together.ts'
import { missing } from '../../invoices/document/load-parties.ts'
import { openPurse } from '../../invoices/funds.ts'
import { loadInvoices } from '../../invoices/repository.ts'
import { type InvoiceRow, isOpenEnded } from '../../invoices/table.ts'
import { holdCustomers } from '../../parties/customers/hold-customer.ts'
import { lockSubscriptions, saveNextBillings } from '../../subscriptions/next-billing.ts'
import { type Closing, saveClosedUsage } from '../late/closed-usage.ts'
import { CORRECTIONS } from '../late/corrected/place.ts'
import type { Pin } from '../pinned/pinned.ts'
import { savePins } from '../pinned/store-pinned.ts'
import { type Advanced, advanceInvoices, heldFor } from './advance-invoices.ts'
import { type BillingPlan, nextBilling, planBilling } from './billing-plan.ts'
import type { BillingDeps } from './compute-invoice.ts'
import { type Prepared, prepare, TOO_SLOW } from './prepare-group.ts'
import { loadStates, type SubscriptionState } from './subscription-state.ts'

export type BillingRun = {
  /** The invoices that the run processed, as it left them. */
  readonly invoices: readonly InvoiceRow[]
  /** When the next run is due; null when nothing more will be due. */
  readonly nextBillingAt: Instant | null
}

/**
 * The outcome for one subscription of a group. ALONE: it was locked, slow to read, kept changing, or failed together
 * with others, and is to be run by itself.
 */
export type Outcome =
  | { readonly kind: 'DONE'; readonly run: BillingRun }
  | { readonly kind: 'FAILED'; readonly error: unknown }
  | { readonly kind: 'ALONE' }

export const ACTOR: Actor = { id: null, requestId: null }
const RETRY_MS = 60_000
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
  readMs = READ_MS,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const skip = subscriptionIds.length > 1
  let left = [...new Set(subscriptionIds)]
  for (let attempt = 0; attempt < ATTEMPTS_MAX && left.length > 0; attempt += 1) {
    const found = await runOnce(deps, tenant, { ids: left, skip, readMs: skip ? readMs : null })
    for (const [id, outcome] of found) if (outcome) outcomes.set(id, outcome)
    left = left.filter(id => !outcomes.has(id))
  }
  for (const id of left) outcomes.set(id, skip ? { kind: 'ALONE' } : { kind: 'FAILED', error: keepsChanging() })
  return outcomes
}

const keepsChanging = (): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'What the invoices are computed from keeps changing; send it again.', {
    retryAfterSeconds: 1,
  })

/** One attempt. Null for a subscription that changed while its usage was read. */
async function runOnce(
  deps: BillingDeps,
  tenant: Tenant,
  of: { readonly ids: readonly string[]; readonly skip: boolean; readonly readMs: number | null },
): Promise<Map<string, Outcome | null>> {
  const { ids, skip, readMs } = of
  const states = await readTenant(deps.database, tenant, uow => loadStates(uow, ids))
  const outcomes = new Map<string, Outcome | null>()
  for (const id of ids)
    if (!states.has(id)) outcomes.set(id, { kind: 'FAILED', error: missing('PRICING_PLAN_SUBSCRIPTION', id) })
  const uncorrected = await correctLate(deps, tenant, states)
  for (const [id, error] of uncorrected) outcomes.set(id, { kind: 'FAILED', error })
  const sound = new Map([...states].filter(([id]) => !uncorrected.has(id)))
  const { prepared, failed, complete } = await prepare(deps, tenant, { states: sound, readMs })
  for (const [id, error] of failed) outcomes.set(id, error === TOO_SLOW ? { kind: 'ALONE' } : { kind: 'FAILED', error })
  if (prepared.size === 0) return outcomes
  await deps.failpoint?.('billing.before-invoice')
  const saved = await inTenant(deps.database, tenant, ACTOR, async uow => {
    const found = await save(uow, deps, { tenant, prepared, complete, skip })
    await deps.failpoint?.('invoices.before-commit')
    return found
  }).catch((error: unknown) => {
    // A subscription that the database refuses must not keep the others from being billed.
    if (!skip || (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')) throw error
    return new Map([...prepared.keys()].map((id): [string, Outcome] => [id, { kind: 'ALONE' }]))
  })
  await deps.failpoint?.('billing.after-commit')
  return new Map([...outcomes, ...saved])
}

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
  const [prepareOf] = await readTenant(deps.database, tenant, async uow => extensionsOf(uow, CORRECTIONS))
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

type Save = {
  readonly tenant: Tenant
  readonly prepared: ReadonlyMap<string, Prepared>
  readonly complete: boolean
  readonly skip: boolean
}

/**
 * Saves the results of subscriptions that did not change since they were read; `runOnce` says what becomes of the
 * others.
 */
async function save(uow: Uow, deps: BillingDeps, of: Save): Promise<Map<string, Outcome | null>> {
  const { prepared, complete } = of
  const outcomes = new Map<string, Outcome | null>()
  const states = await holdStates(uow, of, outcomes)
  const openIds = [...states.values()].flatMap(({ rows }) => rows.filter(isOpenEnded).map(({ id }) => id))
  const open = await loadInvoices(uow, openIds)
  const customerIds = [...states.values()].map(({ inputs }) => inputs.customer.id)
  await requireClocks(uow, customerIds)
  const purse = await openPurse(uow, { customerIds, invoiceIds: openIds })
  const [any] = states.values()
  const added = any ? await addedLinesOfMany(uow, openIds, any.inputs.platform) : new Map()
  const pending: PendingInvoice[] = []
  const closings: Closing[] = []
  const pins: Pin[] = []
  const advanced: [string, Advanced, BillingPlan][] = []
  for (const [id, state] of states) {
    try {
      const own = prepared.get(id)
      if (!own) throw new Error(`${id} was not prepared`)
      const step = advanceInvoices({ ...own, tenant: of.tenant, now: uow.now, state, complete, open, purse, added })
      advanced.push([id, step, planBilling(state.inputs, step.rows, uow.now)])
      pending.push(...step.pending)
      closings.push(...step.closings)
      pins.push(...step.pins)
    } catch (error) {
      outcomes.set(id, { kind: 'FAILED', error })
    }
  }
  const rows = await saveTogether(uow, pending, deps.failpoint)
  await saveClosedUsage(uow, closings)
  await savePins(uow, pins)
  const times = new Map<string, string | null>()
  let place = 0
  for (const [id, step, plan] of advanced) {
    // A test clock stands still between its changes, so its figures do not become stale.
    const refreshMs = isTestTime() ? null : undefined
    const nextBillingAt =
      comeBack(complete, plan, { now: uow.now, granted: step.granted }) ??
      nextBilling(step.rows, plan.nextOpensAt, uow.now, refreshMs)
    times.set(id, nextBillingAt === null ? null : formatInstant(nextBillingAt))
    const invoices = rows.slice(place, place + step.pending.length)
    place += step.pending.length
    outcomes.set(id, { kind: 'DONE', run: { invoices, nextBillingAt } })
  }
  await saveNextBillings(uow, times)
  return outcomes
}

/** Locks the subscriptions, reads them again, and returns those that did not change. */
async function holdStates(
  uow: Uow,
  { prepared, skip }: Save,
  outcomes: Map<string, Outcome | null>,
): Promise<Map<string, SubscriptionState>> {
  const locked = await lockSubscriptions(uow, idsOf('ppsu', prepared.keys()), { skip })
  const customersOf = (id: Id<'ppsu'>): Id<'cust'>[] => {
    const own = prepared.get(id)
    return own ? heldFor(own.state.inputs) : []
  }
  const customers = await holdCustomers(uow, locked.flatMap(customersOf), { skip })
  const held = locked.filter(id => customersOf(id).every(customerId => customers.has(customerId)))
  const states = await loadStates(uow, held)
  for (const [id, { state }] of prepared) {
    const now = states.get(id)
    if (now?.hash === state.hash) continue
    states.delete(id)
    // The next attempt finds out which were deleted and which changed.
    outcomes.set(id, skip && !held.some(each => each === id) ? { kind: 'ALONE' } : null)
  }
  return states
}

/** When the next run is due because this one could not process everything; null when it could. */
function comeBack(
  complete: boolean,
  plan: BillingPlan,
  { now, granted }: { readonly now: Instant; readonly granted: boolean },
): Instant | null {
  if (!complete) return instantOf(now + RETRY_MS)
  return granted || plan.moving > 0 ? now : null
}
