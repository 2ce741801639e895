// The lists of events that a console shows. `fill-events.ts` or `fill-records.ts` makes the events.
import { meterReference } from '../billing-run/platform.ts'
import { eventCustomer } from './fill-events.ts'
import { RARE, SELDOM, UNUSED } from './fill-records.ts'

const DAY_MS = 24 * 3_600_000

/** Paths of lists of fifty events, by a name to print. `cursor`: the id of an event. `isMixed`: the events are of 22 meters, some of them rare. */
export function eventLists({
  now,
  cursor,
  isMixed,
}: {
  readonly now: number
  readonly cursor: string
  readonly isMixed: boolean
}): Readonly<Record<string, string>> {
  const month = `[${new Date(now - 30 * DAY_MS).toISOString()},${new Date(now).toISOString()}]`
  const ofMeter = (meter: string): string => `events?limit=50&meter_id=${meter}`
  const ofMixed = [meterReference(1), SELDOM, RARE, UNUSED].map(meter => [
    `fifty events of the meter ${meter}`,
    ofMeter(meter),
  ])
  return {
    'fifty events': 'events?limit=50',
    'fifty events, page 200': 'events?limit=50&page=200',
    'fifty events, page 1,000': 'events?limit=50&page=1000',
    'fifty events after a cursor': `events?limit=50&starting_after=${cursor}`,
    'fifty events of a customer and month': `events?limit=50&customer_id=${eventCustomer(7)}&timestamp=${month}`,
    'fifty events of a meter': ofMeter(meterReference(0)),
    ...(isMixed ? Object.fromEntries(ofMixed) : {}),
    'fifty events that are deleted': 'events?limit=50&deleted=true',
    'fifty repeats': 'events?limit=50&processed_details_type=DUPLICATE',
    'fifty events that match nothing': 'events?limit=50&processed_details_type=NOT_MATCHED',
  }
}
