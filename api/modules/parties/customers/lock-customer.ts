// Row locks on customers, so that what decides about their usage stays as it is until commit.
import { and, asc, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { customers } from './table.ts'

/**
 * A shared lock: the customer's row cannot change until commit, and others may take the same lock. Whatever brings a schedule into
 * force or changes the customer locks the row with `lockCustomer`, so an invoice is saved by what is in force then.
 */
export async function lockCustomerShared(uow: Uow, id: Id<'cust'>): Promise<void> {
  await uow.tx
    .select({ id: customers.id })
    .from(customers)
    .where(and(inThisTenant(uow, customers), eq(customers.id, id)))
    .for('share')
}

/** An exclusive lock: until commit no invoice of the customer is saved, and a billing run leaves its subscriptions for later. */
export async function lockCustomer(uow: Uow, id: Id<'cust'>): Promise<void> {
  await uow.tx
    .select({ id: customers.id })
    .from(customers)
    .where(and(inThisTenant(uow, customers), eq(customers.id, id)))
    .for('no key update')
}

/** Shared locks on many customers, always in the same order. Returns the ids it locked; with `skip`, not one that is being changed. */
export async function lockCustomersShared(
  uow: Uow,
  ids: readonly Id<'cust'>[],
  { skip }: { readonly skip: boolean },
): Promise<ReadonlySet<string>> {
  const rows = await uow.tx
    .select({ id: customers.id })
    .from(customers)
    .where(and(inThisTenant(uow, customers), anyOf(customers.id, [...new Set(ids)])))
    .orderBy(asc(customers.id))
    .for('share', skip ? { skipLocked: true } : {})
  return new Set(rows.map(({ id }) => id))
}
