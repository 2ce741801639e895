// What changes a subscription and its schedules together.
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { formatInstant } from '../../../shared/time.ts'
import { emit } from '../../outbox.ts'
import { deleteResource, saveChange, saveRemoval, updateResource } from '../../resource/commands.ts'
import type { Resource, Row, StoredRow } from '../../resource/define-resource.ts'
import type { FieldActions } from '../../resource/field-actions.ts'
import { lockExisting, lockOne, notFound } from '../../resource/store.ts'
import { viewOf } from '../../resource/views.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { listSchedules, scheduleResource } from './schedule.ts'
import { activateAllSchedules } from './schedule-commands.ts'
import { subscriptionResource } from './subscription.ts'
import type { Subscription } from './table.ts'

/** Changes a subscription. `status: ACTIVE` activates it with its draft schedules, after the other fields are changed. */
export async function updateSubscription(
  uow: Uow,
  idOrReference: string,
  patch: Row,
  actions: FieldActions = {},
): Promise<Subscription> {
  const { status, ...terms } = patch
  const previous = await lockOne(uow, subscriptionResource, idOrReference)
  if (!previous) throw notFound(subscriptionResource, idOrReference)
  if (status !== 'ACTIVE' || previous.status !== 'DRAFT') {
    return await updateResource(uow, subscriptionResource, previous.id, patch, actions)
  }
  const row = await updateResource(uow, subscriptionResource, previous.id, terms, actions)
  return await activateSubscription(uow, row)
}

/** The caller holds the subscription's lock, so of two activations at once the second finds it ACTIVE. */
async function activateSubscription(uow: Uow, subscription: Subscription): Promise<Subscription> {
  const customer = await requireActive(uow, customerResource, 'customer_id', subscription.customer_id)
  if (customer.roles.includes('PROCESSING_ONLY')) {
    const message = "The customer is PROCESSING_ONLY: its usage is its parents', and it is never billed itself."
    throw new AppError('INVALID_OPERATION', message, { field: 'customer_id', resourceId: subscription.customer_id })
  }
  const entity = await requireActive(uow, billingEntityResource, 'billing_entity_id', subscription.billing_entity_id)
  const seller = entity.registered_address?.country
  const buyer = (customer.organization?.registered_address ?? customer.individual?.residential_address)?.country
  const exempt = customer.organization?.tax_exempt === true
  if (seller === 'US' && buyer === 'US' && !exempt && subscription.sales_tax_percentage === null) {
    const message =
      'Seller and customer are in the US, so sales_tax_percentage is required before the subscription can be billed. Use "0" for an exempt sale.'
    throw new AppError('MISSING_FIELD', message, { field: 'sales_tax_percentage' })
  }
  await activateAllSchedules(uow, subscription)
  const now = formatInstant(uow.now)
  const row = await saveChange(uow, subscriptionResource, subscription, {
    status: 'ACTIVE',
    activated_at: now,
    next_billing_at: now,
    billing_entity_country: entity.registered_address?.country ?? null,
  })
  const data = await viewOf(uow, subscriptionResource, row)
  await emit(uow, { type: 'PRICING_PLAN_SUBSCRIPTION.ACTIVATED', objectId: row.id, data, previous: null })
  return row
}

async function requireActive<R extends StoredRow & { readonly status: string }>(
  uow: Uow,
  resource: Resource<R>,
  field: string,
  id: string,
): Promise<R> {
  // Locked, so that it is not archived meanwhile.
  const party = await lockExisting(uow, resource, id)
  if (party.status === 'ACTIVE') return party
  const message = `The ${resource.objectType} ${id} is ${party.status}; it must be ACTIVE before it can be billed.`
  throw new AppError('INVALID_OPERATION', message, { field, resourceId: id, resourceType: resource.objectType })
}

/** Deletes a DRAFT subscription with its schedules, none of which has ever been billed. */
export async function deleteSubscription(uow: Uow, idOrReference: string): Promise<Subscription> {
  const subscription = await lockOne(uow, subscriptionResource, idOrReference)
  if (!subscription) throw notFound(subscriptionResource, idOrReference)
  if (subscription.status === 'DRAFT') {
    for (const schedule of (await listSchedules(uow, subscription.id)).toReversed()) {
      await saveRemoval(uow, scheduleResource, schedule)
    }
  }
  return await deleteResource(uow, subscriptionResource, subscription.id)
}
