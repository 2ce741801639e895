// Receipts as jobs: every few minutes, after all other waiting jobs.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../../shared/database/database.ts'
import { defineJob } from '../../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../../jobs/tenant-jobs.ts'
import { makeReceipts, type ReceiptDeps } from './receipts.ts'

type JobDeps = ReceiptDeps & { /** In the role millrace_worker. */ readonly system: Database }

/** Behind all other jobs in the queue. */
const RECEIPTS_OF_TENANT = { name: 'usage-receipts-of-tenant', priority: 10 }
/** Batches that one job reads; another job continues. */
const ROUNDS_MAX = 50
/** More than single invoices would have: ClickHouse or PostgreSQL is away. */
const FAILURES_MAX = 10

export const receiptJobs = [
  defineJob<JobDeps>({
    name: 'usage-receipts',
    class: 'long',
    every: '*/5 * * * *',
    rights: { pinned_inputs: ['select'] },
    run: ({ system }) =>
      asSystem(system, 'usage-receipts', async tx => {
        const { rows } = await tx.execute<TenantPayload>(sql`
          select distinct platform_id, environment from pinned_inputs where not has_receipt`)
        await queueTenants(tx, RECEIPTS_OF_TENANT, rows)
      }),
  }),
  defineJob<JobDeps, TenantPayload>({
    ...RECEIPTS_OF_TENANT,
    class: 'long',
    rights: {},
    run: async (deps, payload, { stop }) => {
      const failures: unknown[] = []
      let after = ''
      for (let round = 0; round < ROUNDS_MAX && failures.length < FAILURES_MAX; round += 1) {
        const startedAt = performance.now()
        if (stop.aborted) return
        const made = await makeReceipts(deps, tenantOf(payload), { after })
        failures.push(...made.failures)
        if (made.last === null) break
        after = made.last
        // No request waits for a receipt: half of the time is left to reads of usage.
        await sleep(performance.now() - startedAt, undefined, { signal: stop }).catch(() => undefined)
        if (round === ROUNDS_MAX - 1)
          await asSystem(deps.system, 'usage-receipts', tx => queueTenants(tx, RECEIPTS_OF_TENANT, [payload]))
      }
      // Those are tried again with the next job, which begins with the first.
      if (failures.length > 0) throw failures[0]
    },
  }),
] as const
