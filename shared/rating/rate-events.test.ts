import { expect, test } from 'vitest'
import { decimal, plain } from '../decimal.ts'
import { numberVolume } from './price.ts'
import { eventsOfOneSize } from './rate-events.ts'

test.each<[quantity: string, times: string, each: readonly string[] | null]>([
  ['10', '4', ['2.5']],
  ['0', '3', ['0']],
  ['0', '0', []],
  // No event has no usage, three equal ones do not add up to 10, and there is no half event.
  ['10', '0', null],
  ['10', '3', null],
  ['10', '2.5', null],
])('%s in %s events of one size', (quantity, times, each) => {
  const events = eventsOfOneSize(numberVolume(decimal(quantity)), decimal(times))
  expect(events?.map(of => plain(of.each.quantity)) ?? null).toEqual(each)
  if (events?.[0]) expect([plain(events[0].times), plain(events[0].each.count)]).toEqual([times, '1'])
})
