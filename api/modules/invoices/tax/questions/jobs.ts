// The questions to the tax engine as jobs: a search every minute, and one job for each tenant with something to ask.
import { setTimeout } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { asSystem, readTenant } from '../../../../../shared/database/database.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { defineJob } from '../../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../../jobs/tenant-jobs.ts'
import { type EngineDeps, queryOnce } from '../answers/query-engine.ts'
import { type DueQuestion, dueQuestions, isRecomputationDue, mayBeDue } from '../answers/store-answers.ts'
import { type ComputeDeps, recomputeBatch } from './recompute-invoices.ts'

export type TaxEngineJobDeps = ComputeDeps & EngineDeps

const ASK_MS = 15_000
const AT_ONCE = 8
/** Read at once. */
const QUESTIONS_MAX = 400
/** When a tenant has more questions than this, the rest wait for the next minute, so that other tenants get their turn. */
const WORK_MS = 55_000
/** An engine that fails this often in a row is left alone until the next minute. One that refuses a question is well. */
const FAULTS_MAX = 8
/** So often it is looked for answers while questions are asked. */
const LOOK_MS = 200

/**
 * Asks what waits, each question once, and computes the invoices again that waited for it, which no question waits for. A failing
 * engine holds up only the invoices that need it. Returns how many were answered.
 */
export async function processTaxQuestions(deps: TaxEngineJobDeps, tenant: Tenant, stop: AbortSignal): Promise<number> {
  const { database, system } = deps
  const started = performance.now()
  const asked = new Set<string>()
  const tried = new Set<string>()
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
      tried.delete(open.key)
      const isOutage = fault !== null && (!fault.isRefusal || deps.taxEngine === null)
      faults = isOutage ? faults + 1 : 0
      if (fault === null) answered += 1
      else deps.logger.warn({ ...tenant, fault: fault.message }, 'the tax engine gave no answer')
      await deps.failpoint?.('tax-engine.after-answer')
    }
  }
  const askAll = async (): Promise<number> => {
    const before = asked.size
    while (!isOver()) {
      const due = await readTenant(database, tenant, uow => dueQuestions(uow, system.clock.now(), QUESTIONS_MAX))
      const anew = due.filter(({ key }) => !asked.has(key))
      if (anew.length === 0) break
      for (const { key } of anew) asked.add(key)
      const next = anew[Symbol.iterator]()
      await Promise.all(Array.from({ length: AT_ONCE }, () => ask(next)))
    }
    return asked.size - before
  }
  // An invoice that is computed may have another question, and an answer has more to compute.
  while (!isStopped()) {
    let isAsking = true
    const asking = askAll().finally(() => {
      isAsking = false
    })
    const both = await Promise.allSettled([
      asking,
      computeMeanwhile(() => recomputeBatch(deps, tenant, { tried, isStopped }), {
        asking,
        isAsking: () => isAsking,
        isStopped,
      }),
    ])
    for (const each of both) if (each.status === 'rejected') throw each.reason
    if (both.every(each => each.status === 'fulfilled' && each.value === 0)) break
  }
  return answered
}

type Meanwhile = {
  readonly asking: Promise<unknown>
  readonly isAsking: () => boolean
  readonly isStopped: () => boolean
}

/** Computes as long as questions are asked and something is left: also what a worker that died left, and what a call of a user asked. */
async function computeMeanwhile(part: () => Promise<number>, of: Meanwhile): Promise<number> {
  let total = 0
  while (!of.isStopped()) {
    const mayCome = of.isAsking()
    const taken = await part()
    total += taken
    if (taken > 0) continue
    if (!mayCome) break
    await Promise.race([of.asking.catch(() => undefined), setTimeout(LOOK_MS, undefined, { ref: false })])
  }
  return total
}

const queryTaxEngine = defineJob<TaxEngineJobDeps, TenantPayload>({
  name: 'query-tax-engine',
  class: 'external',
  rights: {},
  run: async (deps, payload, { stop }) => {
    await processTaxQuestions(deps, tenantOf(payload), stop)
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
        where (${isRecomputationDue(system.clock.now())}) or (${mayBeDue(system.clock.now())})`)
      await queueTenants(tx, queryTaxEngine, rows)
    })
  },
})

export const taxEngineJobs = [findTaxQuestions, queryTaxEngine] as const
