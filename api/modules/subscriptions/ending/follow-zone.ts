// A subscription that is not renewed ends at a local midnight, and so elsewhere once its days are cut in another time zone. The change of a
// customer, a billing entity or a platform may be that of thousands of subscriptions, so each follows when it is billed next.
import { localDateOf, startOfLocalDay, type Zone } from '../../../../shared/billing/local-days.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { zonesOfSubscriptions } from '../billing-time/billing-calendar.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'
import { endedAt, saysTerm } from './inactive-periods.ts'
import { termEndBeside } from './subscription-term.ts'

type Ending = {
  readonly status: string
  readonly inactive_periods: readonly { readonly ends_with_term?: boolean | null; readonly start_at: string }[]
}

const isMidnight = (time: Instant, zone: Zone): boolean => startOfLocalDay(localDateOf(time, zone), zone) === time

/** Whether it ends with its term, at what is no midnight in its zone of now. Pure. */
export const endsBesideDays = ({ status, inactive_periods }: Ending, zoneNow: () => Zone): boolean =>
  status === 'ACTIVE' &&
  inactive_periods.some(
    ({ ends_with_term: byTerm, start_at }) => byTerm === true && !isMidnight(at(start_at), zoneNow()),
  )

/** Moves the end of a subscription that ends with its term to where that term ends by its zone of now. The caller holds its lock. */
export async function followZone(uow: Uow, subscription: Subscription): Promise<Subscription> {
  const { status, cancelled_at: ends } = subscription
  if (status !== 'ACTIVE' || ends === null || !saysTerm(subscription)) return subscription
  const moved = await termEndBeside(uow, subscription, at(ends))
  if (moved === null || formatInstant(moved) === ends) return subscription
  return await saveChange(uow, subscriptionResource, subscription, {
    ...endedAt(subscription, formatInstant(moved), { byTerm: true }),
    next_billing_at: formatInstant(uow.now),
  })
}

/** The same of many, in their order: few of them end elsewhere now, so their zones are read together. */
export async function followZones(uow: Uow, subscriptions: readonly Subscription[]): Promise<Subscription[]> {
  const byTerm = subscriptions.filter(saysTerm).map(({ id }) => id)
  const zones = byTerm.length === 0 ? new Map<string, Zone>() : await zonesOfSubscriptions(uow, byTerm)
  const followed: Subscription[] = []
  for (const each of subscriptions) {
    const zone = zones.get(each.id)
    followed.push(zone !== undefined && endsBesideDays(each, () => zone) ? await followZone(uow, each) : each)
  }
  return followed
}
