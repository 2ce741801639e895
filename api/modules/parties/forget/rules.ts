// What follows when a customer is forgotten, and what can no longer happen to one.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { saveRemoval } from '../../../resource/commands.ts'
import { afterSave, beforeSave } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { contactResource } from '../contacts/contact.ts'
import { contacts } from '../contacts/table.ts'
import { customerResource } from '../customers/resource.ts'
import type { Customer } from '../customers/table.ts'

/** Throws INVALID_OPERATION for a change of a customer who is forgotten. */
function refuseChangingForgotten(_uow: Uow, customer: Customer, previous: Customer | null): void {
  if (!previous?.forgotten_at) return
  throw new AppError('INVALID_OPERATION', 'The customer is forgotten and never changes; create a new one.', {
    resourceId: customer.id,
    resourceType: customerResource.objectType,
  })
}

async function deleteContacts(uow: Uow, customer: Customer, previous: Customer | null): Promise<void> {
  if (customer.forgotten_at === null || previous?.forgotten_at) return
  const theirs = await uow.tx
    .select()
    .from(contacts)
    .where(and(inThisTenant(uow, contacts), eq(contacts.customer_id, customer.id)))
    .orderBy(contacts.id)
    .for('update')
  for (const contact of theirs) await saveRemoval(uow, contactResource, contact)
}

export const FORGET_GUARDS = [beforeSave(customerResource, refuseChangingForgotten)] as const
export const FORGET_EFFECTS = [afterSave(customerResource, deleteContacts)] as const
