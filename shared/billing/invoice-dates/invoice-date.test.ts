import { expect, test } from 'vitest'
import { type Instant, type Interval, interval, parseInstant } from '../../time.ts'
import { type Zone, zoneOf } from '../local-days.ts'
import { deliveryDate, type InvoiceDateInput, invoiceDate } from './invoice-date.ts'

const at = (text: string): Instant => parseInstant(text) as Instant
const BRUSSELS = zoneOf('Europe/Brussels') as Zone
/** 1 to 31 March in Brussels, where clocks change in between. */
const MARCH: Interval = interval(at('2026-02-28T23:00:00Z'), at('2026-03-31T22:00:00Z'))

const cases: readonly [Partial<InvoiceDateInput>, string][] = [
  [{ type: 'AT_END_OF_BILLING_PERIOD' }, '2026-03-31'],
  [{ type: 'AFTER_END_OF_BILLING_PERIOD' }, '2026-04-01'],
  [{ type: 'WHEN_INVOICE_GOES_TO_FINAL' }, '2026-05-05'],
  [{ type: 'AT_END_OF_BILLING_PERIOD', onlyAdvanceCharges: true }, '2026-03-01'],
  [{ type: 'AFTER_END_OF_BILLING_PERIOD', onlyAdvanceCharges: true }, '2026-03-01'],
  [{ type: 'WHEN_INVOICE_GOES_TO_FINAL', onlyAdvanceCharges: true }, '2026-05-05'],
]
test.each(cases)('%o is dated %s', (given, expected) => {
  const input = { type: 'AT_END_OF_BILLING_PERIOD', period: MARCH, onlyAdvanceCharges: false } as const
  // 22:30 UTC on 4 May is 5 May in Brussels.
  expect(invoiceDate({ ...input, finalizedAt: at('2026-05-04T22:30:00Z'), zone: BRUSSELS, ...given })).toBe(expected)
})

test('a cancellation during the day is dated that day, or the day after', () => {
  const period = interval(at('2026-03-31T22:00:00Z'), at('2026-04-16T13:00:00Z'))
  const input = { period, onlyAdvanceCharges: false, finalizedAt: period.end, zone: BRUSSELS }
  expect(invoiceDate({ ...input, type: 'AT_END_OF_BILLING_PERIOD' })).toBe('2026-04-16')
  expect(invoiceDate({ ...input, type: 'AFTER_END_OF_BILLING_PERIOD' })).toBe('2026-04-17')
  expect(deliveryDate(period, BRUSSELS)).toBe('2026-04-16')
})
