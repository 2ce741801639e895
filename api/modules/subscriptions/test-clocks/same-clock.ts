// A subscription is billed in one time, so the customer that uses it and the customer that gets its invoices live by one clock.
import { and } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { testClockCustomers } from './table.ts'

/** Throws INVALID_OPERATION when one of two customers lives by a test clock that the other does not live by. */
export async function requireSameClock(uow: ReadUow, pair: readonly [Id<'cust'>, Id<'cust'>]): Promise<void> {
  const m = testClockCustomers
  const rows = await uow.tx
    .select({ id: m.test_clock_id })
    .from(m)
    .where(and(inThisTenant(uow, m), anyOf(m.customer_id, [...pair])))
  if (rows.length === 0 || (rows.length === 2 && rows[0]?.id === rows[1]?.id)) return
  const message = 'Customer and forward customer live by different clocks; attach both to one test clock, or neither.'
  throw new AppError('INVALID_OPERATION', message, { field: 'forward_customer_id' })
}
