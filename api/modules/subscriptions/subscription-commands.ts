// What changes a subscription and its schedules together.
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { isTestTime } from '../../../shared/test-time.ts'
import { formatInstant } from '../../../shared/time.ts'
import { emit } from '../../outbox.ts'
import type { FieldActions } from '../../resource/changes/field-actions.ts'
import { deleteResource, saveChange, saveRemoval, updateResource } from '../../resource/commands.ts'
import type { Resource, Row, StoredRow } from '../../resource/define-resource.ts'
import { getOne, lockExisting, lockOne, notFound } from '../../resource/store.ts'
import { type Identifier, upsertResource } from '../../resource/upsert/upsert.ts'
import { viewOf } from '../../resource/views.ts'
import { requireClocks } from '../../test-clock/test-clock.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import type { BillingEntity } from '../parties/billing-entities/table.ts'
import { isClosedOrArchived } from '../parties/customers/customer-status.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { endUpgraded } from './ending/end-upgraded.ts'
import { endedAt, runningOn } from './ending/inactive-periods.ts'
import { endByItself, endsWithTerm, termEndOf } from './ending/subscription-term.ts'
import { listSchedules, scheduleResource } from './schedules/schedule.ts'
import { activateAllSchedules, type PathOfSchedule } from './schedules/schedule-commands.ts'
import { listSeats, seatAssignmentResource } from './seats/seat-assignment.ts'
import { subscriptionResource } from './subscription.ts'
import type { Subscription } from './table.ts'
import { requireSameClock } from './test-clocks/same-clock.ts'
import { billedCustomerOf, checkVariant } from './variants.ts'

/** The statuses that a call of their own leads to: more is done then than a change of the status. */
const CALL_FOR: ReadonlyMap<unknown, string> = new Map([
  ['CANCELLED', 'cancel'],
  ['VOID', 'void'],
])

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
  const call = status === previous.status ? undefined : CALL_FOR.get(status)
  if (call !== undefined) {
    const message = `No PATCH makes a subscription ${status}; send POST /v1/pricing-plan-subscriptions/{id}/${call} instead.`
    throw new AppError('INVALID_OPERATION', message, { field: 'status' })
  }
  if (status !== 'ACTIVE' || previous.status !== 'DRAFT') {
    const row = await updateResource(uow, subscriptionResource, previous.id, patch, actions)
    return await followRenewal(uow, row, previous)
  }
  const row = await updateResource(uow, subscriptionResource, previous.id, terms, actions)
  return await activateSubscription(uow, row)
}

/** Creates a subscription from a validated body, or updates the one that it names. Says which. */
export async function upsertSubscription(
  uow: Uow,
  body: Row,
  options: { readonly identifier: Identifier; readonly actions: FieldActions },
): Promise<{ row: Subscription; created: boolean }> {
  const { status, ...terms } = body
  const { row, created } = await upsertResource(uow, subscriptionResource, terms, options)
  // The order of a PATCH: the other fields first, so that it is judged as it will be.
  if (status === undefined || status === null || status === row.status) return { row, created }
  return { row: await updateSubscription(uow, row.id, { status }), created }
}

/**
 * Activates a DRAFT subscription with its schedules. The caller holds its lock, so of two activations at once the second finds it
 * ACTIVE. `pathOf`: where the request says its schedules, if it does.
 */
export async function activateSubscription(
  uow: Uow,
  subscription: Subscription,
  pathOf?: PathOfSchedule,
): Promise<Subscription> {
  if (subscription.type === 'QUOTE') {
    const message = 'A QUOTE is what a quote offers; it is not billed itself. Create a subscription of type BILLING.'
    throw new AppError('INVALID_OPERATION', message, { field: 'status' })
  }
  // Before the customer, as a billing run has it: the two wait for each other, and neither has what the other one needs.
  const { upgraded_from_pricing_plan_subscription_id: oldId } = subscription
  if (oldId !== null) await lockOne(uow, subscriptionResource, oldId)
  const entityId = subscription.billing_entity_id
  const entity = await requireActive(uow, billingEntityResource, { field: 'billing_entity_id', id: entityId }, 'share')
  const { customer_id: customerId, forward_customer_id: forwardId } = subscription
  if (customerId !== null) await requireProcessed(uow, 'customer_id', customerId)
  if (forwardId !== null) {
    await requireProcessed(uow, 'forward_customer_id', forwardId)
    if (customerId !== null) await requireSameClock(uow, [customerId, forwardId])
  }
  const sellerId = subscription.seller_details?.seller_customer_id
  if (sellerId !== undefined) await requireSellerThere(uow, sellerId)
  // Again: the role of a customer may change while it is DRAFT.
  await checkVariant(uow, subscription, null)
  // Held by now: one that was attached to a test clock since the call came is activated in the time of that.
  if (!isTestTime())
    await requireClocks(
      uow,
      [customerId, forwardId].filter(id => id !== null),
    )
  const billedId = billedCustomerOf(subscription)
  if (billedId !== null) await requireSalesTax(uow, subscription, billedId, entity)
  await activateAllSchedules(uow, subscription, pathOf)
  await endUpgraded(uow, subscription)
  const now = formatInstant(uow.now)
  const ends = await endByItself(uow, subscription)
  const row = await saveChange(uow, subscriptionResource, subscription, {
    status: 'ACTIVE',
    activated_at: now,
    // A TEMPLATE is never billed.
    next_billing_at: subscription.type === 'BILLING' ? now : null,
    billing_entity_country: entity.registered_address?.country ?? null,
    ...(ends === null || subscription.type !== 'BILLING'
      ? {}
      : endedAt(subscription, formatInstant(ends), { byTerm: true })),
  })
  const data = await viewOf(uow, subscriptionResource, row)
  await emit(uow, { type: 'PRICING_PLAN_SUBSCRIPTION.ACTIVATED', objectId: row.id, data, previous: null })
  return row
}

/**
 * What follows when it is said whether a running subscription is renewed: one that is not ends with the term that runs now, unless it
 * is cancelled before that; one that is again runs on, unless it is cancelled for another time.
 */
async function followRenewal(uow: Uow, row: Subscription, previous: Subscription): Promise<Subscription> {
  if (row.status !== 'ACTIVE' || row.type !== 'BILLING') return row
  // Another one takes its place, whether it is renewed or not.
  if (row.upgraded_to_pricing_plan_subscription_id !== null) return row
  const termEnd = await termEndOf(uow, row)
  if (termEnd === null || row.auto_renewal === previous.auto_renewal) return row
  const end = formatInstant(termEnd)
  const now = formatInstant(uow.now)
  if (row.cancelled_at !== null && row.cancelled_at <= now) return row
  if (!row.auto_renewal) {
    if (row.cancelled_at !== null && row.cancelled_at <= end) return row
    return await saveChange(uow, subscriptionResource, row, {
      ...endedAt(row, end, { byTerm: true }),
      next_billing_at: now,
    })
  }
  // By the terms that it had: other ones may come with this change.
  if (!(await endsWithTerm(uow, previous))) return row
  return await saveChange(uow, subscriptionResource, row, { ...runningOn(row), next_billing_at: now })
}

/** Throws INVALID_OPERATION for a customer that is not ACTIVE, or that is never billed. */
async function requireProcessed(uow: Uow, field: string, customerId: string): Promise<void> {
  const customer = await requireActive(uow, customerResource, { field, id: customerId }, 'no key update')
  if (!customer.roles.includes('PROCESSING_ONLY')) return
  const message = "The customer is PROCESSING_ONLY: its usage is its parents', and it is never billed itself."
  throw new AppError('INVALID_OPERATION', message, { field, resourceId: customerId })
}

/** Throws INVALID_OPERATION for a seller who is gone, which is held as by requireActive. */
async function requireSellerThere(uow: Uow, sellerId: string): Promise<void> {
  const seller = await lockExisting(uow, customerResource, sellerId, 'no key update')
  if (!isClosedOrArchived(seller)) return
  const message = `The seller is ${seller.status}, so nothing is billed for it any more; name another one.`
  throw new AppError('INVALID_OPERATION', message, {
    field: 'seller_details.seller_customer_id',
    resourceId: sellerId,
    resourceType: customerResource.objectType,
  })
}

/** Throws MISSING_FIELD for a sale within the US whose tax is not stated; where a tax engine decides it, it need not be. */
async function requireSalesTax(
  uow: Uow,
  subscription: Subscription,
  customerId: string,
  entity: BillingEntity,
): Promise<void> {
  const customer = await getOne(uow, customerResource, customerId)
  const seller = entity.registered_address?.country
  const buyer = (customer.organization?.registered_address ?? customer.individual?.residential_address)?.country
  const exempt = customer.organization?.tax_exempt === true
  if (entity.tax_settings?.provider === 'EXTERNAL') return
  if (seller === 'US' && buyer === 'US' && !exempt && subscription.sales_tax_percentage === null) {
    const message =
      'Seller and customer are in the US, so sales_tax_percentage is required before the subscription can be billed. Use "0" for an exempt sale.'
    throw new AppError('MISSING_FIELD', message, { field: 'sales_tax_percentage' })
  }
}

/**
 * Locked, so that it is not archived meanwhile. Not against those that only name it: the subscription may just have been created, by
 * this call, beside others of the same customer or billing entity.
 */
async function requireActive<R extends StoredRow & { readonly status: string }>(
  uow: Uow,
  resource: Resource<R>,
  { field, id }: { readonly field: string; readonly id: string },
  strength: 'no key update' | 'share',
): Promise<R> {
  const party = await lockExisting(uow, resource, id, strength)
  if (party.status === 'ACTIVE') return party
  const message = `The ${resource.objectType} ${id} is ${party.status}; it must be ACTIVE before it can be billed.`
  throw new AppError('INVALID_OPERATION', message, { field, resourceId: id, resourceType: resource.objectType })
}

/** Deletes a DRAFT subscription with its schedules, none of which has ever been billed, and its seat assignments. */
export async function deleteSubscription(uow: Uow, idOrReference: string): Promise<Subscription> {
  const subscription = await lockOne(uow, subscriptionResource, idOrReference)
  if (!subscription) throw notFound(subscriptionResource, idOrReference)
  if (subscription.status === 'DRAFT') {
    for (const schedule of (await listSchedules(uow, subscription.id)).toReversed()) {
      await saveRemoval(uow, scheduleResource, schedule)
    }
    for (const seat of await listSeats(uow, subscription.id)) await saveRemoval(uow, seatAssignmentResource, seat)
  }
  return await deleteResource(uow, subscriptionResource, subscription.id)
}
