// In which time what falls due in a wallet is done: that of the day, or that of the test clock of its customer.
import { type SQL, sql } from 'drizzle-orm'

/** The clock whose customers are meant; null for everybody who lives in the time of the day. */
export type ClockId = string | null

/**
 * Whether the customer of the wallet of `row` lives by this clock, or in the time of the day. `row` is the alias of a table with
 * `platform_id`, `environment` and `wallet_id`.
 */
export function livesBy(row: SQL, clockId: ClockId): SQL {
  const clocks = sql`exists (
    select from test_clock_customers m
    join wallets w on w.platform_id = m.platform_id and w.environment = m.environment and w.customer_id = m.customer_id
    where w.platform_id = ${row}.platform_id and w.environment = ${row}.environment and w.id = ${row}.wallet_id
      and ${clockId === null ? sql`true` : sql`m.test_clock_id = ${clockId}`})`
  return clockId === null ? sql`(${row}.environment = 'LIVE' or not ${clocks})` : clocks
}
