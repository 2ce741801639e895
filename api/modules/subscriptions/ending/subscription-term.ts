// The terms of a stored subscription, and how they end it.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { zoneOfSubscription } from '../billing-time/billing-calendar.ts'
import { listSchedules } from '../schedules/schedule.ts'
import type { Subscription } from '../table.ts'
import { saysTerm } from './inactive-periods.ts'
import { currentTermEnd, endsCurrentTerm, initialTermEnd, termEndClosestTo } from './term-end.ts'

type Of<T> = (
  subscription: Subscription,
  start: Instant,
  zone: Awaited<ReturnType<typeof zoneOfSubscription>>,
) => T | null

async function ofTerms<T>(
  uow: ReadUow,
  subscription: Subscription,
  of: Of<T>,
  start: Instant | null = null,
): Promise<T | null> {
  if (subscription.initial_term === null) return null
  const [first] = await listSchedules(uow, subscription.id)
  if (!first) return null
  return of(subscription, start ?? at(first.start_at), await zoneOfSubscription(uow, subscription))
}

/** Where it ends by itself, since it is not renewed: the end of the term that runs now. Null for one that runs on. */
export const endByItself = (uow: ReadUow, subscription: Subscription): Promise<Instant | null> =>
  subscription.auto_renewal
    ? Promise.resolve(null)
    : // One that begins in the past and was never renewed ended with its initial term.
      ofTerms(uow, subscription, (terms, start, zone) =>
        subscription.status === 'ACTIVE'
          ? currentTermEnd(terms, start, zone, uow.now)
          : initialTermEnd(terms, start, zone),
      )

/** The end of the term that runs now, whether it is then renewed or not; null for a subscription without terms. */
export const termEndOf = (uow: ReadUow, subscription: Subscription): Promise<Instant | null> =>
  ofTerms(uow, subscription, (terms, start, zone) => currentTermEnd(terms, start, zone, uow.now))

/** Where the term ends that ended at `end` when the days of the subscription were cut in another zone; null without terms. */
export const termEndBeside = (uow: ReadUow, subscription: Subscription, end: Instant): Promise<Instant | null> =>
  ofTerms(uow, subscription, (terms, start, zone) => termEndClosestTo(end, terms, start, zone))

/**
 * Whether it is to end with its term: as it says itself, or by where the term that runs now ends, as this or an earlier version counts.
 * Terms count from `start`; by default from its first schedule.
 */
export async function endsWithTerm(
  uow: ReadUow,
  subscription: Subscription,
  start: Instant | null = null,
): Promise<boolean> {
  const { cancelled_at: ends } = subscription
  if (ends === null) return false
  if (saysTerm(subscription)) return true
  const isEnd = await ofTerms(
    uow,
    subscription,
    (terms, begun, zone) => endsCurrentTerm(terms, begun, zone, uow.now, at(ends)),
    start,
  )
  return isEnd === true
}
