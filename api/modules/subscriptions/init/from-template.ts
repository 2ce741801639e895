// A subscription made from a template: its words, and its schedules moved to another start (semantics 4.2).
import { addPeriodAt, daysBetween, localDateOf, type Zone } from '../../../../shared/billing/periods.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { zoneOfSubscription } from '../billing-calendar.ts'
import { cloneSchedule, cloneSubscription } from '../clone.ts'
import { listSchedules } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'

const FIELD = 'template_pricing_plan_subscription_id'

type FromTemplate = { readonly templateId: string; readonly changes: Row; readonly startAt: string }

/** Creates a DRAFT with the words of an ACTIVE template and those of `changes`. Its schedules keep their lengths. */
export async function subscriptionFromTemplate(
  uow: Uow,
  { templateId, changes, startAt }: FromTemplate,
): Promise<{ readonly subscription: Subscription; readonly wants: unknown }> {
  // Locked, so that its schedules stand still meanwhile.
  const template = await lockOne(uow, subscriptionResource, templateId)
  if (!template) throw notFound(subscriptionResource, templateId, FIELD)
  if (template.type !== 'TEMPLATE' || template.status !== 'ACTIVE') {
    const message = `It is a ${template.type} that is ${template.status}; only an ACTIVE TEMPLATE can be used.`
    throw new AppError('INVALID_FIELD', message, { field: FIELD })
  }
  const { status: wants, ...rest } = changes
  const subscription = await cloneSubscription(uow, template, { type: 'BILLING', ...rest })
  const schedules = await listSchedules(uow, template.id)
  const from = schedules[0]?.start_at ?? startAt
  const zone = await zoneOfSubscription(uow, subscription)
  const moved = (time: string): string => formatInstant(movedTime(at(time), { from: at(from), to: at(startAt), zone }))
  for (const schedule of schedules) {
    const end_at = schedule.end_at === null ? null : moved(schedule.end_at)
    const atNewTime = <T extends { readonly start_at?: string | null; readonly end_at?: string | null }>(
      entry: T,
    ): T => ({
      ...entry,
      ...(entry.start_at ? { start_at: moved(entry.start_at) } : {}),
      ...(entry.end_at ? { end_at: moved(entry.end_at) } : {}),
    })
    const enabled_pricings = schedule.enabled_pricings.map(atNewTime)
    const seats_values = schedule.seats_values.map(atNewTime)
    const included_volumes = schedule.included_volumes.map(atNewTime)
    const placed = { start_at: moved(schedule.start_at), end_at }
    await cloneSchedule(uow, subscription, schedule, { ...placed, enabled_pricings, seats_values, included_volumes })
  }
  return { subscription: (await lockOne(uow, subscriptionResource, subscription.id)) ?? subscription, wants }
}

/**
 * `time` moved as `from` is to `to`: as many local days later, and the rest to the second. So what lasted fourteen days does, also over
 * a change of the clocks. Pure.
 */
export function movedTime(
  time: Instant,
  { from, to, zone }: { readonly from: Instant; readonly to: Instant; readonly zone: Zone },
): Instant {
  const day = { type: 'DAY', value: 1 } as const
  const days = daysBetween(localDateOf(from, zone), localDateOf(time, zone))
  const rest = time - addPeriodAt(from, day, zone, days)
  return instantOf(addPeriodAt(to, day, zone, days) + rest)
}
