// What subscriptions and schedules need stays as they need it.
import { eq, isNotNull, or, sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { idOf } from '../../../shared/ids.ts'
import { beforeSave, namedBy } from '../../resource/rules.ts'
import { entitlementsIn } from '../catalog/features/guards.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import type { BillingEntity } from '../parties/billing-entities/table.ts'
import { isClosedOrArchived } from '../parties/customers/customer-status.ts'
import { customerResource } from '../parties/customers/resource.ts'
import type { Customer } from '../parties/customers/table.ts'
import { paymentAcceptorResource } from '../parties/payment-acceptors/payment-acceptor.ts'
import { APPROVAL_GUARDS } from './approvals/guards.ts'
import { CUSTOMER_IN_USE_GUARDS } from './checks/customers-in-use.ts'
import { anySubscription, inTheWay } from './checks/in-the-way.ts'
import { CHANGE_OF_CUSTOMER_GUARDS } from './coupons/change-of-customer.ts'
import { checkSelection } from './enabled-pricings/check-selection.ts'
import { subscriptionGroupResource } from './groups/group.ts'
import { RATE_CARD_GUARDS } from './rate-cards/guards.ts'
import { scheduleResource } from './schedules/schedule.ts'
import { requirePricedTime } from './schedules/schedule-version.ts'
import { SEAT_GUARDS } from './seats/guards.ts'
import { schedules, subscriptions } from './table.ts'

/**
 * Throws INVALID_OPERATION when the customer is about to be CLOSED or ARCHIVED and a subscription of it is ACTIVE: it would be billed on,
 * as a customer who is gone.
 */
async function refuseLeavingSubscribed(uow: Uow, customer: Customer, previous: Customer | null): Promise<void> {
  if (previous === null || !isClosedOrArchived(customer) || isClosedOrArchived(previous)) return
  const live = await anySubscription(
    uow,
    or(
      eq(subscriptions.customer_id, customer.id),
      eq(subscriptions.forward_customer_id, customer.id),
      sql`${subscriptions.seller_details} ->> 'seller_customer_id' = ${customer.id}`,
    ),
    eq(subscriptions.status, 'ACTIVE'),
  )
  if (live) throw inTheWay(live, `Its subscription ${live} is ACTIVE; cancel that first.`, 'status')
}

/**
 * Throws INVALID_OPERATION when the customer is about to be forgotten and a subscription has still to be billed: its last invoice needs
 * the name, and the address for the tax. That invoice may not be there yet.
 */
async function refuseForgettingUnbilled(uow: Uow, customer: Customer, previous: Customer | null): Promise<void> {
  if (customer.forgotten_at === null || previous?.forgotten_at) return
  const unbilled = await anySubscription(
    uow,
    or(eq(subscriptions.customer_id, customer.id), eq(subscriptions.forward_customer_id, customer.id)),
    isNotNull(subscriptions.next_billing_at),
  )
  if (!unbilled) return
  const message = `The last invoice of its subscription ${unbilled} is not FINAL yet and must still name it; forget the customer after that.`
  throw inTheWay(unbilled, message)
}

/** Throws INVALID_OPERATION when the billing entity is about to be ARCHIVED and bills an ACTIVE subscription. */
async function refuseArchivingSeller(uow: Uow, entity: BillingEntity, previous: BillingEntity | null): Promise<void> {
  if (previous === null || entity.status !== 'ARCHIVED' || previous.status === 'ARCHIVED') return
  const live = await anySubscription(
    uow,
    eq(subscriptions.billing_entity_id, entity.id),
    eq(subscriptions.status, 'ACTIVE'),
    eq(subscriptions.type, 'BILLING'),
  )
  if (live) throw inTheWay(live, `It bills the subscription ${live}, which is ACTIVE; cancel that first.`, 'status')
}

export const SUBSCRIPTION_GUARDS = [
  // First: of a customer who has a seat and a subscription, the refusal names the assignment (contract: Errors, Archive customer).
  ...SEAT_GUARDS,
  beforeSave(customerResource, refuseLeavingSubscribed),
  beforeSave(customerResource, refuseForgettingUnbilled),
  ...CUSTOMER_IN_USE_GUARDS,
  ...APPROVAL_GUARDS,
  beforeSave(billingEntityResource, refuseArchivingSeller),
  beforeSave(scheduleResource, checkSelection),
  beforeSave(scheduleResource, requirePricedTime),
  ...CHANGE_OF_CUSTOMER_GUARDS,
  ...RATE_CARD_GUARDS,
  namedBy(customerResource, {
    table: subscriptions,
    noun: 'subscription',
    names: id => sql`${subscriptions.seller_details} ->> 'seller_customer_id' = ${id}`,
  }),
  namedBy(paymentAcceptorResource, {
    table: subscriptions,
    noun: 'subscription',
    names: id => sql`${id} = any (${subscriptions.payment_acceptor_ids})`,
  }),
  namedBy(subscriptionGroupResource, {
    table: subscriptions,
    noun: 'subscription',
    names: id => eq(subscriptions.pricing_plan_subscription_group_id, idOf('ppsg', id)),
  }),
  ...entitlementsIn({ table: schedules, noun: 'schedule' }),
] as const
