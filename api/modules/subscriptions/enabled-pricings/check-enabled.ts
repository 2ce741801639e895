// Whether a schedule can enable the pricings that it lists.
import { and } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { isOptional } from '../../catalog/pricing-plans/checks/optional.ts'
import { pricings } from '../../catalog/pricing-plans/table.ts'
import { startsTooLate } from '../stated-times.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'
import { requireSellerOfEnabled } from './require-seller.ts'
import type { EnabledPricing } from './schema.ts'

const refuse = (field: string, message: string) => new AppError('INVALID_FIELD', message, { field })

/**
 * Throws unless each is an ADDON, or in a pricing group, of the schedule's version or of a version of its rate card, at a time within the schedule,
 * enabled once at any time, and sold by the subscription's billing entity.
 */
export async function checkEnabled(uow: Uow, schedule: Schedule, before: Schedule | null): Promise<void> {
  const { enabled_pricings: enabled } = schedule
  if (enabled.length === 0) return
  const stored = before?.enabled_pricings ?? []
  for (const [index, entry] of enabled.entries()) checkTimes(entry, { index, schedule, stored })
  const versionIds = await versionsSold(uow, schedule)
  const rows = await uow.tx
    .select({
      id: pricings.id,
      name: pricings.name,
      product_type: pricings.product_type,
      pricing_group_id: pricings.pricing_group_id,
    })
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), anyOf(pricings.pricing_plan_version_id, idsOf('ppve', versionIds))))
  for (const [index, { pricing_id }] of enabled.entries()) {
    const field = `enabled_pricings.${index}.pricing_id`
    const found = rows.find(({ id }) => id === pricing_id)
    if (!found) {
      const message = `The schedule has no pricing ${pricing_id}; name one that it has.`
      throw new AppError('RESOURCE_NOT_FOUND', message, { field })
    }
    if (!isOptional(found)) {
      const message = `The pricing ${found.name} is not an ADDON and is in no group: the schedule always sells it. Leave it out.`
      throw refuse(field, message)
    }
  }
  const { billing_entity_id: soldBy } = await getOne(uow, subscriptionResource, schedule.pricing_plan_subscription_id)
  await requireSellerOfEnabled(uow, versionIds, { soldBy, enabled })
}

function checkTimes(
  entry: EnabledPricing,
  {
    index,
    schedule,
    stored,
  }: { readonly index: number; readonly schedule: Schedule; readonly stored: readonly EnabledPricing[] },
) {
  const field = `enabled_pricings.${index}`
  const [start, end] = timesOf(entry, schedule)
  if (end <= start) throw refuse(`${field}.end_at`, `It starts at ${start}; end it after that.`)
  if (startsTooLate(entry, schedule.end_at, stored))
    throw refuse(`${field}.start_at`, `The schedule ends at ${schedule.end_at}; start it before that.`)
  if (end <= schedule.start_at)
    throw refuse(`${field}.end_at`, `The schedule starts at ${schedule.start_at}; end it after that.`)
  const twice = schedule.enabled_pricings.slice(0, index).some(other => {
    const [from, until] = timesOf(other, schedule)
    return other.pricing_id === entry.pricing_id && from < end && start < until
  })
  if (twice) throw refuse(field, 'An earlier entry enables this pricing for part of that time; remove the overlap.')
}

/** After every time that is written. */
const FOR_GOOD = '~'
const timesOf = ({ start_at, end_at }: EnabledPricing, schedule: Schedule): readonly [string, string] => [
  start_at ?? schedule.start_at,
  end_at ?? FOR_GOOD,
]
