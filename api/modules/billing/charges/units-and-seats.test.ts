// Items that are sold once, by units, and items that are charged by seats (contract: Units on one-off items; semantics
// 4.4).
import { describe, expect, test } from 'vitest'
import type { BandInput } from '../../../../shared/rating/parse/parse-price-config.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import type { ConfigInput } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import {
  type ExampleItem,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  linesOf,
  recurring,
} from '../testing/example-inputs.ts'

const start = '2026-03-11T00:00:00Z'
const sold = (
  model_type: 'ONE_OFF' | 'PER_SEAT',
  bands: readonly BandInput[],
  config: Partial<ConfigInput>,
): ExampleItem => ({
  item: { model_type },
  config: { pricing_type: 'FLAT', ...config },
  bands,
})
const lines = (items: readonly ExampleItem[], count = 3, more = {}) =>
  exampleInvoices(exampleInputs({ start, items, ...more }), count).map(linesOf)

describe('an item that is sold once', () => {
  const unit = [{ fixed_amount: eur('5'), amount: eur('20') }]

  test('is charged once at the start of its schedule, in full', () => {
    const items = [sold('ONE_OFF', unit, { default_units: { number: '3' } }), recurring('31')]
    expect(lines(items)).toEqual([
      ['2026-03-11..2026-04-01 65.00'],
      ['2026-03-11..2026-04-01 21.00'],
      ['2026-04-01..2026-05-01 31.00'],
    ])
  })

  test('charges one unit by default; a lump sum has no units', () => {
    expect(lines([sold('ONE_OFF', unit, {})])).toEqual([['2026-03-11..2026-04-01 25.00']])
    const lump = sold('ONE_OFF', [{ fixed_amount: eur('99') }], { pricing_type: 'FIXED' })
    expect(lines([lump])).toEqual([['2026-03-11..2026-04-01 99.00']])
  })

  test('is charged by each schedule that has it', () => {
    const schedules = [{ end_at: '2026-04-01T00:00:00Z' }, { start_at: '2026-04-01T00:00:00Z' }]
    expect(lines([sold('ONE_OFF', unit, {})], 3, { schedules })).toEqual([
      ['2026-03-11..2026-04-01 25.00'],
      ['2026-04-01..2026-05-01 25.00'],
    ])
  })

  test('is marked, so that its days are not refunded', () => {
    const inputs = exampleInputs({
      start,
      items: [sold('ONE_OFF', unit, {}), recurring('31', { billing_in_advance: true })],
    })
    const [window] = invoiceWindows(inputs)
    if (!window) throw new Error('there is a window')
    const request = {
      terms: resolveTerms(inputs),
      window,
      billed: new Set<string>(),
      usage: new Map(),
      finalizedAt: null,
    }
    const sources = priceInvoice(inputs, request).lines.map(({ source }) => source)
    expect(sources).toMatchObject([{ in_advance: true, one_off: true }, { in_advance: true }])
    expect(sources[1]).not.toHaveProperty('one_off')
  })

  test('in packs costs those that its units take', () => {
    const pack = [{ fixed_amount: eur('5'), amount: eur('20'), block_size: { number: '5' } }]
    expect(lines([sold('ONE_OFF', pack, { default_units: { number: '7' }, block_rounding: 'UP' })])).toEqual([
      ['2026-03-11..2026-04-01 45.00'],
    ])
  })

  test('says its units', () => {
    const items = [sold('ONE_OFF', unit, { default_units: { number: '3' } })]
    const [invoice] = exampleInvoices(exampleInputs({ start, items }), 1)
    expect(invoice?.content.periods[0]?.groups[0]?.lines[0]?.details.description).toBe('fixed 5 EUR + 3 × 20 EUR')
  })
})

describe('an item that is charged by seats', () => {
  const seats = (number: string, config: Partial<ConfigInput> = {}) =>
    sold('PER_SEAT', [{ amount: eur('10') }], { default_seats_value: { number }, ...config })

  test('costs its seats each period, prorated by days in a partial one', () => {
    expect(lines([seats('5')], 2)).toEqual([['2026-03-11..2026-04-01 33.87'], ['2026-04-01..2026-05-01 50.00']])
    expect(lines([seats('5', { billing_in_advance: true })], 2)).toEqual([
      ['2026-03-11..2026-04-01 33.87'],
      ['2026-04-01..2026-05-01 50.00'],
    ])
  })

  test('may be stated with decimals, as half a seat is', () => {
    expect(lines([seats('1.5')], 2)[1]).toEqual(['2026-04-01..2026-05-01 15.00'])
  })

  test('in tiers goes by the number of seats; a price a year is scaled', () => {
    const tiers = [{ amount: eur('10'), tier_top_bound: { number: '2' } }, { amount: eur('8') }]
    const tiered = sold('PER_SEAT', tiers, { pricing_type: 'TIERED', default_seats_value: { number: '5' } })
    expect(lines([tiered], 2)[1]).toEqual(['2026-04-01..2026-05-01 44.00'])
    const yearly = seats('3', { pricing_period: { type: 'YEAR', value: 1 } })
    expect(lines([yearly], 2)[1]).toEqual(['2026-04-01..2026-05-01 2.50'])
  })

  test('in packs costs the packs that its seats take, and a rise in advance those that it adds', () => {
    const packs = (config: Partial<ConfigInput>) =>
      sold('PER_SEAT', [{ amount: eur('10'), block_size: { number: '5' } }], { block_rounding: 'UP', ...config })
    expect(lines([packs({ default_seats_value: { number: '8' } })], 2)[1]).toEqual(['2026-04-01..2026-05-01 20.00'])
    const schedules = (from: string, to: string) => ({
      schedules: [
        {
          seats_values: [
            { pricing_item_config_id: 'config0', number: from, end_at: '2026-04-11T00:00:00Z' },
            { pricing_item_config_id: 'config0', number: to, start_at: '2026-04-11T00:00:00Z' },
          ],
        },
      ],
    })
    const ahead = packs({ billing_in_advance: true })
    // Two thirds of April are left for the pack that the sixth seat adds.
    expect(lines([ahead], 3, schedules('5', '6'))[2]).toEqual([
      '2026-04-11..2026-05-01 6.67',
      '2026-05-01..2026-06-01 20.00',
    ])
    expect(lines([ahead], 3, schedules('6', '10'))[2]).toEqual([
      '2026-04-11..2026-05-01 0.00',
      '2026-05-01..2026-06-01 20.00',
    ])
  })

  test('has no line without seats', () => {
    expect(lines([seats('0'), recurring('31')], 2)[1]).toEqual(['2026-04-01..2026-05-01 31.00'])
    expect(lines([sold('PER_SEAT', [{ amount: eur('10') }], {}), recurring('31')], 2)[1]).toHaveLength(1)
  })
})

describe('a schedule that states its seats and units', () => {
  const band = { amount: eur('10') }
  const at = (text: string) => `2026-${text}T00:00:00Z`
  const stated = (...values: [number: string, from?: string | undefined, to?: string][]) => ({
    schedules: [
      {
        seats_values: values.map(([number, from, to]) => ({
          pricing_item_config_id: 'config0',
          number,
          ...(from ? { start_at: at(from) } : {}),
          ...(to ? { end_at: at(to) } : {}),
        })),
      },
    ],
  })
  const billed = (config: Partial<ConfigInput>, more: object, count: number) =>
    exampleInvoices(
      exampleInputs({ start: at('03-01'), items: [sold('PER_SEAT', [band], config), recurring('1')], ...more }),
      count,
    ).map(invoice =>
      linesOf(invoice)
        .filter(line => !line.endsWith(' 1.00'))
        .map(line => line.slice(5)),
    )

  // semantics 4.4: 5 seats at 10 from 1 March, 8 from 11 March.
  test('in arrears by the days of each number', () => {
    const [march, april] = billed({}, stated(['5', undefined, '03-11'], ['8', '03-11']), 2)
    expect(march).toEqual(['03-01..2026-03-11 16.13', '03-11..2026-04-01 54.19'])
    expect(april).toEqual(['04-01..2026-05-01 80.00'])
  })

  test('in advance a rise is on the next invoice; fewer seats count from the next period on', () => {
    const values = stated(['5', undefined, '03-11'], ['8', '03-11', '04-11'], ['2', '04-11'])
    expect(billed({ billing_in_advance: true }, values, 4)).toEqual([
      ['03-01..2026-04-01 50.00'],
      ['03-11..2026-04-01 20.32', '04-01..2026-05-01 80.00'],
      ['05-01..2026-06-01 20.00'],
      ['06-01..2026-07-01 20.00'],
    ])
  })

  test('the number of the price, or the assignments, count where the schedule states none', () => {
    const later = stated(['8', '03-11', '03-21'])
    expect(billed({ default_seats_value: { number: '5' } }, later, 1)).toEqual([
      ['03-01..2026-03-11 16.13', '03-11..2026-03-21 25.81', '03-21..2026-04-01 17.74'],
    ])
    const seats = [{ product_item_id: 'item0', start_at: at('03-01'), end_at: null }]
    expect(billed({}, { ...later, inputs: { seats } }, 1)).toEqual([
      ['03-01..2026-03-11 3.23', '03-11..2026-03-21 25.80', '03-21..2026-04-01 3.55'],
    ])
  })

  test('a number stated after the period was billed ahead adds what is above the number of the price', () => {
    const inputs = (more: object) =>
      exampleInputs({
        start: at('03-01'),
        items: [sold('PER_SEAT', [band], { billing_in_advance: true, default_seats_value: { number: '5' } })],
        ...more,
      })
    const [first] = exampleInvoices(inputs({}), 1)
    const after = inputs(stated(['8', '03-11']))
    const [, second] = invoiceWindows(after)
    if (!first || !second) throw new Error('there are two')
    const next = exampleInvoice(after, second, { usage: '0', billed: new Set(first.advanceCharges) })
    expect(linesOf(next).map(line => line.slice(5))).toEqual(['03-11..2026-04-01 20.32', '04-01..2026-05-01 80.00'])
  })

  test('units of the schedule come before those of the price', () => {
    const unit = [{ fixed_amount: eur('5'), amount: eur('20') }]
    const units = [{ pricing_item_config_id: 'config0', number: '4' }]
    const item = sold('ONE_OFF', unit, { default_units: { number: '3' } })
    expect(lines([item], 1, { schedules: [{ units }] })).toEqual([['2026-03-11..2026-04-01 85.00']])
  })
})

describe('an item that is charged by its assignments', () => {
  const band = { amount: eur('10') }
  type Seated = { readonly start: string; readonly end?: string }
  const day = (text: string) => `2026-${text}T00:00:00Z`
  /** Seats from one day to another, all of the first item. */
  const occupied = (...times: readonly Seated[]) => ({
    seats: times.map(({ start: from, end }) => ({
      product_item_id: 'item0',
      start_at: day(from),
      end_at: end === undefined ? null : day(end),
    })),
  })
  const many = (count: number, from: string, end?: string): Seated[] =>
    Array.from({ length: count }, () => (end === undefined ? { start: from } : { start: from, end }))
  const five = many(5, '03-01')
  const march = (
    more: Partial<ConfigInput>,
    bands: readonly BandInput[],
    seats: readonly Seated[],
    rest: object = {},
  ) =>
    exampleInvoices(
      exampleInputs({
        start: day('03-01'),
        items: [sold('PER_SEAT', bands, more)],
        inputs: occupied(...seats),
        ...rest,
      }),
      3,
    )
  const totals = (...given: Parameters<typeof march>) => march(...given).map(({ amount_excluding_tax: total }) => total)
  const year = { pricing_period: { type: 'YEAR', value: 1 } } as const
  const upToFive: BandInput[] = [{ amount: eur('10'), tier_top_bound: { number: '5' } }, { amount: eur('5') }]
  const ahead = { billing_in_advance: true }

  // In arrears, the first invoice is that of March.
  test.each<[string, Partial<ConfigInput>, BandInput[], Seated[], string]>([
    ['5, and 3 more from 11 March', {}, [band], [...five, ...many(3, '03-11')], '70.32'],
    ['3 that leave on 11 March', {}, [band], [...five, ...many(3, '03-01', '03-11')], '59.68'],
    ['one for ten days alone', {}, [band], many(1, '03-11', '03-21'), '3.23'],
    ['one that comes and leaves on one day', {}, [band], [...five, { start: '03-11', end: '03-11' }], '50'],
    ['one whose place is taken on the day', {}, [band], [...many(1, '03-01', '03-11'), ...many(1, '03-11')], '10'],
    ['tiers by the number at each time', { pricing_type: 'TIERED' }, upToFive, [...five, ...many(3, '03-11')], '60.16'],
    ['a minimum of 7', {}, [{ ...band, minimum_number: '7' }], [...five, ...many(3, '03-11')], '76.77'],
    ['a maximum of 6', {}, [{ ...band, maximum_number: '6' }], [...five, ...many(3, '03-11')], '56.77'],
    ['a price a year', year, [{ amount: eur('120') }], [...five, ...many(3, '03-11')], '70.32'],
    [
      'three thirds of a cent',
      {},
      [{ amount: eur('0.031') }],
      [...many(5, '03-01'), ...many(5, '03-11'), ...many(5, '03-21')],
      '0.32',
    ],
    ['a number that the price states', { default_seats_value: { number: '2' } }, [band], five, '20'],
  ])('in arrears: %s', (_name, config, bands, seats, total) => {
    expect(totals(config, bands, seats)[0]).toBe(total)
  })

  test('in arrears: each number of seats has its line, with its days', () => {
    const [invoice] = march({}, [band], [...five, ...many(3, '03-11')])
    expect(linesOf(invoice)).toEqual(['2026-03-01..2026-03-11 16.13', '2026-03-11..2026-04-01 54.19'])
    const said = invoice?.content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines))
    expect(said?.map(({ details }) => [details.description, details.proration])).toEqual([
      ['5 × 10 EUR, × 10 ÷ 31 days', { covered_days: 10, days: 31 }],
      ['8 × 10 EUR, × 21 ÷ 31 days', { covered_days: 21, days: 31 }],
    ])
  })

  // The invoices of 1 March, 1 April and 1 May.
  test.each<[string, BandInput[], Seated[], string[][]]>([
    ['5', [band], five, [['03-01..04-01 50.00'], ['04-01..05-01 50.00'], ['05-01..06-01 50.00']]],
    [
      '3 more from 11 March are billed on the next invoice',
      [band],
      [...five, ...many(3, '03-11')],
      [['03-01..04-01 50.00'], ['03-11..04-01 20.32', '04-01..05-01 80.00'], ['05-01..06-01 80.00']],
    ],
    [
      'those that leave are credited from the next period only',
      [band],
      [...five, ...many(3, '03-01', '03-11')],
      [['03-01..04-01 80.00'], ['04-01..05-01 50.00'], ['05-01..06-01 50.00']],
    ],
    [
      'a minimum counts as paid',
      [{ ...band, minimum_number: '7' }],
      [...five, ...many(3, '03-11')],
      [['03-01..04-01 70.00'], ['03-11..04-01 6.77', '04-01..05-01 80.00'], ['05-01..06-01 80.00']],
    ],
    [
      'a first seat in the middle of a period',
      [band],
      many(1, '03-11'),
      [['03-11..04-01 6.77', '04-01..05-01 10.00'], ['05-01..06-01 10.00'], ['06-01..07-01 10.00']],
    ],
  ])('in advance: %s', (_name, bands, seats, expected) => {
    const found = march(ahead, bands, seats).map(invoice => linesOf(invoice).map(line => line.replaceAll('2026-', '')))
    expect(found.filter(own => own.length > 0).slice(0, 2)).toEqual(expected.slice(0, 2))
  })

  test('in advance: more seats that cost less give nothing back', () => {
    const cheaper: BandInput[] = [{ amount: eur('10'), tier_top_bound: { number: '5' } }, { amount: eur('5') }]
    const invoices = march({ ...ahead, pricing_type: 'TOP_TIERED' }, cheaper, [...five, ...many(1, '03-11')])
    expect(linesOf(invoices[1]).at(-1)).toBe('2026-04-01..2026-05-01 30.00')
    expect(invoices[1]?.amount_excluding_tax).toBe('30')
  })

  test('the days of a pause are not charged', () => {
    const pause = { type: 'PAUSE', start_at: day('03-06'), end_at: day('03-16') } as const
    const paused = { subscription: { inactive_periods: [pause] } }
    // 5 for 5 days of 10, 8 for 16 of 21: 250 ÷ 31 and 1280 ÷ 31.
    expect(totals({}, [band], [...five, ...many(3, '03-11')], paused)[0]).toBe('49.35')
  })

  test('a commitment of a period is due once, not for each number of seats', () => {
    const on = (quantity: string) => ({
      schedules: [{ commitment: { pricing_item_configs: [{ ids: ['config0'], amount: eur(quantity) }] } }],
    })
    const seats = [...five, ...many(3, '03-11')]
    expect(totals({}, [band], seats, on('60'))[0]).toBe('70.32')
    expect(totals({}, [band], seats, on('100'))[0]).toBe('100')
  })

  // A minimum of 60 for 5 seats adds 10; with 8 from 11 March on, 70.32 are charged for March and nothing is missing.
  test.each<[minimum: string, totals: string[]]>([
    ['60', ['60', '90.32', '80']],
    ['65', ['65', '85.32', '80']],
    ['75', ['75', '80', '80']],
    ['80', ['80', '80', '80']],
    ['40', ['50', '100.32', '80']],
  ])('in advance, a rise gives back what it makes unnecessary of a minimum of %s', (minimum, expected) => {
    const commitment = { pricing_item_configs: [{ ids: ['config0'], amount: eur(minimum) }] }
    const seats = [...five, ...many(3, '03-11')]
    expect(totals(ahead, [band], seats, { schedules: [{ commitment }] })).toEqual(expected)
  })

  test('in advance for longer than an invoice, a rise is billed on the next invoice, once', () => {
    const yearly = { ...ahead, billing_period: { type: 'YEAR', value: 1 } } as const
    const exact = { subscription: { billing_time: 'EXACT' } } as const
    // From 1 March 2026 for 365 days at 365 a seat; 3 more from 11 May for 294 days, and one more from 9 December for 82.
    const seats = [...five, ...many(3, '05-11'), ...many(1, '12-09')]
    const all = exampleInvoices(
      exampleInputs({
        start: day('03-01'),
        items: [sold('PER_SEAT', [{ amount: eur('365') }], yearly), recurring('1')],
        inputs: occupied(...seats),
        ...exact,
      }),
      13,
    )
    const charged = all.flatMap(linesOf).filter(line => !line.endsWith(' 1.00'))
    expect(charged.map(line => line.slice(5))).toEqual([
      '03-01..2027-03-01 1825.00',
      '05-11..2027-03-01 882.00',
      '12-09..2027-03-01 82.00',
      '03-01..2028-03-01 3285.00',
    ])
  })
})
