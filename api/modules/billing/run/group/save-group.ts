// Saves what a run computed of a part of a group: what changed since it was read is left out, and run again.
import { inTenant, SERVICE, type Uow } from '../../../../../shared/database/database.ts'
import { withNamedStatements } from '../../../../../shared/database/statements/named-statements.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { type Id, idsOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { isTestTime } from '../../../../../shared/test-time.ts'
import { formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import { requireClocks } from '../../../../test-clock/test-clock.ts'
import { addedLinesOfMany } from '../../../invoices/added-lines/store-added-lines.ts'
import type { PendingInvoice } from '../../../invoices/changes/pending-invoice.ts'
import { saveTogether } from '../../../invoices/changes/save-together.ts'
import { loadInvoices } from '../../../invoices/repository.ts'
import { lockFunds } from '../../../invoices/settlement/funds.ts'
import { saveInputsOfMany } from '../../../invoices/snapshot/invoice-snapshot.ts'
import { type InvoiceRow, isOpenEnded } from '../../../invoices/table.ts'
import { lockCustomersShared } from '../../../parties/customers/lock-customer.ts'
import { lockSubscriptions, saveNextBillings } from '../../../subscriptions/billing-time/next-billing.ts'
import { saveClosedUsage } from '../../late/closed-usage.ts'
import { savePins } from '../../pinned/store-pinned.ts'
import { CHANGED_MEANWHILE, type Target } from '../advance-invoices.ts'
import { type BillingPlan, isOverdue, nextBilling } from '../billing-plan.ts'
import { type IssuedTogether, inOrderOfPayment, issueTogether } from '../combined/issue-together.ts'
import { alignTargets } from '../combined/match.ts'
import { leaveTogether } from '../combined/siblings.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import type { Outcome } from '../outcome.ts'
import { customersToLock, loadStates, type SubscriptionState } from '../state/subscription-state.ts'
import { type AdvancedTogether, advanceInTurns } from './advance-in-turns.ts'
import type { Prepared } from './prepare-group.ts'

const RETRY_MS = 60_000

type Part = {
  readonly tenant: Tenant
  readonly prepared: ReadonlyMap<string, Prepared>
  readonly complete: boolean
  readonly skip: boolean
  /** Those of this part and those that were not prepared, and the outcomes so far. */
  readonly all: ReadonlyMap<string, SubscriptionState>
  readonly outcomes: ReadonlyMap<string, Outcome | null>
}

/** Saves a part of a group in one transaction. */
export async function savePart(deps: BillingDeps, of: Part): Promise<Map<string, Outcome | null>> {
  await deps.failpoint?.('billing.before-invoice')
  const saved = await inTenant(deps.database, of.tenant, SERVICE, async uow => {
    const found = await save(uow, deps, of)
    await deps.failpoint?.('invoices.before-commit')
    return found
  }).catch((error: unknown) => {
    // A subscription that the database refuses must not keep the others from being billed.
    if (!of.skip || (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')) throw error
    return new Map([...of.prepared.keys()].map((id): [string, Outcome] => [id, { kind: 'ALONE' }]))
  })
  await deps.failpoint?.('billing.after-commit')
  return saved
}

/**
 * Saves the results of subscriptions that did not change since they were read; `runOnce` says what becomes of the
 * others.
 */
async function save(uow: Uow, deps: BillingDeps, of: Part): Promise<Map<string, Outcome | null>> {
  const { prepared, complete } = of
  // The same thirty questions for each part of a group.
  const reading = withNamedStatements(uow)
  const outcomes = new Map<string, Outcome | null>(of.outcomes)
  const states = await lockStates(reading, of, outcomes)
  leaveTogether(of.all, states, outcomes, uow.now)
  const openIds = [...states.values()].flatMap(({ rows }) => rows.filter(isOpenEnded).map(({ id }) => id))
  const open = await loadInvoices(reading, openIds)
  const customerIds = [...states.values()].map(({ inputs }) => inputs.customer.id)
  await requireClocks(reading, customerIds)
  const funds = await lockFunds(reading, { customerIds, invoiceIds: openIds })
  const [any] = states.values()
  const added = any ? await addedLinesOfMany(reading, openIds, any.inputs.platform) : new Map()
  const targetsOf = togetherOf(states, prepared, uow.now)
  const shared = { tenant: of.tenant, now: uow.now, complete, open, funds, added }
  const { advanced, pending, failed } = advanceInTurns(
    new Map(
      [...states].map(([id, state]) => {
        const own = prepared.get(id)
        if (!own) throw new Error(`${id} was not prepared`)
        return [id, { ...own, ...shared, targets: targetsOf.get(id) ?? own.targets, state }]
      }),
    ),
  )
  for (const [id, error] of failed) outcomes.set(id, error === CHANGED_MEANWHILE ? null : { kind: 'FAILED', error })
  const combined = issueTogether(advanced, { tenant: of.tenant, now: uow.now, funds })
  const saved = await saveSteps(uow, { advanced, pending, combined }, deps.failpoint)
  const times = new Map<string, string | null>()
  for (const { id, inputs, step, plan } of advanced) {
    // A test clock stands still between its changes, so its figures do not become stale.
    const refresh = isTestTime() ? { refreshMs: null } : {}
    const fault = combined.faults.get(id)
    if (fault !== undefined) {
      outcomes.set(id, { kind: 'FAILED', error: fault })
      continue
    }
    const again = step.granted || step.issues.some(({ draft }) => combined.waiting.has(draft.row.id))
    const back = comeBack(complete, plan, { now: uow.now, granted: again })
    const isUnfinished = !complete || (back === null && step.rows.some(row => isOverdue(row, uow.now)))
    const nextBillingAt =
      back ?? nextBilling(step.rows, plan.nextOpensAt, uow.now, { ...refresh, platform: inputs.platform })
    times.set(id, nextBillingAt === null ? null : formatInstant(nextBillingAt))
    // The outcomes leave the invoices out: no caller needs them, and they would stay in memory until the last part is saved.
    outcomes.set(id, {
      kind: 'DONE',
      run: { invoices: of.skip ? [] : (saved.get(id) ?? []), nextBillingAt, isUnfinished },
    })
  }
  const [{ positions } = { positions: [] }] = prepared.values()
  // Where an invoice waits for more usage, or for another run, not all of them count usage up to there.
  const countsAll = complete && positions.length > 0 && [...prepared.values()].every(({ truncated }) => !truncated)
  await saveNextBillings(uow, times, countsAll ? positions : undefined)
  return outcomes
}

/** The targets of those that combine, decided together; absent for all others. */
function togetherOf(
  states: ReadonlyMap<string, SubscriptionState>,
  prepared: ReadonlyMap<string, Prepared>,
  now: Instant,
): Map<string, readonly Target[]> {
  const combining = [...states].flatMap(([id, state]) => {
    const own = prepared.get(id)
    return own && state.inputs.subscription.combine ? [[id, { ...own, state }] as const] : []
  })
  return alignTargets(new Map(combining), now)
}

/** Saves what was computed. Returns the invoices of each subscription, and those that they were issued in. */
async function saveSteps(
  uow: Uow,
  {
    advanced,
    pending,
    combined,
  }: Pick<AdvancedTogether, 'advanced' | 'pending'> & { readonly combined: IssuedTogether },
  failpoint: BillingDeps['failpoint'],
): Promise<Map<string, InvoiceRow[]>> {
  const { parts, waiting, invoices } = combined
  const become = (each: PendingInvoice): PendingInvoice => parts.get(each.row.id) ?? each
  const all = inOrderOfPayment(pending.map(become), invoices)
  const rows = await saveTogether(uow, all, failpoint)
  const savedAs = new Map(all.map((each, place) => [each, rows[place]]))
  const closings = advanced.flatMap(({ step }) => step.closings)
  await saveClosedUsage(
    uow,
    closings
      .filter(({ invoiceId }) => !waiting.has(invoiceId))
      .map(closing => ({ combinedIntoId: parts.get(closing.invoiceId)?.row.combined_into_id ?? null, ...closing })),
  )
  const pins = advanced.flatMap(({ step }) => step.pins)
  await savePins(
    uow,
    pins.filter(({ invoiceId }) => !waiting.has(invoiceId)),
  )
  await saveInputsOfMany(
    uow,
    invoices.map(({ pending: made, balances }) => ({ invoiceId: made.row.id, inputs: { balances } })),
  )
  const documents = invoices.flatMap(({ pending: made }) => savedAs.get(made) ?? [])
  return new Map(
    advanced.map(({ id, step }) => {
      const own = step.pending.flatMap(each => savedAs.get(become(each)) ?? [])
      const issuedIn = new Set<string | null>(own.map(row => row.combined_into_id))
      return [id, [...own, ...documents.filter(row => issuedIn.has(row.id))]]
    }),
  )
}

/** Locks the subscriptions, reads them again, and returns those that did not change. */
async function lockStates(
  uow: Uow,
  { prepared, skip }: Part,
  outcomes: Map<string, Outcome | null>,
): Promise<Map<string, SubscriptionState>> {
  const locked = await lockSubscriptions(uow, idsOf('ppsu', prepared.keys()), { skip })
  const customersOf = (id: Id<'ppsu'>): Id<'cust'>[] => {
    const own = prepared.get(id)
    return own ? customersToLock(own.state.inputs) : []
  }
  const customers = await lockCustomersShared(uow, locked.flatMap(customersOf), { skip })
  const held = locked.filter(id => customersOf(id).every(customerId => customers.has(customerId)))
  const states = await loadStates(uow, held)
  for (const [id, { state }] of prepared) {
    const now = states.get(id)
    if (now?.hash === state.hash) {
      // The one that was prepared is the same, and what follows from its inputs alone is remembered with them.
      states.set(id, { ...state, ahead: now.ahead })
      continue
    }
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
