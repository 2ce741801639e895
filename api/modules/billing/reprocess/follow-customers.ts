// A change of what decides where a customer's usage belongs has the invoices concerned computed again: those of all the
// customer's subscriptions, and of the parents, those before and those now.
import { isDeepStrictEqual } from 'node:util'
import { instantOf } from '../../../../shared/time.ts'
import type { Resource } from '../../../resource/define-resource.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import type { Customer } from '../../parties/customers/table.ts'
import { refuseArchivingSubscribed } from '../../subscriptions/refuse-archiving.ts'
import { scheduleReprocess } from './schedule-reprocess.ts'

const DECIDING = ['pricing_plan_subscription_selector', 'parent_customer_ids'] as const
/** What holds while a customer is DRAFT, and for one that is new, holds from the beginning. */
const ALWAYS = instantOf(0)

/** Customers as the api changes them. Apart from the customer itself, which a reprocess refers to. */
export const followedCustomerResource: Resource<Customer> = {
  ...customerResource,
  check: async (uow, row, previous) => {
    await customerResource.check?.(uow, row, previous)
    await refuseArchivingSubscribed(uow, row, previous)
  },
  afterSave: async (uow, row, previous) => {
    await customerResource.afterSave?.(uow, row, previous)
    const before = previous ?? { pricing_plan_subscription_selector: null, parent_customer_ids: [] }
    if (DECIDING.every(name => isDeepStrictEqual(row[name], before[name]))) return
    const from = previous === null || previous.status === 'DRAFT' ? ALWAYS : uow.now
    const dropped = before.parent_customer_ids.filter(id => !row.parent_customer_ids.includes(id))
    for (const customerId of [row.id, ...dropped].toSorted()) await scheduleReprocess(uow, { customerId, from })
  },
}
