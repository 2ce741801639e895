// Creating and changing a group with its members.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { createResource, saveChange, updateResource } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { subscriptionResource } from '../subscription.ts'
import { membersOfGroup, requireOfOwner, subscriptionGroupResource } from './group.ts'
import type { SubscriptionGroup } from './table.ts'

const MEMBERS = 'pricing_plan_subscription_ids'

type GroupBody = Row & { readonly [MEMBERS]?: readonly string[] | null }

/** Creates a group from a validated body. Throws as `setMembers` does. */
export async function createGroup(uow: Uow, { [MEMBERS]: ids, ...body }: GroupBody): Promise<SubscriptionGroup> {
  const group = await createResource(uow, subscriptionGroupResource, body)
  await setMembers(uow, group, ids)
  return group
}

/** Changes a group by a validated body; a list of members replaces the one there is. Throws as `setMembers` does. */
export async function updateGroup(
  uow: Uow,
  idOrReference: string,
  { [MEMBERS]: ids, ...body }: GroupBody,
): Promise<SubscriptionGroup> {
  const group = await updateResource(uow, subscriptionGroupResource, idOrReference, body)
  await setMembers(uow, group, ids)
  return group
}

/**
 * Puts exactly these subscriptions into the group. Throws RESOURCE_NOT_FOUND for an unknown one, and INVALID_FIELD for one that is in
 * another group or of a customer whom the owner keeps out.
 */
async function setMembers(
  uow: Uow,
  group: SubscriptionGroup,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (ids === undefined) return
  const wanted = new Map((ids ?? []).map((id, index) => [id, `${MEMBERS}.${index}`]))
  const before = new Set(await membersOfGroup(uow, group.id))
  // In one order, so that two calls that want the same subscriptions wait for each other and do not deadlock.
  for (const id of [...new Set([...before, ...wanted.keys()])].sort()) {
    const field = wanted.get(id)
    if (field !== undefined && before.has(id)) continue
    const subscription = await lockOne(uow, subscriptionResource, id)
    if (!subscription) throw notFound(subscriptionResource, id, field ?? MEMBERS)
    const { pricing_plan_subscription_group_id: other } = subscription
    if (field === undefined) {
      await saveChange(uow, subscriptionResource, subscription, { pricing_plan_subscription_group_id: null })
      continue
    }
    if (other !== null)
      throw new AppError('INVALID_FIELD', `The subscription is in the group ${other}; remove it there first.`, {
        field,
        resourceId: other,
        resourceType: subscriptionGroupResource.objectType,
      })
    await requireOfOwner(uow, group, { customerId: subscription.customer_id, field })
    await saveChange(uow, subscriptionResource, subscription, { pricing_plan_subscription_group_id: group.id })
  }
}
