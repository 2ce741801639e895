// The zone in which the periods of a subscription are cut, after its parties moved to another (semantics 0.4).
import { expect, test } from 'vitest'
import { localDays, type Zone } from '../../../../shared/billing/local-days.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import type { IssuedZone } from '../../subscriptions/billing-time/issued-zones.ts'
import { exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { billingZoneOf, type InvoiceWindow, invoiceWindows } from './windows.ts'

const TOKYO = 'Asia/Tokyo'
const ANGELES = 'America/Los_Angeles'

/** A monthly fee from the start of 2022 in Tokyo. */
function living(timezone: string, issued_zones?: readonly IssuedZone[], ahead = false): BillingInputs {
  const items = [recurring('310', { billing_in_advance: ahead })]
  const inputs = exampleInputs({ start: '2021-12-31T15:00:00Z', items })
  return { ...inputs, customer: { ...inputs.customer, timezone }, ...(issued_zones ? { issued_zones } : {}) }
}

function windowsOf(inputs: BillingInputs, count: number): InvoiceWindow[] {
  const taken: InvoiceWindow[] = []
  for (const window of invoiceWindows(inputs)) if (taken.push(window) === count) break
  return taken
}
const cutsOf = (inputs: BillingInputs, count: number): string[] =>
  windowsOf(inputs, count).map(({ cutoffAt }) => formatInstant(cutoffAt))

test('a change of zone after a year leaves every invoice of the year as it was', () => {
  const before = windowsOf(living(TOKYO), 14)
  const last = formatInstant(before[12]?.cutoffAt ?? expect.unreachable('a year'))
  expect(last).toBe('2022-12-31T15:00:00Z')
  const after = living(ANGELES, [{ timezone: TOKYO, cutoff_at: last }])
  // The last of them pays February ahead, which ends by the new zone.
  expect(windowsOf(after, 14).map(({ arrears }) => arrears)).toEqual(before.map(({ arrears }) => arrears))
  expect(cutsOf(after, 16).slice(13)).toEqual(['2023-01-31T15:00:00Z', '2023-03-01T08:00:00Z', '2023-04-01T07:00:00Z'])
})

test('each period is charged whole, in advance too', () => {
  const issued = [{ timezone: TOKYO, cutoff_at: '2021-12-31T15:00:00Z' }]
  for (const ahead of [false, true])
    expect(exampleInvoices(living(ANGELES, issued, ahead), 3).flatMap(linesOf)).toEqual([
      '2021-12-31..2022-01-31 310.00',
      '2022-01-31..2022-03-01 310.00',
      '2022-03-01..2022-04-01 310.00',
    ])
})

test('there and back: each move counts from the period after the one that followed', () => {
  const issued = [
    { timezone: TOKYO, cutoff_at: '2022-01-31T15:00:00Z' },
    { timezone: ANGELES, cutoff_at: '2022-02-28T15:00:00Z' },
  ]
  expect(cutsOf(living(TOKYO, issued), 6)).toEqual([
    '2021-12-31T15:00:00Z',
    '2022-01-31T15:00:00Z',
    '2022-02-28T15:00:00Z',
    '2022-04-01T07:00:00Z',
    '2022-04-30T15:00:00Z',
    '2022-05-31T15:00:00Z',
  ])
})

test('without a move it is the zone of the parties, and after the end of the subscription a move changes nothing', () => {
  expect(billingZoneOf(living(TOKYO))).toBe(TOKYO)
  const ended = living(ANGELES, [{ timezone: TOKYO, cutoff_at: '2022-01-20T15:00:00Z' }])
  const schedules = ended.schedules.map(schedule => ({ ...schedule, end_at: '2022-01-20T15:00:00Z' }))
  expect(cutsOf({ ...ended, schedules }, 3)).toEqual(['2021-12-31T15:00:00Z', '2022-01-20T15:00:00Z'])
})

test('the days of a part are counted over the move', () => {
  const zone: Zone = billingZoneOf(living(ANGELES, [{ timezone: TOKYO, cutoff_at: '2022-01-31T15:00:00Z' }]))
  const of = (start: string, end: string) => localDays({ start: at(start), end: at(end) }, zone)
  expect(of('2022-02-10T15:00:00Z', '2022-02-28T15:00:00Z')).toBe(18)
  expect(of('2022-02-28T15:00:00Z', '2022-03-11T08:00:00Z')).toBe(10)
})
