// What a tax engine is asked while a test clock moves on: no job of the worker comes between two moments of an advance.
import { sql } from 'drizzle-orm'
import { readTenant } from '../../../shared/database/database.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { systemClock } from '../../../shared/time.ts'
import { type EngineDeps, queryOnce } from '../invoices/tax/answers/query-engine.ts'
import { type DueQuestion, isDue } from '../invoices/tax/answers/store-answers.ts'

const ASK_MS = 2_000
const AT_ONCE = 8
const QUESTIONS_MAX = 200

/**
 * Asks what invoices of the clock's customers wait for, and returns how many questions were answered. A fault is kept, so that the
 * invoice says it and nobody asks again within a minute.
 */
export async function queryForClock(deps: EngineDeps, tenant: Tenant, clockId: string): Promise<number> {
  const { rows: due } = await readTenant(deps.database, tenant, uow =>
    uow.tx.execute<DueQuestion>(sql`
      select t.key, t.question, t.needed_on::text from tax_answers t
      where t.platform_id = ${tenant.platformId} and t.environment = ${tenant.environment}
        and t.customer_id in (select m.customer_id from test_clock_customers m where m.platform_id = ${tenant.platformId}
          and m.environment = ${tenant.environment} and m.test_clock_id = ${clockId})
        and ${isDue(systemClock.now())}
      order by t.created_at, t.key limit ${QUESTIONS_MAX}`),
  )
  const { signal } = new AbortController()
  let answered = 0
  for (let from = 0; from < due.length; from += AT_ONCE) {
    const outcomes = await Promise.all(
      due
        .slice(from, from + AT_ONCE)
        .map(({ needed_on, ...open }) =>
          queryOnce(deps, tenant, open, { asOf: needed_on, ms: ASK_MS, signal, keepsFaults: true }),
        ),
    )
    answered += outcomes.filter(({ fault }) => fault === null).length
    // An engine that is down is not waited for again and again; the next step, or the worker, asks.
    if (outcomes.some(({ fault }) => fault !== null && !fault.isRefusal)) break
  }
  return answered
}
