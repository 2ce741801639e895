// What is watched of a subscription: which rules, over which time, against what is granted. Pure.
import { createHash } from 'node:crypto'
import {
  carriedOn,
  isPersistable,
  type PersistedUsage,
  persistedUsageAt,
} from '../../../../shared/billing/persisted-usage.ts'
import { usageInterval } from '../../../../shared/billing/usage-interval.ts'
import { at, formatInstant, type Instant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { CustomerMark } from '../../../usage/changes/latest-marks.ts'
import type { CalculationInput, ScheduleInput } from '../../billing/terms/billing-inputs.ts'
import { countedSchedules } from '../../billing/terms/carried-usage.ts'
import { type PeriodInputs, wholePeriodAt } from '../../billing/terms/windows.ts'
import type { UsageFigure } from '../../billing/usage/usage-needs.ts'
import type { Grant } from '../../catalog/features/schema.ts'
import type { RuleEntitlement } from '../schema.ts'
import type { AlertRule } from '../table.ts'
import { type PersistedUsageByPrice, persistedKey } from './load-persisted-usage.ts'

/** An ACTIVE rule of type ENTITLEMENT, and what says how much of its feature is used. */
export type WatchingRule = {
  readonly rule: AlertRule & { readonly entitlement: RuleEntitlement }
  readonly calculation: CalculationInput
}
export type WatchedSubscription = Omit<PeriodInputs, 'schedules'> & {
  readonly id: string
  readonly customer_id: string
  readonly schedules: readonly (Pick<
    ScheduleInput,
    | 'id'
    | 'pricing_plan_id'
    | 'pricing_plan_version_id'
    | 'own_version_id'
    | 'start_at'
    | 'end_at'
    | 'billing_period'
    | 'realign'
    | 'pricing_currency'
    | 'carries_usage'
  > & {
    /** What the prices count that it has besides its plan; absent where it has none. */
    readonly own_calculation_ids?: readonly string[]
  })[]
}

/** The part of a rule that names the feature, and the customers whose use of it counts. */
export type Watching = {
  readonly rule: Pick<AlertRule, 'customer_ids'> & {
    readonly entitlement: Pick<RuleEntitlement, 'feature_id' | 'threshold'>
  }
  readonly calculation: CalculationInput
}

export type TargetOf<W extends Watching> = W & {
  readonly subscription: WatchedSubscription
  readonly granted: Grant
  /** The time whose usage is held against it. */
  readonly interval: Interval
  /** The state that usage of that time is on top of, in the currency of the schedule's prices; null: it starts from nothing. */
  readonly persisted: (PersistedUsage & { readonly currency: string }) | null
  /** The same for the same crossing: of one subscription in one billing period (and, of money, one currency). */
  readonly reference: string
  /** The billing period that runs now. */
  readonly period: Interval
}
export type EvaluationTarget = TargetOf<WatchingRule>

/** The rules that look at the subscription and find something granted, in the billing period that runs now; none when none runs. */
export function targetsOf<W extends Watching>(
  subscription: WatchedSubscription,
  of: {
    readonly rules: readonly W[]
    readonly grants: readonly Grant[]
    readonly persisted: PersistedUsageByPrice
    readonly now: Instant
  },
): TargetOf<W>[] {
  const running = runningPeriod(subscription, of)
  if (!running) return []
  return of.rules.flatMap(watching => {
    const { rule, calculation } = watching
    if (rule.customer_ids.length > 0 && !rule.customer_ids.includes(subscription.customer_id)) return []
    return grantsFor(rule.entitlement, of.grants).map((granted): TargetOf<W> => {
      const currency = rule.entitlement.threshold.amount?.currency ?? granted.amount?.currency
      const reference = `${subscription.id} ${formatInstant(running.period.start)}${currency ? ` ${currency}` : ''}`
      const { period } = running
      return { ...watching, subscription, granted, ...running.timeOf(calculation), reference, period }
    })
  })
}

/** What is granted of the rule's feature. Of money there may be several grants, one a currency: a share is of each of them. */
function grantsFor({ feature_id, threshold }: Watching['rule']['entitlement'], grants: readonly Grant[]): Grant[] {
  const own = grants.filter(grant => grant.feature_id === feature_id)
  if (threshold.percentage != null) return own
  return [own.find(grant => grant.amount?.currency === threshold.amount?.currency) ?? own[0]].filter(
    found => found !== undefined,
  )
}

type Running = {
  readonly period: Interval
  timeOf(calculation: CalculationInput): Pick<EvaluationTarget, 'interval' | 'persisted'>
}

/**
 * A calculation with `persist` counts from the start of the current schedule, or of the first schedule that it continues, or from the state
 * recorded since, as on the invoice.
 */
function runningPeriod(
  inputs: WatchedSubscription,
  { now, persisted }: { readonly now: Instant; readonly persisted: PersistedUsageByPrice },
): Running | null {
  const found = wholePeriodAt(inputs, now)
  const schedule = inputs.schedules.find(
    ({ start_at, end_at }) => at(start_at) <= now && (end_at === null || at(end_at) > now),
  )
  if (!found || !schedule) return null
  const { covered } = found
  const carried = interval(instantOf(Math.max(at(schedule.start_at), covered.start)), covered.end)
  return {
    period: covered,
    timeOf: ({ id, persist }) => {
      if (!persist) return { interval: covered, persisted: null }
      const counted = countedSchedules(inputs.schedules, schedule, schedule.own_calculation_ids?.includes(id))
      const start = at(counted[0].start_at)
      const states = counted.flatMap(each => persisted.get(persistedKey(each.id, id)) ?? [])
      const time = usageInterval(true, start, carried, states)
      const state = persistedUsageAt(states, time)
      return { interval: time, persisted: state && { ...state, currency: schedule.pricing_currency } }
    },
  }
}

/** What is used in all: what events come to, on top of the recorded state, if there is one. */
export function usedOf(
  { calculation, persisted }: Pick<EvaluationTarget, 'calculation' | 'persisted'>,
  figures: readonly UsageFigure[],
): readonly UsageFigure[] {
  const type = calculation.calculation_type
  if (persisted === null || !isPersistable(type)) return figures
  const currency = calculation.value_type === 'AMOUNT' ? persisted.currency : null
  const [own] = figures.filter(figure => figure.currency === currency)
  const number = carriedOn(type, persisted.usage, own && own.count > 0 ? own.number : null)
  return [...figures.filter(figure => figure !== own), { currency, number, count: own?.count ?? 0 }]
}

/** Changes with everything that decides what is found, but usage. */
export const fingerprintOf = (targets: readonly EvaluationTarget[]): string =>
  createHash('sha256')
    .update(
      JSON.stringify(
        targets.map(({ rule, calculation, granted, interval, persisted, reference }) => [
          persisted?.id,
          rule.id,
          rule.entitlement,
          calculation,
          granted,
          interval,
          reference,
        ]),
      ),
    )
    .digest('hex')

/** What was held against the rules before: by which fingerprint, when, and up to where in the log. */
export type LastEvaluation = {
  readonly fingerprint: string
  readonly looked_at: Instant
  readonly positions: readonly number[]
}

/** What decides whose events a subscription has leaves no mark when it changes, so nothing is taken as unchanged for longer. */
const UNCHANGED_MS = 3_600_000

/** Whether what was found before may be different now. */
export function mayHaveChanged(
  last: LastEvaluation | undefined,
  of: {
    readonly fingerprint: string
    readonly marks: readonly Pick<CustomerMark, 'partition' | 'seq'>[]
    readonly now: Instant
  },
): boolean {
  if (!last || last.fingerprint !== of.fingerprint || of.now - last.looked_at >= UNCHANGED_MS) return true
  return of.marks.some(({ partition, seq }) => seq > (last.positions[partition] ?? 0))
}
