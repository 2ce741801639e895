// In which time something happens: customers of the TEST environment may live in that of a test clock.
import { type SQL, sql } from 'drizzle-orm'
import { type Database, type ReadUow, readTenant } from '../../shared/database/database.ts'
import { withNamedStatements } from '../../shared/database/statements/named-statements.ts'
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { atTestTime, isTestTime } from '../../shared/test-time.ts'
import { formatInstant, type Instant, instantOf } from '../../shared/time.ts'
import { testClockSubjectsOf } from '../resource/rules.ts'
import { customersNamedBy } from './test-clock-subject.ts'

/** Work in the time of a test clock that has been moved on meanwhile. */
class ClockMovedError extends AppError {
  constructor() {
    super('SERVICE_UNAVAILABLE', 'The test clock of the customer is being advanced; send it again.', {
      retryAfterSeconds: 1,
    })
  }
}
const ATTEMPTS_MAX = 5

/**
 * Does `work` in the time of the customer that one of `names` is of: ids and references of customers and of what says whose it is
 * (`testClockOf`). Without a test clock, and in LIVE, that is the time of the day. Work that finds its clock moved (`requireClocks`)
 * is done again in the new time.
 */
export async function inTimeOf<T>(
  database: Database,
  tenant: Tenant,
  names: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  // What is within the time of a clock already stays in it.
  if (tenant.environment !== 'TEST' || names.length === 0 || isTestTime()) return await work()
  for (let attempt = 1; ; attempt += 1) {
    const at = await frozenTimeOf(database, tenant, names)
    try {
      return at === null ? await work() : await atTestTime(instantOf(at), database.clock, work)
    } catch (error) {
      if (!(error instanceof ClockMovedError) || attempt >= ATTEMPTS_MAX) throw error
    }
  }
}

/**
 * Refuses to save what was computed in another time than that of these customers, whose test clocks may have been advanced meanwhile.
 * The caller holds what it saves, and so does each step of an advance.
 */
export async function requireClocks(uow: ReadUow, customerIds: readonly string[]): Promise<void> {
  const { platformId, environment } = uow.tenant
  if (environment !== 'TEST' || customerIds.length === 0) return
  const { rows } = await uow.tx.execute(sql`
    select from test_clock_customers m
    join test_clocks t on t.platform_id = m.platform_id and t.environment = m.environment and t.id = m.test_clock_id
    where m.platform_id = ${platformId} and m.environment = ${environment}
      and m.customer_id = any(${sql.param([...new Set(customerIds)])}::text[])
      and t.frozen_time <> ${formatInstant(uow.now)}::timestamptz
    limit 1`)
  if (rows.length > 0) throw new ClockMovedError()
}

/** The time of each of these customers, for what shows many at once: that of its test clock, or else of the unit of work. */
export async function timesOfCustomers(
  uow: ReadUow,
  customerIds: readonly string[],
): Promise<(customerId: string) => Instant> {
  const { platformId, environment } = uow.tenant
  if (environment !== 'TEST' || customerIds.length === 0 || isTestTime()) return () => uow.now
  const { rows } = await uow.tx.execute<{ id: string; at: string }>(sql`
    select m.customer_id as id, (extract(epoch from t.frozen_time) * 1000)::bigint::text as at
    from test_clock_customers m
    join test_clocks t on t.platform_id = m.platform_id and t.environment = m.environment and t.id = m.test_clock_id
    where m.platform_id = ${platformId} and m.environment = ${environment}
      and m.customer_id = any(${sql.param([...new Set(customerIds)])}::text[])`)
  const times = new Map(rows.map(({ id, at }) => [id, instantOf(Number(at))]))
  return customerId => times.get(customerId) ?? uow.now
}

/**
 * The time of the customer of a row in SQL: that of its test clock, or else of the unit of work. `row` names a table or
 * alias with `platform_id`, `environment` and `customer_id`.
 */
export function timeOfCustomerIn({ tenant, now }: ReadUow, row: 's' | 'v' | 'pricing_plan_subscriptions'): SQL {
  const own = sql`${formatInstant(now)}::timestamptz`
  if (tenant.environment !== 'TEST' || isTestTime()) return own
  const of = sql.raw(row)
  return sql`coalesce((select t.frozen_time from test_clock_customers m
    join test_clocks t on t.platform_id = m.platform_id and t.environment = m.environment and t.id = m.test_clock_id
    where m.platform_id = ${of}.platform_id and m.environment = ${of}.environment and m.customer_id = ${of}.customer_id), ${own})`
}

async function frozenTimeOf(database: Database, tenant: Tenant, names: readonly string[]): Promise<number | null> {
  const subjects = testClockSubjectsOf(database)
  if (subjects.length === 0) return null
  const { rows } = await readTenant(database, tenant, uow =>
    withNamedStatements(uow).tx.execute<{ at: string }>(sql`
      select (extract(epoch from t.frozen_time) * 1000)::bigint::text as at
      from test_clock_customers m
      join test_clocks t on t.platform_id = m.platform_id and t.environment = m.environment and t.id = m.test_clock_id
      where m.platform_id = ${tenant.platformId} and m.environment = ${tenant.environment}
        and m.customer_id in (${customersNamedBy(uow, subjects, names)})
      limit 1`),
  )
  return rows[0] ? Number(rows[0].at) : null
}
