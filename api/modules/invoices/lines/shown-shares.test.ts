import { describe, expect, test } from 'vitest'
import { inOneGo } from '../../../../shared/pausing-work.ts'
import type { InvoiceContent, LineView, MeterValueView, PriceDetailsView } from '../schema.ts'
import { wholePeriods } from '../view.ts'
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
function lineShown(line: LineView, others: readonly string[] = []) {
  const periods = [{ groups: [{ lines: [line] }] }]
  const content = { periods, processing_only_customers: others.map(id => ({ id })) }
  return inOneGo(shownPeriods(content as unknown as InvoiceContent))[0]
}

type Shown = { details: Partial<PriceDetailsView>; subs?: Partial<PriceDetailsView>[] }
function show({ details, subs }: Shown) {
  const line = { details, ...(subs ? { sub_lines: subs.map(each => ({ details: each })) } : {}) } as unknown as LineView
  const found = lineShown(line)?.groups[0]?.lines[0]
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
  const taxes = { tax_categories: [] }
  const periods = [{ ...taxes, groups: [{ ...taxes, lines: [{ ...taxes, ...line }] }] }]
  const content = { ...taxes, periods } as unknown as InvoiceContent
  expect(wholePeriods({ ...content })).toBe(wholePeriods(content))
  const others = { ...content, tax_categories: [] }
  expect(wholePeriods(others)).not.toBe(wholePeriods(content))
  expect(wholePeriods(others)).toEqual(wholePeriods(content))
})

test('usage in several currencies, and what a line reports, show their part', () => {
  const converted = (amount: string, own: string) => ({
    ...{ amount: { quantity: amount, currency: 'USD' }, count: 1 },
    amount_in_pricing_currency: { quantity: own, currency: 'EUR' },
  })
  const report = (figure: object) => ({ meter_value_calculation_id: 'mvca_1', count: '1', ...figure })
  const of = {
    ...{ meter_value: number('40'), meter_values: [converted('10', '9'), converted('1', '1')] },
    report_meter_values: [report({ number: '10' }), report({ amount: { quantity: '1', currency: 'EUR' } })],
  }
  const shown = lineShown({ details: of } as unknown as LineView)?.groups[0]?.lines[0]?.details
  expect(shown?.meter_values?.map(({ ratio }) => ratio)).toEqual(['0.9', '0.1'])
  expect(shown?.report_meter_values?.map(({ ratio }) => ratio ?? null)).toEqual(['0.25', null])
})

test('customers other than the own show their part in what they use together', () => {
  const subOf = (id: string, share: string) => ({
    ...{ processing_only_customer_id: id, details: { meter_value_share_of_total: share } },
  })
  const line = { details: {}, sub_lines: [subOf('own', '0.6'), subOf('a', '0.3'), subOf('b', '0.1')] }
  const shown = lineShown(line as unknown as LineView, ['a', 'b'])?.groups[0]?.lines[0]?.sub_lines
  const parts = shown?.map(({ details }) => details.meter_value_share_of_processing_only_customer_total ?? null)
  expect(parts).toEqual([null, '0.75', '0.25'])
})
