// An id of another kind does not compile where rows are asked for, held or named: `npm run types` fails when one of these does.
import { eq } from 'drizzle-orm'
import { expectTypeOf, test } from 'vitest'
import type { Uow } from '../../../shared/database/database.ts'
import type { Id } from '../../../shared/ids.ts'
import type { Pricing, PricingPlanVersion } from '../catalog/pricing-plans/table.ts'
import { getInvoice } from '../invoices/repository.ts'
import type { InvoiceRow } from '../invoices/table.ts'
import { lockCustomerShared } from '../parties/customers/lock-customer.ts'
import type { Customer } from '../parties/customers/table.ts'
import type { Wallet, WalletGrant } from '../wallets/table.ts'
import { lockSubscription, lockSubscriptions } from './billing-time/next-billing.ts'
import { listSchedules } from './schedules/schedule.ts'
import { type Schedule, type Subscription, schedules, subscriptions } from './table.ts'

test('rows carry ids of their kind, and references those of what they name', () => {
  expectTypeOf<Customer['id']>().toEqualTypeOf<Id<'cust'>>()
  expectTypeOf<Subscription['id']>().toEqualTypeOf<Id<'ppsu'>>()
  expectTypeOf<Subscription['customer_id']>().toEqualTypeOf<Id<'cust'> | null>()
  expectTypeOf<Schedule['pricing_plan_subscription_id']>().toEqualTypeOf<Subscription['id']>()
  expectTypeOf<Schedule['pricing_plan_version_id']>().toEqualTypeOf<PricingPlanVersion['id']>()
  expectTypeOf<Pricing['pricing_plan_version_id']>().toEqualTypeOf<PricingPlanVersion['id']>()
  expectTypeOf<InvoiceRow['customer_id']>().toEqualTypeOf<Customer['id']>()
  expectTypeOf<WalletGrant['wallet_id']>().toEqualTypeOf<Wallet['id']>()
  expectTypeOf<Schedule['id']>().not.toEqualTypeOf<Subscription['id']>()
})

test('a mix-up does not compile', () => {
  const mixUps = (uow: Uow, subscription: Subscription, schedule: Schedule, customer: Customer, wallet: Wallet) => [
    // @ts-expect-error a customer is no subscription
    () => lockSubscription(uow, customer.id),
    // @ts-expect-error the schedules of a schedule
    () => listSchedules(uow, schedule.id),
    // @ts-expect-error a subscription is no customer
    () => lockCustomerShared(uow, subscription.id),
    // @ts-expect-error schedules are no subscriptions
    () => lockSubscriptions(uow, [schedule.id], { skip: false }),
    // @ts-expect-error an invoice of a wallet
    () => getInvoice(uow, wallet.id),
    // @ts-expect-error a column is compared with ids of its own kind alone
    () => eq(subscriptions.id, schedule.id),
    // @ts-expect-error a reference is one too
    () => eq(schedules.pricing_plan_subscription_id, customer.id),
  ]
  expectTypeOf(mixUps).toBeFunction()
})
