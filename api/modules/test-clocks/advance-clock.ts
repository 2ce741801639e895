// `advance`: moves a test clock on, and does on the way all that falls due of its customers, each at its time and by the very code that
// does it in LIVE. Where it stands is stored after every moment, so that one that was killed is resumed by the next.
import { sql } from 'drizzle-orm'
import { type Actor, inTenant, readTenant, type Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { atTestTime } from '../../../shared/test-time.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../shared/time.ts'
import { extensionsOf } from '../../resource/rules.ts'
import { CLOCK_STEPS, type ClockStep } from '../../test-clock/clock-steps.ts'
import type { BillingDeps } from '../billing/run/compute-invoice.ts'
import { runGroup } from '../billing/run/group/run-group.ts'
import { settleCancelled } from '../billing/run/jobs/group-jobs.ts'
import { runBilling } from '../billing/run/run-billing.ts'
import { engineOf } from '../invoices/tax/answers/with-answers.ts'
import { getClock, moveClock } from '../subscriptions/test-clocks/store-clocks.ts'
import { ClockLease, leaseFrom } from './clock-lease.ts'
import { queryForClock } from './query-for-clock.ts'

/** A call is answered within 25 s, and one run may wait 15 s for usage. */
const BUDGET_MS = 8_000
const DAY_MS = 86_400_000
/** At most so far at once, so that an answer comes in minutes. */
const ADVANCE_MAX_MS = 2 * 366 * DAY_MS
/** How often a run that could not finish is run again. */
const TRIES_MAX = 3
const NOT_FINAL = 'An invoice that is due cannot be made FINAL yet; its validation_result says why.'
/** After that it is looked at again a day later. */
const STUCK_MS = DAY_MS
/** Subscriptions that are billed together. */
const GROUP_MAX = 250

export type Failure = { readonly pricing_plan_subscription_id: string; readonly at: string; readonly message: string }
/** What an advance did. */
export type Advanced = {
  readonly billing_runs: number
  readonly failures: readonly Failure[]
  /** False when the time of a call was over before the clock was where it should be. */
  readonly complete: boolean
}

type Call = { readonly tenant: Tenant; readonly actor: Actor; readonly clockId: string }
type Of = Call & { readonly lease: ClockLease }

/**
 * Moves the clock to `to`, or as far as one call has time for; the next call continues. A subscription that cannot be billed is among the failures and holds up no other. Throws INVALID_FIELD for a
 * time that lies behind or too far ahead, INVALID_OPERATION while another advance is under way.
 */
export async function advanceClock(deps: BillingDeps, call: Call, to: string): Promise<Advanced> {
  const target = at(to)
  const begun = await inTenant(deps.database, call.tenant, call.actor, uow => begin(uow, call.clockId, target))
  const lease = new ClockLease(deps.database, call, begun.until)
  try {
    return await advance(deps, { ...call, lease }, { from: at(begun.time), target })
  } catch (error) {
    // The next call need not wait; where it cannot be stored either, it waits for the end of the lease.
    await lease.end(null).catch(() => undefined)
    throw error
  }
}

type Way = { readonly from: Instant; readonly target: Instant }

async function advance(deps: BillingDeps, of: Of, { from, target }: Way): Promise<Advanced> {
  let time = from
  const state: State = { runs: 0, failures: new Map(), tries: new Map(), notBefore: new Map() }
  const started = performance.now()
  const isOver = (): boolean => performance.now() - started > BUDGET_MS
  const stop = async (): Promise<Advanced> => {
    await of.lease.end(time)
    return { billing_runs: state.runs, failures: [...state.failures.values()], complete: false }
  }
  let isCurrent = false
  for (;;) {
    const due = await dueUntil(deps, of, { target, state })
    const [first] = due
    if (!first) {
      if (isCurrent) break
      // It may wait for usage once more: the next call, for which nothing is due, begins with it.
      if (isOver()) return await stop()
      isCurrent = true
      time = target
      await of.lease.stand(time)
      await billAll(deps, of, { time, state })
      if ((await queryForClock(engineOf(deps), of.tenant, of.clockId)) > 0) await billAll(deps, of, { time, state })
      continue
    }
    if (isOver()) return await stop()
    time = instantOf(Math.max(time, first.at))
    await of.lease.stand(time)
    await takeSteps(deps, of, { time, which: ({ besideBilling }) => besideBilling === 'BEFORE' })
    for (const { id, endsAt } of due.filter(each => each.at <= time))
      await runAt(deps, of, { id, time, state, ends: endsAt !== null && endsAt <= time })
    // What waits for an answer is run again a minute of the clock later.
    await queryForClock(engineOf(deps), of.tenant, of.clockId)
    await takeSteps(deps, of, { time, which: ({ besideBilling }) => besideBilling === 'AFTER' })
  }
  await takeSteps(deps, of, { time: target, which: () => true })
  await of.lease.end(target)
  return { billing_runs: state.runs, failures: [...state.failures.values()], complete: true }
}

type Steps = { readonly time: Instant; readonly which: (step: ClockStep) => boolean }

/** What modules do besides, in the order of the modules. */
async function takeSteps(deps: BillingDeps, { tenant, clockId }: Of, { time, which }: Steps): Promise<void> {
  const given = { ...engineOf(deps), failpoint: deps.failpoint }
  await atTestTime(time, deps.database.clock, async () => {
    for (const step of extensionsOf(deps.database, CLOCK_STEPS).filter(which)) await step.run(given, tenant, clockId)
  })
}

type State = {
  runs: number
  /** By subscription, its last one. */
  readonly failures: Map<string, Failure>
  readonly tries: Map<string, number>
  readonly notBefore: Map<string, Instant>
}

async function begin(uow: Uow, clockId: string, target: Instant): Promise<{ time: string; until: string }> {
  const clock = await getClock(uow, clockId, { lock: true })
  const refuse = (message: string) => {
    throw new AppError('INVALID_FIELD', message, { field: 'frozen_time' })
  }
  if (clock.advancing_until !== null && clock.advancing_until > formatInstant(uow.now)) {
    throw new AppError('INVALID_OPERATION', 'The clock is being advanced already; wait for its answer.', {
      resourceId: clock.id,
    })
  }
  if (target < at(clock.frozen_time)) refuse(`The clock stands at ${clock.frozen_time} and only moves on.`)
  if (target - at(clock.frozen_time) > ADVANCE_MAX_MS) refuse('One advance goes two years at most; send more than one.')
  const until = leaseFrom(uow.now)
  await moveClock(uow, clockId, { advancing_until: until }, clock.advancing_until)
  return { time: clock.frozen_time, until }
}

/**
 * Bills everything once more where the clock comes to stand: a change is followed by a job of the worker, which may not have come to it
 * yet, and what is OPEN has its figures as of then. In groups.
 */
async function billAll(
  deps: BillingDeps,
  of: Of,
  { time, state }: { readonly time: Instant; readonly state: State },
): Promise<void> {
  const { tenant, clockId } = of
  const { rows } = await readTenant(deps.database, tenant, uow =>
    uow.tx.execute<{ id: string }>(sql`
      select s.id from test_clock_customers m
      join pricing_plan_subscriptions s on s.platform_id = ${tenant.platformId} and s.environment = ${tenant.environment}
        and s.customer_id = m.customer_id
      where m.platform_id = ${tenant.platformId} and m.environment = ${tenant.environment} and m.test_clock_id = ${clockId}
        and s.type = 'BILLING' and s.next_billing_at > ${formatInstant(time)}::timestamptz
      order by s.id`),
  )
  const ids = rows.map(({ id }) => id)
  for (let from = 0; from < ids.length; from += GROUP_MAX) {
    const group = ids.slice(from, from + GROUP_MAX)
    const outcomes = await atTestTime(time, deps.database.clock, () => runGroup(deps, tenant, group))
    for (const id of group) {
      const outcome = outcomes.get(id)
      if (outcome?.kind !== 'DONE') await runAt(deps, of, { id, time, state, ends: true })
      else if (outcome.run.isUnfinished) noteFailure(state, { id, time, message: NOT_FINAL })
      else state.failures.delete(id)
    }
  }
}

const noteFailure = (
  state: State,
  { id, time, message }: { readonly id: string; readonly time: Instant; readonly message: string },
): void => {
  state.failures.set(id, { pricing_plan_subscription_id: id, at: formatInstant(time), message })
}

/** `endsAt`: when a cancellation that has not taken effect yet is to. */
type Due = { readonly id: string; readonly at: Instant; readonly endsAt: number | null }

/** What falls due until then, the earliest first. */
async function dueUntil(
  deps: BillingDeps,
  { tenant, clockId }: Of,
  { target, state }: { readonly target: Instant; readonly state: State },
): Promise<Due[]> {
  const here = (table: string) =>
    sql`${sql.raw(table)}.platform_id = ${tenant.platformId} and ${sql.raw(table)}.environment = ${tenant.environment}`
  const { rows } = await readTenant(deps.database, tenant, uow =>
    uow.tx.execute<{ id: string; at: string; ends_at: string | null }>(sql`
      select s.id, (extract(epoch from least(s.next_billing_at, case when s.status = 'ACTIVE' then s.cancelled_at end)) * 1000)::bigint::text as at,
        (extract(epoch from case when s.status = 'ACTIVE' then s.cancelled_at end) * 1000)::bigint::text as ends_at
      from test_clock_customers m
      join pricing_plan_subscriptions s on ${here('s')} and s.customer_id = m.customer_id
      where ${here('m')} and m.test_clock_id = ${clockId} and s.type = 'BILLING' and s.status in ('ACTIVE', 'CANCELLED')
        and least(s.next_billing_at, case when s.status = 'ACTIVE' then s.cancelled_at end)
          <= ${formatInstant(target)}::timestamptz`),
  )
  return rows
    .map(({ id, at: due, ends_at }) => ({
      id,
      at: instantOf(Math.max(Number(due), state.notBefore.get(id) ?? 0)),
      endsAt: ends_at === null ? null : Number(ends_at),
    }))
    .filter(each => each.at <= target)
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
}

/** One subscription at one moment, in the time of the clock. `ends`: its cancellation may take effect now. */
async function runAt(
  deps: BillingDeps,
  { tenant }: Of,
  {
    id,
    time,
    state,
    ends,
  }: { readonly id: string; readonly time: Instant; readonly state: State; readonly ends: boolean },
): Promise<void> {
  state.runs += 1
  const fail = (message: string): void => {
    noteFailure(state, { id, time, message })
    state.notBefore.set(id, instantOf(time + STUCK_MS))
  }
  try {
    const run = await atTestTime(time, deps.database.clock, async () => {
      if (ends) await settleCancelled(deps.database, tenant, id)
      return await runBilling(deps, tenant, id)
    })
    if (!run.isUnfinished) {
      state.tries.delete(id)
      state.failures.delete(id)
      return
    }
    const tries = (state.tries.get(id) ?? 0) + 1
    state.tries.set(id, tries)
    if (tries >= TRIES_MAX) fail(NOT_FINAL)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    fail(error.message)
  }
}
