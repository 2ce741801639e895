// One job is one group: it claims due subscriptions of a tenant, bills them, and queues another group while more are
// due. Claims expire, so the claims of a worker that died are found again. Those subscriptions are then billed one by
// one, so that one that kills its run affects no other.
import { type Database, inTenant, SERVICE, type SystemTransaction } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import type { Logger } from '../../../../../shared/process/logger.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { instantOf } from '../../../../../shared/time.ts'
import { CONCURRENCY, queueJobs } from '../../../../jobs/define-job.ts'
import { countLivingWorkers } from '../../../../jobs/living-workers.ts'
import type { WorkerMetrics } from '../../../../jobs/metrics.ts'
import type { TenantPayload } from '../../../../jobs/tenant-jobs.ts'
import { findMany } from '../../../../resource/store.ts'
import {
  type ClaimedBilling,
  claimBilling,
  lockSubscriptions,
  releaseBilling,
} from '../../../subscriptions/billing-time/next-billing.ts'
import { settleCancellations } from '../../../subscriptions/ending/cancel-subscription.ts'
import { subscriptionResource } from '../../../subscriptions/subscription.ts'
import type { Subscription } from '../../../subscriptions/table.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import type { Outcome } from '../outcome.ts'

export const BILLING_GROUP = { name: 'billing-group' }

/** A tenant, and the number of one of its concurrent groups. */
export type GroupPayload = TenantPayload & { readonly slot: number }

/** Subscriptions in a group: enough to share the cost of a group among many, and few enough to take only seconds. */
const GROUP_MAX = 250
const CLAIM_MS = 60_000

/** Queues groups for the tenants of these subscriptions. */
export async function queueGroups(tx: SystemTransaction, due: readonly TenantPayload[]): Promise<void> {
  if (due.length === 0) return
  const slotsMax = CONCURRENCY.group * (await countLivingWorkers(tx))
  for (const [, own] of groupBy(due, ({ platform_id, environment }) => `${platform_id} ${environment}`)) {
    const [first] = own
    if (!first) continue
    const { platform_id, environment } = first
    const slots = Math.min(slotsMax, Math.ceil(own.length / GROUP_MAX))
    for (let slot = 0; slot < slots; slot += 1) await queueGroup(tx, { platform_id, environment, slot })
  }
}

export const queueGroup = (tx: SystemTransaction, payload: GroupPayload): Promise<void> =>
  queueJobs(tx, BILLING_GROUP, [{ key: `${payload.platform_id}:${payload.environment}:${payload.slot}`, payload }])

export type GroupRun = (deps: BillingDeps, tenant: Tenant, ids: readonly string[]) => Promise<Map<string, Outcome>>

type Deps = BillingDeps & { readonly metrics: Pick<WorkerMetrics, 'billingRuns'>; readonly logger: Logger }

/** What remains after a group was billed. */
type Left = {
  /** More may be due. */
  readonly again: boolean
  /** To be billed by themselves. Their claims stay, so that no group claims them meanwhile. */
  readonly alone: readonly string[]
}

/**
 * Claims due subscriptions of a tenant, at most a group and what is combined with it, and bills them. When nothing can be read or saved
 * it throws, and releases the claims.
 */
export async function billGroup(deps: Deps, tenant: Tenant, run: GroupRun, max = GROUP_MAX): Promise<Left> {
  const claimed = await inTenant(deps.database, tenant, SERVICE, uow =>
    claimBilling(uow, { max, until: instantOf(uow.now + CLAIM_MS) }),
  )
  if (claimed.length === 0) return { again: false, alone: [] }
  await deps.failpoint?.('billing.after-claim')
  const ids = claimed.map(({ id }) => id)
  try {
    const ended = await settleEnded(deps, tenant, claimed)
    const alone = [...ended]
    let again = claimed.length >= max
    const sound = claimed.filter(({ id }) => !ended.has(id))
    for (const own of inRuns(sound, max)) {
      const outcomes = await run(deps, tenant, own)
      alone.push(...(await failuresOf(deps, tenant, outcomes)))
      again ||= isDueAgain(deps, outcomes)
    }
    return { again, alone }
  } catch (error) {
    await inTenant(deps.database, tenant, SERVICE, uow => releaseBilling(uow, ids)).catch(() => undefined) // the claims end by themselves
    throw error
  }
}

/** With what is combined there may be several times `max`, and a run keeps all that it reads until its end. */
function inRuns(claimed: readonly ClaimedBilling[], max: number): string[][] {
  const runs: string[][] = []
  for (const [, own] of groupBy(claimed, ({ set }) => set)) {
    const last = runs.at(-1)
    const ids = own.map(({ id }) => id)
    if (last && last.length + ids.length <= max) last.push(...ids)
    else runs.push(ids)
  }
  return runs
}

/** Those whose cancellation failed to take effect; their own run reports why. */
async function settleEnded(deps: Deps, tenant: Tenant, claimed: readonly ClaimedBilling[]): Promise<Set<string>> {
  const failed = new Set<string>()
  const ending = claimed.flatMap(({ id, ends }) => (ends ? [id] : []))
  if (await settleTogether(deps, tenant, ending)) return failed
  for (const id of ending) {
    try {
      await settleCancelled(deps.database, tenant, id)
    } catch (error) {
      deps.logger.warn({ err: error, subscriptionId: id }, 'a cancellation could not take effect; it is tried again')
      failed.add(id)
    }
  }
  return failed
}

/** All in one transaction; false where one of them failed, so that none took effect. */
const settleTogether = ({ database, logger }: Deps, tenant: Tenant, ids: readonly string[]): Promise<boolean> =>
  settle(database, tenant, ids).then(
    () => true,
    error => {
      logger.debug({ err: error, subscriptions: ids.length }, 'cancellations are tried one by one')
      return false
    },
  )

/** A cancellation that is due takes effect before the run, which bills up to it. Null when there is no such subscription. */
export async function settleCancelled(database: Database, tenant: Tenant, id: string): Promise<Subscription | null> {
  const [settled] = await settle(database, tenant, [id])
  return settled ?? null
}

async function settle(database: Database, tenant: Tenant, ids: readonly string[]): Promise<Subscription[]> {
  if (ids.length === 0) return []
  return await inTenant(database, tenant, SERVICE, async uow => {
    await lockSubscriptions(uow, idsOf('ppsu', ids), { skip: false })
    return await settleCancellations(uow, await findMany(uow, subscriptionResource, ids))
  })
}

/**
 * Counts the outcomes, releases subscriptions that failed only because a service was unavailable, and returns those to
 * be billed by themselves.
 */
async function failuresOf(deps: Deps, tenant: Tenant, outcomes: ReadonlyMap<string, Outcome>): Promise<string[]> {
  const alone: string[] = []
  const away: string[] = []
  for (const [id, outcome] of outcomes) {
    deps.metrics.billingRuns.inc({ outcome: outcome.kind === 'FAILED' ? 'failed' : 'done' })
    if (outcome.kind === 'DONE') continue
    if (outcome.kind === 'ALONE') alone.push(id)
    else {
      const code = outcome.error instanceof AppError ? outcome.error.code : 'bug'
      deps.logger.warn({ err: outcome.error, subscriptionId: id, code }, 'a billing run failed; it is tried again')
      if (code === 'SERVICE_UNAVAILABLE') away.push(id)
      else alone.push(id)
    }
  }
  await inTenant(deps.database, tenant, SERVICE, uow => releaseBilling(uow, away))
  return alone
}

/** Whether any is due again at once, because one run processes a limited number of invoices. */
function isDueAgain({ database }: Deps, outcomes: ReadonlyMap<string, Outcome>): boolean {
  const now = database.clock.now()
  return [...outcomes.values()].some(
    outcome => outcome.kind === 'DONE' && outcome.run.nextBillingAt !== null && outcome.run.nextBillingAt <= now,
  )
}
