// Prepares a group of subscriptions: decides which of their invoices to process, and reads the usage of all of them at
// once.
import { setTimeout as sleep } from 'node:timers/promises'
import { readTenant } from '../../../../../shared/database/database.ts'
import { withNamedStatements } from '../../../../../shared/database/statements/named-statements.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import type { Instant } from '../../../../../shared/time.ts'
import type { Charge } from '../../charges/charge.ts'
import { chargesOf } from '../../charges/charges.ts'
import type { ClosedUsage } from '../../late/closed-usage.ts'
import { type ChangedUnit, findLateUnits, lateChargesOf } from '../../late/late-charges.ts'
import { type PriceTerm, resolveTerms } from '../../terms/price-terms.ts'
import { invoiceWindows } from '../../terms/windows.ts'
import { changedNeeds, exactlyUpTo, settleMarks } from '../../usage/exact-usage.ts'
import { usageNeeds } from '../../usage/usage-needs.ts'
import { type ReadingProgress, type ReadUsage, readUsage } from '../../usage/usage-reader.ts'
import { mayClose, type Target } from '../advance-invoices.ts'
import { type BillingPlan, planBilling } from '../billing-plan.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { windowsOfKeys } from '../state/subscription-invoices.ts'
import { loadClosed, type SubscriptionState } from '../state/subscription-state.ts'
import { countedBefore, type DraftToCheck, draftsToCheck } from './unchanged-drafts.ts'

/** A subscription with everything that its invoices are computed from. */
export type Prepared = {
  readonly state: SubscriptionState
  readonly terms: readonly PriceTerm[]
  readonly targets: readonly Target[]
  /** Whether it has more invoices than one run processes. */
  readonly truncated: boolean
  readonly closed: readonly ClosedUsage[]
  readonly late: readonly ChangedUnit[]
  readonly usage: ReadUsage
  readonly positions: readonly number[]
  /** Everything accepted before this instant is in `usage`; null where that is not known. */
  readonly countedUntil: Instant | null
}

export type PreparedGroup = {
  readonly prepared: Map<string, Prepared>
  /** Why the others cannot be billed. */
  readonly failed: ReadonlyMap<string, unknown>
  /** Whether usage up to now can be read; if not, nothing closes. */
  readonly complete: boolean
}

/** Most invoices of a subscription that one run processes; the rest waits for the next run, which is due at once. */
const STEPS_MAX = 24
const SETTLE_MS = 15_000
const NO_USAGE: ReadUsage = { usage: new Map(), usageByCustomer: null }

type Planned = Omit<Prepared, 'late' | 'usage' | 'positions' | 'countedUntil'> & {
  readonly charges: readonly Charge[]
  /** The charges of invoices that may close. */
  readonly closing: readonly Charge[]
  /** Those of its first invoices that are computed again only where their usage changed. */
  readonly drafts: readonly DraftToCheck[]
}

/** Why a subscription was left out: its usage did not arrive in time, so it is read by itself. */
export const TOO_SLOW = new Error('its usage was not read in time')

/**
 * Plans these subscriptions and reads their usage. Throws when the shared data cannot be read. Subscriptions whose
 * usage takes longer than `readMs` fail as TOO_SLOW; with null there is no limit.
 */
export async function prepare(
  deps: BillingDeps,
  tenant: Tenant,
  {
    states,
    now,
    readMs,
    computesAll = false,
  }: {
    readonly states: ReadonlyMap<string, SubscriptionState>
    /** Nothing closes that may close only later. */
    readonly now: Instant
    readonly readMs: number | null
    /** Computes every DRAFT, also one whose usage did not change. */
    readonly computesAll?: boolean
  },
): Promise<PreparedGroup> {
  const failed = new Map<string, unknown>()
  const kept = <T>(id: string, work: () => T): T | null => attempt(failed, id, work)
  const plans = [...states].flatMap(([id, state]): [string, BillingPlan][] => {
    const plan = kept(id, () => planBilling(state.inputs, state.rows, now))
    return plan ? [[id, plan]] : []
  })
  const closes = plans.some(([, plan]) => plan.closes)
  const isBusy = plans.some(([, plan]) => plan.keys.length > 0)
  const { complete, progress } = await settled(deps, { closes, isBusy })
  const busy = new Map(plans.flatMap(([id, { keys }]) => (keys.length > 0 ? [[id, states.get(id)] as const] : [])))
  const closed = await readTenant(deps.database, tenant, uow =>
    loadClosed(
      withNamedStatements(uow),
      new Map([...busy].flatMap(([id, state]) => (state ? [[id, state] as const] : []))),
    ),
  )
  const planned = plans.flatMap(([id, plan]): [string, Planned][] => {
    const state = states.get(id)
    if (!state) return []
    const own = kept(id, () => planOf(state, plan, { now, complete, closed: closed.get(id) ?? [], computesAll }))
    return own ? [[id, own]] : []
  })
  const prepared = await readAll(deps, tenant, { planned: new Map(planned), progress, failed, readMs })
  return { prepared, failed, complete }
}

const NO_PROGRESS: ReadingProgress = { positions: [], upToDateUntil: null, isComplete: false }

/**
 * How far usage can be read, determined before it is read, so that everything up to there is in it. Where an invoice may close it waits
 * until usage up to now can be; `complete` is false when that takes too long.
 */
async function settled(
  { usage, database }: BillingDeps,
  { closes, isBusy }: { readonly closes: boolean; readonly isBusy: boolean },
): Promise<{ readonly complete: boolean; readonly progress: ReadingProgress }> {
  if (!isBusy) return { complete: true, progress: NO_PROGRESS }
  const progress = await usage.progress(database.clock)
  // Mostly nothing is on its way, and then nothing is waited for.
  if (!closes || progress.isComplete) return { complete: true, progress }
  const complete = await usage.settle(SETTLE_MS)
  return { complete, progress: await usage.progress(database.clock) }
}

function attempt<T>(failed: Map<string, unknown>, id: string, work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    failed.set(id, error)
    return null
  }
}

function planOf(
  state: SubscriptionState,
  plan: BillingPlan,
  of: {
    readonly now: Instant
    readonly complete: boolean
    readonly closed: readonly ClosedUsage[]
    readonly computesAll: boolean
  },
): Planned {
  const { now, complete, closed, computesAll } = of
  const keys = plan.keys.slice(0, STEPS_MAX)
  const terms = keys.length === 0 ? [] : resolveTerms(state.inputs)
  const windows = windowsOfKeys(invoiceWindows(state.inputs), keys)
  const targets = keys
    .map((key): Target => {
      const window = windows.get(key) ?? null
      return { key, window, closes: complete && mayClose(state, { key, window }, now) }
    })
    // The keys are in order of importance, since a run takes only so many. Wallets pay the invoice that ends first.
    .toSorted((a, b) => endOf(a) - endOf(b))
  // What other invoices bill in advance is known only after the earlier invoices are computed; it has no usage.
  const charged = targets.map(target => ({
    target,
    charges: target.window ? chargesOf(terms, target.window, new Set()) : [],
  }))
  const on = (list: typeof charged): Charge[] => list.flatMap(({ charges }) => charges)
  const truncated = plan.keys.length > keys.length
  return {
    state,
    terms,
    targets,
    truncated,
    closed,
    charges: on(charged),
    closing: on(charged.filter(({ target }) => target.closes)),
    drafts: computesAll ? [] : draftsToCheck(state, closed, charged),
  }
}

const endOf = ({ window }: Target): number => window?.cutoffAt ?? 0

type Reading = {
  readonly planned: ReadonlyMap<string, Planned>
  readonly progress: ReadingProgress
  readonly failed: Map<string, unknown>
  /** How long to wait for one step of reading; null for no limit. */
  readonly readMs: number | null
}

/** Reads step by step, each step for all subscriptions at once, so that each step is one statement. */
async function readAll(deps: BillingDeps, tenant: Tenant, of: Reading): Promise<Map<string, Prepared>> {
  const { planned } = of
  const { positions, upToDateUntil } = of.progress
  const late = await each(planned, of, ({ state: { inputs }, terms, closed }) =>
    findLateUnits(deps, { tenant, inputs, terms, closed, positions }),
  )
  const unchanged = upToDateUntil === null ? new Map<string, number>() : await countUnchanged(deps, tenant, of, late)
  const withLate = new Map(
    [...late].flatMap(([id, units]) => {
      const found = planned.get(id)
      if (!found) return []
      const own = withFirstUnchanged(found, unchanged.get(id) ?? 0)
      const more = chargesIn(units)
      const closing = own.closing.length === 0 ? [] : [...own.closing, ...more]
      return [[id, { late: units, ...own, charges: [...own.charges, ...more], closing }] as const]
    }),
  )
  const read = await each(withLate, of, ({ state: { inputs }, charges }) =>
    charges.length === 0 ? Promise.resolve(NO_USAGE) : readUsage(deps, { tenant, inputs, charges }),
  )
  const closing = new Map(
    [...withLate].filter(([id, own]) => read.has(id) && own.closing.some(({ usage }) => usage !== null)),
  )
  // After everything was read, so that the marks of all of it exist.
  const marked = closing.size === 0 ? 'NOTHING_CAME' : await settleMarks(deps.usage, positions)
  const exact = await each(closing, of, ({ state: { inputs }, closing: charges }, id) =>
    exactlyUpTo(deps, { tenant, inputs, charges, positions, read: read.get(id) ?? NO_USAGE, marked }),
  )
  return new Map(
    [...withLate].flatMap(
      ([id, { charges: _charges, closing: _closing, drafts: _drafts, ...own }]): [string, Prepared][] => {
        const usage = exact.get(id) ?? read.get(id)
        return usage && !of.failed.has(id) ? [[id, { usage, positions, countedUntil: upToDateUntil, ...own }]] : []
      },
    ),
  )
}

/** How many of its first invoices each subscription need not compute again: no usage that they count has changed since the last run. */
async function countUnchanged(
  deps: BillingDeps,
  tenant: Tenant,
  of: Reading,
  late: ReadonlyMap<string, readonly ChangedUnit[]>,
): Promise<ReadonlyMap<string, number>> {
  const candidates = new Map(
    [...of.planned].flatMap(([id, { state, drafts }]) =>
      drafts.length > 0 && late.get(id)?.length === 0 ? [[id, { state, drafts }] as const] : [],
    ),
  )
  const counted = await countedBefore(deps, tenant, candidates)
  const known = new Map([...candidates].filter(([id]) => counted.has(id)))
  return await each(known, of, async ({ state: { inputs }, drafts }, id) => {
    const needs = drafts.map(({ charges }) => usageNeeds(charges))
    const positions = counted.get(id) ?? []
    const all = needs.flat()
    const changed = all.length === 0 ? [] : await changedNeeds(deps.usage, { tenant, inputs, needs: all, positions })
    const first = needs.findIndex(own => own.some(need => changed.includes(need)))
    return first < 0 ? drafts.length : first
  })
}

/** The same without the usage of its first `count` invoices, which did not change. */
function withFirstUnchanged(own: Planned, count: number): Planned {
  if (count === 0) return own
  const targets = own.targets.map((target, place) =>
    place < count ? { ...target, isUnchanged: true as const } : target,
  )
  const left = new Set(own.drafts.slice(0, count).flatMap(({ charges }) => charges))
  return { ...own, targets, charges: own.charges.filter(charge => !left.has(charge)) }
}

/** A key that no invoice has: what is read for a charge does not depend on it. */
const chargesIn = (units: readonly ChangedUnit[]): Charge[] => lateChargesOf(units, '').map(({ charge }) => charge)

/** Runs `act` for each at once. An item that fails or takes too long is kept with its reason; the others continue. */
async function each<T, U>(
  all: ReadonlyMap<string, T>,
  { failed, readMs }: Pick<Reading, 'failed' | 'readMs'>,
  work: (one: T, id: string) => Promise<U>,
): Promise<Map<string, U>> {
  const done = new Map<string, U>()
  const stop = new AbortController()
  const over =
    readMs === null ? [] : [sleep(readMs, TOO_SLOW, { signal: stop.signal }).then(error => Promise.reject(error))]
  for (const one of over) one.catch(() => undefined) // those that wait hear of it
  await Promise.all(
    [...all].map(async ([id, one]) => {
      try {
        done.set(id, await Promise.race([work(one, id), ...over]))
      } catch (error) {
        failed.set(id, error)
      }
    }),
  )
  stop.abort()
  return done
}
