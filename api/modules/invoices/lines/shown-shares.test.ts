import { describe, expect, test } from 'vitest'
import type { InvoiceContent, LineView, MeterValueView, PriceDetailsView } from '../schema.ts'
import { shownPeriods } from './shown-shares.ts'

const number = (text: string, count?: string): MeterValueView => ({
  type: 'NUMBER',
  number: text,
  ...(count ? { count } : {}),
})
const money = (quantity: string) => ({ type: 'AMOUNT' as const, amount: { quantity, currency: 'EUR' } })
const included = (available: MeterValueView, period: MeterValueView) => ({
  included_volume_details: { included_volume: available, available_included_volume: available, period_volume: period },
})
type Shown = { details: Partial<PriceDetailsView>; subs?: Partial<PriceDetailsView>[] }
function show({ details, subs }: Shown) {
  const line = { details, ...(subs ? { sub_lines: subs.map(each => ({ details: each })) } : {}) } as unknown as LineView
  const periods = [{ groups: [{ lines: [line] }] }] as unknown as InvoiceContent['periods']
  const found = shownPeriods(periods)[0]?.groups[0]?.lines[0]
  const partsOf = (of: PriceDetailsView | undefined) => [
    of?.band?.included_volume ?? null,
    of?.meter_value?.ratio ?? null,
  ]
  return [partsOf(found?.details), ...(found?.sub_lines ?? []).map(sub => partsOf(sub.details))]
}

describe('what a line shows of its included volume and its parts', () => {
  const band = {}
  test.each<[string, Shown, unknown[][]]>([
    ['nothing', { details: { band, meter_value: number('5') } }, [[null, null]]],
    [
      'one band',
      { details: { band, meter_value: number('30'), ...included(number('10'), number('30')) } },
      [[{ number: '10' }, null]],
    ],
    ['more than it has', { details: { band, ...included(number('40'), number('30')) } }, [[{ number: '30' }, null]]],
    ['usage below zero takes none', { details: { band, ...included(number('40'), number('-3')) } }, [[null, null]]],
    [
      'money and events',
      { details: { band, ...included({ ...money('10'), count: '2' }, { ...money('30'), count: '5' }) } },
      [[{ amount: { quantity: '10', currency: 'EUR' }, count: '2' }, null]],
    ],
    [
      'two bands',
      {
        details: { meter_value: number('30'), ...included(number('10'), number('30')) },
        subs: [
          { band, meter_value: number('15') },
          { band, meter_value: number('5') },
        ],
      },
      [
        [null, null],
        [{ number: '10' }, '0.5'],
        [null, '0.166666666667'],
      ],
    ],
    [
      'a split price',
      {
        details: { meter_value: number('40') },
        subs: ['a', 'a', 'b'].map(value => ({
          band,
          meter_value: number('10'),
          split_pricing: { meter_properties: [{ id: '1', reference: 'region', value }] },
          ...included(number('5'), number('10')),
        })),
      },
      [
        [null, null],
        [{ number: '5' }, '0.25'],
        [null, '0.25'],
        [{ number: '5' }, '0.25'],
      ],
    ],
    [
      'a prorated line',
      { details: { meter_value: number('4'), proration: { covered_days: 21, days: 31 } } },
      [[null, '0.677419354839']],
    ],
    [
      'no usage',
      { details: { meter_value: number('0') }, subs: [{ band, meter_value: number('0') }] },
      [
        [null, null],
        [null, null],
      ],
    ],
  ])('%s', (_, given, expected) => {
    expect(show(given)).toEqual(expected)
  })
})

test('two views of the same periods share them, so that a change is not compared by what both show', () => {
  const line = {
    details: { meter_value: number('4'), proration: { covered_days: 21, days: 31 } },
  } as unknown as LineView
  const periods = [{ groups: [{ lines: [line] }] }] as unknown as InvoiceContent['periods']
  expect(shownPeriods(periods)).toBe(shownPeriods(periods))
  expect(shownPeriods([...periods])).toEqual(shownPeriods(periods))
})
