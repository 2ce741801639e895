// Rules of type ENTITLEMENT: what is used in the billing period that runs now, as the invoice will count it, held against what is
// granted. Page by page: read what is there, ask the marks of the log whose usage may have changed, read that usage, and save what
// was found with how far the evaluation has come, in one transaction.
import { type Database, inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { instantOf, interval } from '../../../../shared/time.ts'
import type { CustomerMark } from '../../../usage/changes/latest-marks.ts'
import { sendersOf, usageParts } from '../../billing/terms/usage-parts.ts'
import type { UsageFigure } from '../../billing/usage/usage-needs.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import type { AttributionInputs } from '../../subscriptions/attribution/load-attribution.ts'
import { type NewAlert, saveAlert } from '../save-alert.ts'
import { lockUnchangedRules } from './active-rules.ts'
import { compareToThreshold } from './compare-to-threshold.ts'
import { type EvaluationTarget, fingerprintOf, mayHaveChanged, usedOf, type WatchingRule } from './evaluation-target.ts'
import { loadPage, type Page, watchingRules } from './load-targets.ts'
import { beginEvaluation, resumeAfter, saveProgress, saveWatch } from './save-evaluation.ts'

export type EvaluationDeps = {
  /** In the role millrace_app: an evaluation is of one tenant, under its row-level security. */
  readonly database: Database
  readonly usage: Pick<UsageReader, 'read' | 'positions' | 'latestMarks'>
  readonly logger: Pick<Logger, 'warn'>
  readonly failpoint?: Failpoints
  /** Smaller pages, for a test of what is done in several. */
  readonly limits?: Limits
}

type Limits = { readonly page: number; readonly pages: number }

/** What an evaluation made, and whether it came to its end; what it did not come to is where the next one begins. */
export type Evaluation = { readonly made: number; readonly complete: boolean }

/** Subscriptions in one transaction, and pages in one evaluation, so that no tenant keeps the others waiting for long. */
const LIMITS: Limits = { page: 100, pages: 20 }

/** Makes the alerts that are due and have not been made. Safe to run twice, and beside another. Throws when usage is away. */
export async function alertUse(deps: EvaluationDeps, tenant: Tenant): Promise<Evaluation> {
  const { database, limits = LIMITS } = deps
  const { rules, from } = await readTenant(database, tenant, async uow => ({
    rules: await watchingRules(uow),
    from: await resumeAfter(uow),
  }))
  if (from === null || rules.length === 0) await inTenant(database, tenant, SERVICE, beginEvaluation)
  if (rules.length === 0) {
    await inTenant(database, tenant, SERVICE, uow => saveProgress(uow, null))
    return { made: 0, complete: true }
  }
  let made = 0
  let next: string | null = from ?? ''
  for (let pages = 0; pages < limits.pages && next !== null; pages += 1) {
    const done: { made: number; next: string | null } = await lookAtPage(deps, tenant, {
      rules,
      after: next,
      limit: limits.page,
    })
    made += done.made
    next = done.next
  }
  return { made, complete: next === null }
}

type Found = { readonly fingerprint: string; readonly alerts: readonly { target: EvaluationTarget; alert: NewAlert }[] }

async function lookAtPage(
  deps: EvaluationDeps,
  tenant: Tenant,
  of: { readonly rules: readonly WatchingRule[]; readonly after: string; readonly limit: number },
): Promise<{ made: number; next: string | null }> {
  const page = await readTenant(deps.database, tenant, uow => loadPage(uow, of))
  // Asked before usage is read, so that everything up to there is in it.
  const positions = page.open.size === 0 ? [] : await deps.usage.positions()
  const changed = await changedWatches(deps, tenant, page)
  const found = new Map<string, Found>()
  // All at once, so that a page is one question to ClickHouse.
  await Promise.all(
    [...changed].map(async ([id, targets]) => {
      const each = await readWatches(deps, { tenant, page, targets }).catch(error => skip(deps, id, error))
      if (each) found.set(id, each)
    }),
  )
  await deps.failpoint?.('alerts.before-save')
  const made = await inTenant(deps.database, tenant, SERVICE, uow =>
    savePage(uow, { found, positions, next: page.next }),
  )
  return { made, next: page.next }
}

/** What cannot be read of one subscription, ever, holds up no other; what may pass is thrown. */
function skip({ logger }: EvaluationDeps, subscriptionId: string, error: unknown): null {
  if (!(error instanceof AppError) || error.status >= 500) throw error
  logger.warn({ err: error, subscriptionId }, 'what is used of a subscription cannot be held against its alert rules')
  return null
}

/** By subscription, the targets whose usage may be other than when it was last read. One question a meter for all of them. */
async function changedWatches(
  deps: EvaluationDeps,
  tenant: Tenant,
  page: Page,
): Promise<ReadonlyMap<string, readonly EvaluationTarget[]>> {
  const known = [...page.open].filter(([id]) => page.last.has(id))
  const marks = await marksOf(deps, tenant, { page, targets: known.flatMap(([, targets]) => targets) })
  const now = deps.database.clock.now()
  return new Map(
    [...page.open].filter(([id, targets]) =>
      mayHaveChanged(page.last.get(id), {
        fingerprint: fingerprintOf(targets),
        marks: targets.flatMap(target => keysOf(page, target).flatMap(key => marks.get(markKey(target, key)) ?? [])),
        now,
      }),
    ),
  )
}

const markKey = ({ calculation }: EvaluationTarget, key: string): string => `${calculation.meter_reference}\n${key}`

/** Every name that events of the subscription may carry their customer by. */
const keysOf = (page: Page, target: EvaluationTarget): string[] =>
  sendersOf(attributionIn(page, target), target.subscription.id).flatMap(sender => sender.customerKeys)

function attributionIn({ attribution }: Page, { subscription }: EvaluationTarget): AttributionInputs {
  const own = attribution.get(subscription.customer_id)
  if (!own) throw new Error(`the page lacks ${subscription.customer_id}`)
  return own
}

async function marksOf(
  deps: EvaluationDeps,
  tenant: Tenant,
  { page, targets }: { readonly page: Page; readonly targets: readonly EvaluationTarget[] },
): Promise<ReadonlyMap<string, readonly CustomerMark[]>> {
  if (targets.length === 0) return new Map()
  const start = Math.min(...targets.map(target => target.interval.start))
  const end = Math.max(...targets.map(target => target.interval.end))
  const found = await deps.usage.latestMarks(tenant, {
    places: targets.flatMap(target =>
      keysOf(page, target).map(customerKey => ({ customerKey, meterReference: target.calculation.meter_reference })),
    ),
    interval: interval(instantOf(start), instantOf(end)),
  })
  return groupBy(found, ({ meterReference, key }) => `${meterReference}\n${key}`)
}

/** Reads the usage of one subscription, each figure once, and holds it against its rules. */
async function readWatches(
  deps: EvaluationDeps,
  of: { readonly tenant: Tenant; readonly page: Page; readonly targets: readonly EvaluationTarget[] },
): Promise<Found> {
  const known = new Map<string, Promise<readonly UsageFigure[]>>()
  const figuresOf = (target: EvaluationTarget): Promise<readonly UsageFigure[]> => {
    const { calculation, interval: within, subscription } = target
    const key = `${calculation.id} ${within.start} ${within.end}`
    const scope = { subscriptionId: subscription.id, meterReference: calculation.meter_reference, interval: within }
    const need = { key, calculation, condition: null, interval: within, splitBy: null }
    const figures =
      known.get(key) ?? deps.usage.read(of.tenant, usageParts(attributionIn(of.page, target), scope), need)
    known.set(key, figures)
    return figures
  }
  const read = await Promise.all(of.targets.map(async target => ({ target, figures: await figuresOf(target) })))
  const alerts: { target: EvaluationTarget; alert: NewAlert }[] = []
  for (const { target, figures } of read) {
    const { subscription, rule, reference } = target
    const finding = compareToThreshold(rule.entitlement, target.granted, usedOf(target, figures))
    if (!finding?.holds) continue
    const { holds, ...values } = finding
    const entitlement = { pricing_plan_subscription_id: subscription.id, ...values }
    const alert: NewAlert = {
      alert_rule_id: rule.id,
      customer_id: idOf('cust', subscription.customer_id),
      type: 'ENTITLEMENT',
      data_trigger_reference: reference,
      alert_data: { entitlement },
    }
    alerts.push({ target, alert })
  }
  return { fingerprint: fingerprintOf(of.targets), alerts }
}

async function savePage(
  uow: Uow,
  of: {
    readonly found: ReadonlyMap<string, Found>
    readonly positions: readonly number[]
    readonly next: string | null
  },
): Promise<number> {
  // In one order, so that two evaluations at once wait for each other and never in a circle.
  const found = [...of.found].sort(([a], [b]) => (a < b ? -1 : 1))
  const alerts = found.flatMap(([, each]) => each.alerts)
  const holding = await lockUnchangedRules(
    uow,
    alerts.map(({ target }) => target.rule),
  )
  let made = 0
  for (const { alert } of alerts) {
    if (!holding.has(alert.alert_rule_id)) continue
    const { created } = await saveAlert(uow, alert)
    if (created) made += 1
  }
  for (const [id, { fingerprint, alerts: own }] of found) {
    // What was found by a rule that is another now is found again by what it is.
    if (own.every(({ alert }) => holding.has(alert.alert_rule_id)))
      await saveWatch(uow, id, { fingerprint, positions: of.positions })
  }
  await saveProgress(uow, of.next)
  return made
}
