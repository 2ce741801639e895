// Keeps what decides about a customer's usage as it is until commit.
import { and, asc, eq } from 'drizzle-orm'
import { anyOf } from '../../../../shared/database/any-of.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { customers } from './table.ts'

/**
 * Holds the customer's row against change, beside others who do the same. Whoever brings a schedule into force or changes the
 * customer takes the row for itself, so an invoice is saved by what is in force then.
 */
export async function holdCustomer(uow: Uow, id: Id<'cust'>): Promise<void> {
  await uow.tx
    .select({ id: customers.id })
    .from(customers)
    .where(and(inThisTenant(uow, customers), eq(customers.id, id)))
    .for('share')
}

/** Takes the row for itself: until commit no invoice of the customer is saved, and a billing run leaves its subscriptions for later. */
export async function takeCustomer(uow: Uow, id: Id<'cust'>): Promise<void> {
  await uow.tx
    .select({ id: customers.id })
    .from(customers)
    .where(and(inThisTenant(uow, customers), eq(customers.id, id)))
    .for('no key update')
}

/** Holds many customers, in one order. Gives the ids of those it holds; one that is being changed is left out with `skip`. */
export async function holdCustomers(
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
