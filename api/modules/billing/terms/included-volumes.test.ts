// Usage that a schedule includes for some time, from the schedule to the lines (semantics 3.3).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { zoneOf } from '../../../../shared/billing/local-days.ts'
import { plain } from '../../../../shared/decimal.ts'
import { at, instantOf, interval } from '../../../../shared/time.ts'
import { includedAt, includedIn, includedSpans } from '../../subscriptions/included-volumes/included-spans.ts'
import type { ScheduleIncludedVolume } from '../../subscriptions/included-volumes/schema.ts'
import { eur, exampleInputs, exampleInvoices, linesOf, metered } from '../testing/example-inputs.ts'

const day = (text: string) => `2026-${text}T00:00:00Z`
const of = (number: string, start?: string, end?: string, more: Partial<ScheduleIncludedVolume> = {}) => ({
  pricing_item_config_id: 'config0',
  number,
  ...(start ? { start_at: day(start) } : {}),
  ...(end ? { end_at: day(end) } : {}),
  ...more,
})
/** The amounts of three months from March on, of 1,000 units a month at 1.00. */
const months = (included_volumes: ScheduleIncludedVolume[], config: object = {}): string[] =>
  exampleInvoices(
    exampleInputs({
      start: day('03-01'),
      items: [metered([{ amount: eur('1') }], config)],
      schedules: [{ included_volumes }],
    }),
    3,
    '1000',
  ).map(invoice =>
    linesOf(invoice)
      .map(line => line.split(' ')[1])
      .join(' '),
  )

describe('what is included', () => {
  const BY_DEFAULT = { default_included_volume: { number: '310' } }
  test.each<[string, ScheduleIncludedVolume[], object, string[]]>([
    ['by a price that states none', [of('100')], {}, ['900.00', '900.00', '900.00']],
    ['instead of what the price includes', [of('100')], BY_DEFAULT, ['900.00', '900.00', '900.00']],
    ['of nothing', [of('0', '04-01', '05-01')], BY_DEFAULT, ['690.00', '1000.00', '690.00']],
    ['from a day on is granted by days', [of('31', '03-11')], {}, ['979.00', '969.00', '969.00']],
    [
      'until a day, then as the price does',
      [of('620', undefined, '03-11')],
      BY_DEFAULT,
      ['590.00', '690.00', '690.00'],
    ],
    ['one after the other', [of('600', '04-16'), of('300', '04-01', '04-16')], {}, ['1000.00', '550.00', '400.00']],
    [
      'of another price changes nothing',
      [{ ...of('100'), pricing_item_config_id: 'other' }],
      {},
      ['1000.00', '1000.00', '1000.00'],
    ],
  ])('%s', (_title, entries, config, expected) => expect(months(entries, config)).toEqual(expected))

  test('once for the whole schedule rises and falls with what is stated, and what was used stays used', () => {
    const reset_type = 'SCHEDULE' as const
    const more = months([
      of('1500', undefined, '05-01', { reset_type }),
      of('2000', '05-01', undefined, { reset_type }),
    ])
    expect(more).toEqual(['0.00', '500.00', '500.00'])
    const less = months([of('1500', undefined, '04-01', { reset_type }), of('0', '04-01', undefined, { reset_type })])
    expect(less).toEqual(['0.00', '1000.00', '1000.00'])
  })
})

describe('the spans', () => {
  const zone = zoneOf('Europe/Amsterdam')
  if (!zone) throw new Error('a known zone')
  const hour = fc.integer({ min: 0, max: 24 * 120 })
  const FROM = Date.parse(day('02-01'))
  const time = (hours: number) => instantOf(FROM + hours * 3_600_000)
  const text = (hours: number) => new Date(FROM + hours * 3_600_000).toISOString().replace('.000', '')

  test('law: what does not change is included as if it were not stated, over any partition of the time', () => {
    fc.assert(
      fc.property(fc.uniqueArray(hour, { minLength: 2, maxLength: 6 }), hour, hour, (cuts, a, b) => {
        const sorted = [...cuts].sort((x, y) => x - y)
        const entries = sorted.slice(1).map((end, index) => ({
          ...of('100'),
          start_at: text(sorted[index] ?? 0),
          end_at: text(end),
        }))
        const during = { start: time(0), end: null }
        const spans = includedSpans(entries, { number: '100' }, during)
        // One after the other, without a gap.
        for (const [index, span] of spans.entries())
          expect(span.start).toBe(index === 0 ? during.start : spans[index - 1]?.end)
        expect(spans.at(-1)?.end).toBeNull()
        const [from, until] = [Math.min(a, b), Math.max(a, b) + 1]
        const covered = interval(time(from), time(until))
        const whole = interval(time(0), time(24 * 200))
        const plainly = includedIn([{ start: time(0), end: null, included: spans[0]?.included ?? never() }], {
          covered,
          whole,
          zone,
        })
        expect(plain(includedIn(spans, { covered, whole, zone }).quantity)).toBe(plain(plainly.quantity))
      }),
    )
  })
  test('an entry holds from its start until its end', () => {
    const spans = includedSpans([of('5', '03-01', '04-01')], null, { start: at(day('02-01')), end: at(day('06-01')) })
    const shown = ['02-28', '03-01', '03-31', '04-01'].map(moment => plain(includedAt(spans, at(day(moment))).quantity))
    expect(shown).toEqual(['0', '5', '5', '0'])
  })
})
const never = (): never => {
  throw new Error('there is a span')
}
