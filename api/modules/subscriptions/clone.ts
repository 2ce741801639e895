// A new subscription with the words of another, and its schedules.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { anyOf } from '../../../shared/database/statements/any-of.ts'
import { idOf, idsOf } from '../../../shared/ids.ts'
import { createResource } from '../../resource/commands.ts'
import { customFields } from '../../resource/custom-fields/table.ts'
import { customFieldsOf } from '../../resource/custom-fields/values.ts'
import type { Resource, Row, StoredRow } from '../../resource/define-resource.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { UPGRADED_FROM } from './ending/upgrade-subscription.ts'
import { scheduleResource } from './schedules/schedule.ts'
import { subscriptionResource } from './subscription.ts'
import type { Schedule, Subscription } from './table.ts'

/** What a body that creates such a row would say; what only the service sets is left out. */
const bodyOf = <R extends StoredRow>(resource: Resource<R>, row: R): Row =>
  Object.fromEntries(
    Object.entries(row).filter(([name]) => (resource.fields[name]?.create ?? 'never') !== 'never' && name !== 'status'),
  )

/** Creates a DRAFT subscription with the fields of another and those of `changes`, without its reference. */
export async function cloneSubscription(uow: Uow, from: Subscription, changes: Row): Promise<Subscription> {
  // It takes nobody's place, whatever the other one did.
  const { reference: _reference, [UPGRADED_FROM]: _upgraded, ...fields } = bodyOf(subscriptionResource, from)
  const body = { ...fields, custom_fields: await repeatableFields(uow, from.id), ...changes }
  // What the other does not have is not filled from the platform's defaults.
  return await createResource(uow, subscriptionResource, body, { isWhole: true })
}

/** The custom fields of a resource that another may have too. */
async function repeatableFields(uow: Uow, id: string) {
  const values = (await customFieldsOf(uow, [id])).get(id) ?? []
  if (values.length === 0) return []
  const repeatable = await uow.tx
    .select({ id: customFields.id })
    .from(customFields)
    .where(
      and(
        inThisTenant(uow, customFields),
        eq(customFields.unique_value, false),
        anyOf(
          customFields.id,
          idsOf(
            'cufi',
            values.map(value => value.id),
          ),
        ),
      ),
    )
  const ids = new Set(repeatable.map(field => field.id))
  return values.filter(value => ids.has(idOf('cufi', value.id)))
}

/** Creates a DRAFT schedule of `subscription` with the fields of another and those of `changes`. */
export const cloneSchedule = (uow: Uow, subscription: Subscription, from: Schedule, changes: Row): Promise<Schedule> =>
  createResource(uow, scheduleResource, {
    ...bodyOf(scheduleResource, from),
    pricing_plan_subscription_id: subscription.id,
    pricing_plan_id: from.pricing_plan_id,
    // The copy sells the same prices, until it is given others.
    own_pricing_plan_version_id: from.own_pricing_plan_version_id,
    ...changes,
  })
