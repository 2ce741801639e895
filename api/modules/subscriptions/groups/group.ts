// Groups of subscriptions, for reports and selectors. Each subscription names its group, and is in one at most (semantics 4.1).
import { and, asc } from 'drizzle-orm'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { Description, IdText, Name, Reference } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { whyGone } from '../../parties/customers/customer-status.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptions } from '../table.ts'
import { type SubscriptionGroup, subscriptionGroups } from './table.ts'

const MEMBERS_MAX = 1_000

/** Who is in it, which its commands store with the subscriptions. */
type GivenMembers = { readonly pricing_plan_subscription_ids?: readonly string[] | null }

export const subscriptionGroupResource = defineResource<SubscriptionGroup, GivenMembers>({
  objectType: 'PRICING_PLAN_SUBSCRIPTION_GROUP',
  shapeName: 'PricingPlanSubscriptionGroup',
  idPrefix: 'ppsg',
  path: 'pricing-plan-subscription-groups',
  table: subscriptionGroups,
  fields: {
    reference: field(Reference, { create: 'required' }),
    name: field(Name),
    description: field(Description),
    owner_customer_id: field(IdText('customer'), { change: 'never' }),
  },
  given: {
    pricing_plan_subscription_ids: field(
      Type.Array(IdText('subscription'), { maxItems: MEMBERS_MAX, uniqueItems: true }),
    ),
  },
  // Its POST and PATCH also act on subscriptions: they are in routes.ts.
  operations: ['list', 'get', 'delete'],
  byReference: true,
  // A group has subscriptions of several customers.
  testClockOf: null,
  filters: {
    owner_customer_id: { kind: 'equals', column: 'owner_customer_id' },
  },
  orderBy: ['reference', 'name'],
  expand: { owner_customer: { by: 'owner_customer_id', to: () => customerResource } },
  references: { owner_customer_id: () => customerResource },
  resolve: (_uow, row) => {
    const { pricing_plan_subscription_ids: _members, ...rest } = row
    return rest
  },
  check: async (uow, row, previous) => {
    if (row.owner_customer_id === null || previous !== null) return
    const gone = whyGone(await getOne(uow, customerResource, row.owner_customer_id))
    if (!gone) return
    const message = `The customer is ${gone} and cannot own a group; name another.`
    throw new AppError('INVALID_FIELD', message, { field: 'owner_customer_id' })
  },
  computed: { pricing_plan_subscription_ids: Type.Array(IdText('subscription')) },
  compute: async (uow, rows) => {
    const members = await membersOf(
      uow,
      rows.map(({ id }) => id),
    )
    return rows.map(({ id }) => ({ pricing_plan_subscription_ids: members.get(id) ?? [] }))
  },
  fixture: {
    create: async seed => ({ reference: seed.unique('group'), name: 'Departments' }),
    update: { name: 'All departments' },
  },
})

/** Ids of the subscriptions of each group, in the order of their creation. */
async function membersOf(uow: ReadUow, groupIds: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  if (groupIds.length === 0) return new Map()
  const { id, pricing_plan_subscription_group_id: group } = subscriptions
  const rows = await uow.tx
    .select({ id, group })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), anyOf(group, idsOf('ppsg', groupIds))))
    .orderBy(asc(subscriptions.created_at), asc(id))
  const byGroup = groupBy(rows, row => row.group ?? '')
  return new Map([...byGroup].map(([groupId, own]) => [groupId, own.map(row => row.id)]))
}

/** Ids of the subscriptions of a group. */
export const membersOfGroup = async (uow: ReadUow, groupId: string): Promise<readonly string[]> =>
  (await membersOf(uow, [groupId])).get(groupId) ?? []

/** Throws INVALID_FIELD unless a customer may have subscriptions in the group: with an owner, it and its children alone. */
export async function requireOfOwner(
  uow: ReadUow,
  { id, owner_customer_id: owner }: SubscriptionGroup,
  { customerId, field }: { readonly customerId: string | null; readonly field: string },
): Promise<void> {
  if (owner === null || owner === customerId) return
  const customer = customerId === null ? null : await getOne(uow, customerResource, customerId)
  if (customer?.parent_customer_ids.includes(owner)) return
  throw new AppError(
    'INVALID_FIELD',
    `The group takes only subscriptions of its owner ${owner} and of the children of that customer.`,
    {
      field,
      resourceId: id,
      resourceType: subscriptionGroupResource.objectType,
    },
  )
}
