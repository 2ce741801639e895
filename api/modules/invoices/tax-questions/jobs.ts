// The questions to the tax engine as jobs: a search every minute, and one job for each tenant with something to ask.
import { sql } from 'drizzle-orm'
import type { KeyedQuestion } from '../../../../shared/billing/tax-engine.ts'
import { asSystem, type Database, inTenant, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import { inTimeOf } from '../../../test-clock.ts'
import { refreshInvoice } from '../changes/refresh-invoice.ts'
import type { InvoiceDeps } from '../producer.ts'
import { type EngineDeps, queryOnce } from '../tax-answers/query-engine.ts'
import {
  type DueQuestion,
  dueQuestions,
  invoicesWaiting,
  markComputed,
  mayBeDue,
  questionsToCompute,
} from '../tax-answers/store-answers.ts'

export type TaxEngineJobDeps = InvoiceDeps &
  EngineDeps & {
    /** In the role millrace_worker. */
    readonly system: Database
    readonly logger: Pick<Logger, 'warn'>
  }

const ASK_MS = 15_000
const AT_ONCE = 8
/** Read at once. */
const QUESTIONS_MAX = 400
/** A tenant with more to ask lets others have the place then, and goes on in the next minute. */
const WORK_MS = 55_000
/** An engine that fails this often in a row is left alone until the next minute. One that refuses a question is well. */
const FAULTS_MAX = 8
const ACTOR = { id: null, requestId: null }

/**
 * Asks what waits, each question once, and computes the invoices again that waited for it. A failing engine holds up only the
 * invoices that need it. Returns how many were answered.
 */
export async function answerWaiting(deps: TaxEngineJobDeps, tenant: Tenant, stop: AbortSignal): Promise<number> {
  const { database, system } = deps
  const started = performance.now()
  const asked = new Set<string>()
  let faults = 0
  let answered = 0
  const isStopped = (): boolean => stop.aborted || performance.now() - started > WORK_MS
  const isOver = (): boolean => isStopped() || faults >= FAULTS_MAX
  const ask = async (next: Iterator<DueQuestion>): Promise<void> => {
    for (const { needed_on, ...open } of { [Symbol.iterator]: () => next }) {
      if (isOver()) return
      const { fault } = await queryOnce(deps, tenant, open, {
        ...{ asOf: needed_on, ms: ASK_MS, signal: stop, keepsFaults: true },
      })
      const isOutage = fault !== null && (!fault.isRefusal || deps.taxEngine === null)
      faults = isOutage ? faults + 1 : 0
      if (fault === null) answered += 1
      else deps.logger.warn({ ...tenant, fault: fault.message }, 'the tax engine gave no answer')
      await deps.failpoint?.('tax-engine.after-answer')
    }
  }
  // Also what a worker that died left, and what a call of a user asked.
  await computeAll(deps, tenant, isStopped)
  while (!isOver()) {
    const due = await readTenant(database, tenant, uow => dueQuestions(uow, system.clock.now(), QUESTIONS_MAX))
    const anew = due.filter(({ key }) => !asked.has(key))
    if (anew.length === 0) break
    for (const { key } of anew) asked.add(key)
    const next = anew[Symbol.iterator]()
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(next)))
    await computeAll(deps, tenant, isStopped)
  }
  return answered
}

/** Computes the invoices that wait for what was said since they were last computed. */
async function computeAll(deps: TaxEngineJobDeps, tenant: Tenant, isStopped: () => boolean): Promise<void> {
  const { database } = deps
  while (!isStopped()) {
    const found = await readTenant(database, tenant, uow => questionsToCompute(uow, QUESTIONS_MAX))
    for (const open of found) {
      if (isStopped()) return
      await computeWaiting(deps, tenant, open)
      await inTenant(database, tenant, ACTOR, uow => markComputed(uow, open))
    }
    if (found.length < QUESTIONS_MAX) return
  }
}

/** The next run computes again what cannot be computed now. */
async function computeWaiting(deps: TaxEngineJobDeps, tenant: Tenant, open: KeyedQuestion): Promise<void> {
  const waiting = await readTenant(deps.database, tenant, uow => invoicesWaiting(uow, open))
  const [customer, entity] = [open.question.buyer.id, open.question.seller.id]
  const owner = open.question.billing_type === 'SELF_BILLING' ? entity : customer
  for (const id of waiting) {
    try {
      await inTimeOf(deps.database, tenant, [owner], () => refreshInvoice(deps, tenant, ACTOR, id))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
  }
}

const queryTaxEngine = defineJob<TaxEngineJobDeps, TenantPayload>({
  name: 'query-tax-engine',
  class: 'external',
  rights: {},
  run: async (deps, payload, { stop }) => {
    await answerWaiting(deps, tenantOf(payload), stop)
  },
})

/** In the worker's own role, which may not read what invoices say: the job of a tenant finds which of its questions are due. */
export const findTaxQuestions = defineJob<TaxEngineJobDeps>({
  name: 'find-tax-questions',
  class: 'short',
  every: '* * * * *',
  rights: { tax_answers: ['select'] },
  run: async ({ system }) => {
    await asSystem(system, 'find-tax-questions', async tx => {
      const { rows } = await tx.execute<TenantPayload>(sql`
        select distinct t.platform_id, t.environment from tax_answers t
        where t.to_compute or (${mayBeDue(system.clock.now())})`)
      await queueTenants(tx, queryTaxEngine, rows)
    })
  },
})

export const taxEngineJobs = [findTaxQuestions, queryTaxEngine] as const
