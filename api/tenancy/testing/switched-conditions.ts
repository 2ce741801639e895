// Stands in for the tenant conditions (vitest.config.ts), which a test can then take away.
import { type SQL, sql } from 'drizzle-orm'
import * as real from '../../resource/tenant-condition.ts'

/** Whether there are any. */
export const switches = { conditions: true }

export const inThisTenant: typeof real.inThisTenant = (...inputs) =>
  switches.conditions ? real.inThisTenant(...inputs) : sql`true`

/** A prepared question stays as it is, so the switch is one of its values. */
export const inPlaceholders = (...inputs: Parameters<typeof real.inPlaceholders>): SQL => {
  const isOff = { mapToDriverValue: () => !switches.conditions }
  return sql`(${real.inPlaceholders(...inputs)} or ${sql.param(sql.placeholder('platform'), isOff)}::boolean)`
}
