// Voiding: a subscription that should never have been (semantics 4.1). Its invoices follow, where billing stands by it.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { saveChange } from '../../../resource/commands.ts'
import { lockExisting } from '../../../resource/store.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'

/**
 * Moves an ACTIVE or CANCELLED subscription to VOID; one that is VOID stays as it is. Throws INVALID_OPERATION for any other state,
 * and while an invoice of it is FINAL.
 */
export async function voidSubscription(uow: Uow, idOrReference: string): Promise<Subscription> {
  const subscription = await lockExisting(uow, subscriptionResource, idOrReference)
  const { status, type } = subscription
  if (status === 'VOID') return subscription
  if (type !== 'BILLING' || (status !== 'ACTIVE' && status !== 'CANCELLED')) {
    const message =
      type === 'BILLING'
        ? `The subscription is ${status}; only one that is ACTIVE or CANCELLED can be voided.`
        : `A ${type} is not billed, so there is nothing to void; archive it instead.`
    throw new AppError('INVALID_OPERATION', message, {
      field: 'status',
      resourceId: subscription.id,
      resourceType: subscriptionResource.objectType,
    })
  }
  return await saveChange(uow, subscriptionResource, subscription, { status: 'VOID', next_billing_at: null })
}
