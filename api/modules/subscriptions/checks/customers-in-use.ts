// What a customer may no longer become, since a subscription names it: the rules that judged the subscription hold for later changes too.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { beforeSave } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import type { Customer } from '../../parties/customers/table.ts'
import { subscriptionGroups } from '../groups/table.ts'
import { subscriptions as s } from '../table.ts'
import { anySubscription, inTheWay } from './in-the-way.ts'

/** A DRAFT customer may change its role. Throws where an ACTIVE subscription bills for it as a seller. */
async function keepSeller(uow: Uow, row: Customer, previous: Customer | null): Promise<void> {
  if (!previous?.roles.includes('SELLER') || row.roles.includes('SELLER')) return
  const billed = await anySubscription(
    uow,
    sql`${s.seller_details} ->> 'seller_customer_id' = ${row.id}`,
    eq(s.status, 'ACTIVE'),
    eq(s.type, 'BILLING'),
  )
  if (billed)
    throw inTheWay(billed, `The subscription ${billed} is billed for it as a SELLER; cancel that first.`, 'roles')
}

/** A group with an owner has subscriptions of its owner and of the children of that customer alone. Throws where this would be one no more. */
async function keepParent(uow: Uow, row: Customer, previous: Customer | null): Promise<void> {
  const left = (previous?.parent_customer_ids ?? []).filter(id => !row.parent_customer_ids.includes(id))
  if (left.length === 0) return
  const [member] = await uow.tx
    .select({ id: s.id, group: subscriptionGroups.id, owner: subscriptionGroups.owner_customer_id })
    .from(s)
    .innerJoin(
      subscriptionGroups,
      and(inThisTenant(uow, subscriptionGroups), eq(subscriptionGroups.id, s.pricing_plan_subscription_group_id)),
    )
    .where(
      and(
        inThisTenant(uow, s),
        eq(s.customer_id, row.id),
        inArray(s.status, ['DRAFT', 'ACTIVE']),
        anyOf(subscriptionGroups.owner_customer_id, idsOf('cust', left)),
      ),
    )
    .limit(1)
  if (!member) return
  const message = `Its subscription ${member.id} is in the group ${member.group} of the parent ${member.owner}; take it out of the group first.`
  throw inTheWay(member.id, message, 'parent_customer_ids')
}

export const CUSTOMER_IN_USE_GUARDS = [
  beforeSave(customerResource, keepSeller),
  beforeSave(customerResource, keepParent),
] as const
