// The kept answers of tax engines that no invoice needs any more: a search every night, and one job for each tenant that has some.
import { sql } from 'drizzle-orm'
import { type Database, inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import { searchedJobs } from '../../../../jobs/tenant-jobs.ts'
import { dropAnswers } from '../answers/store-answers.ts'

export type DropAnswersDeps = {
  readonly database: Database
  /** In the role millrace_worker. */
  readonly system: Database
}

/** So long after an answer was last needed it stays, whether or not an invoice uses it: previews use it too. */
const KEPT_DAYS = 14
const DAY_MS = 86_400_000
const BATCH_MAX = 1_000

const lastDay = (now: Instant): string =>
  formatInstant(instantOf(now - KEPT_DAYS * DAY_MS)).slice(0, 'yyyy-mm-dd'.length)

/** Drops what no invoice of the tenant needs, a part at a time, and returns how many answers that were. */
export async function dropUnusedAnswers(
  { database, system }: DropAnswersDeps,
  tenant: Tenant,
  stop: Pick<AbortSignal, 'aborted'>,
): Promise<number> {
  const before = lastDay(system.clock.now())
  let total = 0
  while (!stop.aborted) {
    const dropped = await inTenant(database, tenant, SERVICE, uow => dropAnswers(uow, { before, limit: BATCH_MAX }))
    total += dropped
    if (dropped < BATCH_MAX) break
  }
  return total
}

/** In the worker's own role, which may not read what invoices say: the job of a tenant finds which of its answers are needed. */
export const dropTaxAnswersJobs = searchedJobs<DropAnswersDeps>(
  {
    name: 'find-old-tax-answers',
    every: '23 3 * * *',
    rights: { tax_answers: ['select'] },
    due: now => sql`
      select distinct t.platform_id, t.environment from tax_answers t where t.needed_on < ${lastDay(now)}`,
  },
  { name: 'drop-tax-answers', priority: 10, run: (deps, tenant, { stop }) => dropUnusedAnswers(deps, tenant, stop) },
)
