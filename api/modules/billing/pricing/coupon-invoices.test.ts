// On which invoices a coupon of a schedule counts.
import { describe, expect, test } from 'vitest'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import { chargesOf } from '../charges/charges.ts'
import { applicableCoupons, couponsOfInvoice } from '../rating/coupon-clauses.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { amountOff, coupon, discounts, invoicesOf, lines, START } from '../testing/example-coupons.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  metered,
  recurring,
} from '../testing/example-inputs.ts'

describe('on which invoices a coupon counts', () => {
  const inAdvance = { items: [recurring('200', { billing_in_advance: true })] }
  const both = { items: [recurring('200', { billing_in_advance: true }), recurring('100')] }
  const period = { type: 'PERIOD' as const, period: { type: 'MONTH' as const, value: 2 } }
  const cases: [string, Partial<AppliedCoupon>, Partial<Example>, string[][]][] = [
    ['FOREVER on every one', {}, {}, [['-20.00'], ['-20.00'], ['-20.00']]],
    ['ONE_TIME on the first', { duration: { type: 'ONE_TIME' } }, {}, [['-20.00'], [], []]],
    [
      'ONE_TIME on the first that is charged ahead',
      { duration: { type: 'ONE_TIME' } },
      inAdvance,
      [['-20.00'], [], []],
    ],
    [
      'ONE_TIME on only one invoice when some prices are charged ahead and some are not',
      { duration: { type: 'ONE_TIME' }, discount: amountOff('15') },
      both,
      [['-15.00'], [], []],
    ],
    ['PERIOD on as many as it lasts', { duration: period }, {}, [['-20.00'], ['-20.00'], []]],
    ['PERIOD of what is charged ahead', { duration: period }, inAdvance, [['-20.00'], ['-20.00'], []]],
    [
      'an amount of a PERIOD once an invoice',
      { duration: period, discount: amountOff('15') },
      both,
      [['-15.00'], ['-15.00'], []],
    ],
    ['one redeemed in February from there on', { start_at: '2026-02-10T00:00:00Z' }, {}, [[], ['-20.00'], ['-20.00']]],
    [
      'ONE_TIME redeemed in February on that invoice',
      { start_at: '2026-02-10T00:00:00Z', duration: { type: 'ONE_TIME' } },
      {},
      [[], ['-20.00'], []],
    ],
  ]
  const month = { type: 'PERIOD' as const, period: { type: 'MONTH' as const, value: 1 } }
  const exact = { billing_time: 'EXACT' as const }
  cases.push(
    [
      'PERIOD of a month on one invoice a month, at whatever time of the day both begin',
      { duration: month },
      { ...inAdvance, start: '2026-01-15T07:00:00Z', subscription: exact },
      [['-20.00'], [], []],
    ],
    [
      'one that is redeemed on the day of an invoice, after it, on the next one',
      { duration: month, start_at: '2026-02-15T07:00:00Z' },
      { ...inAdvance, start: '2026-01-15T07:00:00Z', subscription: exact },
      [[], [], ['-20.00']],
    ],
  )
  test.each(cases)('%s', (_name, given, example, expected) => {
    expect(discounts(invoicesOf([coupon(given)], example))).toEqual(expected)
  })

  const later = '2026-02-15T07:00:00Z'
  const ahead = recurring('200', { billing_in_advance: true })
  const given = { start: '2026-01-15T07:00:00Z', subscription: exact }
  const forMonth = coupon({ duration: month })
  const forEver = coupon()
  const once = coupon({ duration: { type: 'ONE_TIME' } })

  test.each([
    ['for a month', forMonth, recurring('200'), [[], ['-20.00'], [], []]],
    ['for a month of what is charged ahead', forMonth, ahead, [[], ['-20.00'], [], []]],
    ['that lasts, of what is charged ahead', forEver, ahead, [[], ['-20.00'], ['-20.00'], ['-20.00']]],
    ['for one invoice', once, recurring('200'), [[], ['-20.00'], [], []]],
    ['for one invoice of what is charged ahead', once, ahead, [[], ['-20.00'], [], []]],
  ])('one %s, of a later schedule that begins on the day of an invoice, after it', (_name, own, item, expected) => {
    const schedules = [{ end_at: later }, { start_at: later, coupons: [own] }]
    expect(discounts(exampleInvoices(exampleInputs({ ...given, items: [item], schedules }), 4))).toEqual(expected)
  })

  const noSeats = {
    item: { model_type: 'PER_SEAT' as const },
    config: {
      pricing_type: 'FLAT' as const,
      billing_in_advance: true,
      billing_period: { type: 'YEAR' as const, value: 1 },
      default_seats_value: { number: '0' },
    },
    bands: [{ amount: eur('10') }],
  }
  const items = [recurring('200'), noSeats]

  test('one for a month counts on what the invoice collects where a year of no seats was charged ahead by an earlier one', () => {
    expect(discounts(invoicesOf([forMonth], { items }))).toEqual([[], ['-20.00'], []])
  })

  test('one for one invoice, of a schedule of no seats that begins after an invoice of that day, counts on the next one', () => {
    const change = '2026-02-01T07:00:00Z'
    const schedules = [{ end_at: change }, { start_at: change, coupons: [once] }]
    expect(discounts(exampleInvoices(exampleInputs({ start: START, items, schedules }), 4))).toEqual([
      [],
      [],
      ['-20.00'],
      [],
    ])
  })

  test('one for one invoice counts once where a plan that comes in a period that runs charges a year ahead', () => {
    const change = '2026-02-10T00:00:00Z'
    const yearly = recurring('200', { billing_in_advance: true, billing_period: { type: 'YEAR', value: 1 } })
    const quarterly = recurring('100', { billing_period: { type: 'MONTH', value: 3 } })
    const schedules = [{ end_at: change }, { start_at: change, coupons: [once] }]
    const inputs = exampleInputs({ start: START, items: [yearly, quarterly], schedules })
    const terms = resolveTerms(inputs)
    const [opening, , march, april] = invoiceWindows(inputs)
    if (!opening || !march || !april) throw new Error('there are four invoices')
    // The change came after the January invoice was closed.
    const billed = new Set(chargesOf(terms, opening, new Set()).map(({ key }) => key))
    const first = exampleInvoice(inputs, march, { usage: '0', billed })
    for (const key of first.advanceCharges) billed.add(key)
    const next = exampleInvoice(inputs, april, { usage: '0', billed })
    expect([first, next].map(invoice => lines(invoice).map(line => line.type))).toEqual([
      ['REVENUE', 'REVENUE', 'DISCOUNT'],
      ['REVENUE'],
    ])
  })

  test.each([
    ['in the collected period', '2026-02-05T00:00:00Z', '-2.86'],
    ['after it', '2026-03-05T00:00:00Z', '-20.00'],
  ])(
    'an invoice that charges no seats ahead is for what it collects, where their schedule begins %s',
    (_name, change, expected) => {
      const forty = coupon({ duration: { type: 'PERIOD', period: { type: 'DAY', value: 33 } } })
      const schedules = [{ end_at: change, coupons: [forty] }, { start_at: change }]
      const [, , ofFebruary] = exampleInvoices(exampleInputs({ start: START, items, schedules }), 4)
      expect(discounts(ofFebruary ? [ofFebruary] : [])).toEqual([[expected]])
    },
  )

  test('one for one invoice, of a schedule added in a period that was charged ahead already, counts on the next invoice', () => {
    const change = '2026-01-15T00:00:00Z'
    const yearly = recurring('200', { billing_in_advance: true, billing_period: { type: 'YEAR', value: 1 } })
    const schedules = [{ end_at: change }, { start_at: change, coupons: [once] }]
    const inputs = exampleInputs({ start: START, items: [yearly], schedules })
    const terms = resolveTerms(inputs)
    const [opening, next] = invoiceWindows(inputs)
    if (!opening || !next) throw new Error('it has invoices')
    const keysOf = (of: 0 | 1) =>
      chargesOf(terms, opening, new Set()).flatMap(({ key, schedule }) =>
        schedule.id === inputs.schedules[of]?.id ? [key] : [],
      )
    expect([keysOf(0).length, keysOf(1).length]).toEqual([1, 1])
    const counting = (billed: readonly string[]) =>
      applicableCoupons(inputs, { terms, window: next, billed: new Set(billed), isInAdvance: true }).length
    // The opening invoice was closed before the second schedule was there, or charged for both.
    expect([counting(keysOf(0)), counting([...keysOf(0), ...keysOf(1)])]).toEqual([1, 0])
  })

  describe('one for one invoice, where only an ADDON that begins later was charged ahead and the schedule ended before it,', () => {
    const [addonFrom, ends] = ['2026-01-20T00:00:00Z', '2026-01-10T00:00:00Z']
    const inputsOf = (end: string | null) => {
      const inputs = exampleInputs({
        start: START,
        items: [ahead, metered([{ amount: eur('1') }])],
        schedules: [
          { end_at: end, coupons: [once], enabled_pricings: [{ pricing_id: 'addon', start_at: addonFrom }] },
          ...(end === null ? [] : [{ start_at: end }]),
        ],
      })
      const [pricing] = inputs.pricings
      if (!pricing) throw new Error('it has a pricing')
      const [fee, usage] = pricing.items
      const addon = { ...pricing, id: 'addon', addon: true as const, items: fee ? [fee] : [] }
      return { ...inputs, pricings: [{ ...pricing, items: usage ? [usage] : [] }, addon] }
    }
    const invoiceAt = (inputs: ReturnType<typeof inputsOf>, place: number, billed: readonly string[]) => {
      const window = [...invoiceWindows(inputs)][place]
      if (!window) throw new Error('it has this invoice')
      return exampleInvoice(inputs, window, { usage: '100', billed: new Set(billed) })
    }

    test('counts on no later invoice', () => {
      const opening = invoiceAt(inputsOf(null), 0, [])
      const last = invoiceAt(inputsOf(ends), 1, opening.advanceCharges)
      expect(discounts([opening, last])).toEqual([['-7.74'], []])
    })

    test('counts on an earlier invoice, when that is priced again', () => {
      // The later one charged the ADDON, which was not there yet when the first invoice was made.
      const later = invoiceAt(inputsOf(null), 1, [])
      expect(discounts([invoiceAt(inputsOf(ends), 1, later.advanceCharges)])).toEqual([['-10.00']])
    })
  })

  test('one for one invoice, of a trial, is looked for on no later invoice', () => {
    const daily = { billing_period: { type: 'DAY' as const, value: 1 } }
    const end = '2026-01-11T00:00:00Z'
    const schedules = [{ end_at: end, trial: true as const, coupons: [once] }, { start_at: end }]
    const inputs = exampleInputs({ start: START, items: [ahead, recurring('100')], schedules, subscription: daily })
    const [window] = invoiceWindows(inputs)
    if (!window) throw new Error('there is a first invoice')
    const before = process.cpuUsage()
    const of = { terms: resolveTerms(inputs), window, billed: new Set<string>(), isInAdvance: false }
    expect(applicableCoupons(inputs, of)).toEqual([])
    // To look as far as subscriptions go, to the year 2200, takes seconds for each invoice.
    expect(process.cpuUsage(before).user).toBeLessThan(500_000)
  })

  test.each([
    ['in arrears', recurring('200'), [[], ['-20.00'], []]],
    ['ahead', ahead, [[], ['-20.00'], []]],
  ])('one for one invoice, of a later schedule that begins at a cut, charged %s', (_name, item, expected) => {
    const cut = '2026-02-01T00:00:00Z'
    const schedules = [{ end_at: cut }, { start_at: cut, coupons: [once] }]
    expect(discounts(exampleInvoices(exampleInputs({ start: START, items: [item], schedules }), 3))).toEqual(expected)
  })

  test.each([
    ['activated in time', {}],
    ['activated after the invoice before it', { resumed_at: ['2026-01-11T00:00:00Z'] }],
  ])(
    'one for one invoice is of the first that collects usage, also where none came, of a schedule %s',
    (_name, late) => {
      const change = '2026-01-11T00:00:00Z'
      const schedules = [
        { end_at: change, trial: true as const },
        { start_at: change, coupons: [once] },
      ]
      const inputs = exampleInputs({ start: START, items: [metered([{ amount: eur('1') }])], schedules, inputs: late })
      const of = { terms: resolveTerms(inputs), billed: new Set<string>(), isInAdvance: false }
      const having = [...invoiceWindows(inputs)].slice(0, 5).flatMap(window => {
        const counts = applicableCoupons(inputs, { ...of, window }).length > 0
        return counts
          ? [[window.arrears?.start, window.cutoffAt].map(time => new Date(time ?? 0).toISOString().slice(0, 10))]
          : []
      })
      expect(having).toEqual([['2026-01-11', '2026-02-01']])
    },
  )

  test('one for one invoice that a change of plan takes along is used once', () => {
    const cut = '2026-02-01T00:00:00Z'
    const schedules = [
      { end_at: cut, coupons: [once] },
      { start_at: cut, coupons: [{ ...once, start_at: START }] },
    ]
    const inputs = exampleInputs({ start: START, items: [recurring('200')], schedules })
    expect(discounts(exampleInvoices(inputs, 3))).toEqual([['-20.00'], [], []])
  })

  test.each([
    ['on the first invoice', given, 0, false],
    ['where it would have been on the next one too', given, 1, true],
    ['from midnight', { ...given, start: '2026-01-15T00:00:00Z' }, 1, false],
  ])('the end of one for a month moved, %s', (_name, example, place, moved) => {
    const inputs = exampleInputs({ ...example, items: [ahead], schedules: [{ coupons: [forMonth] }] })
    const [first, second] = invoiceWindows(inputs)
    const window = place === 0 ? first : second
    if (!window) throw new Error('it has two invoices')
    const request = { terms: resolveTerms(inputs), window, billed: new Set<string>() }
    expect(couponsOfInvoice(inputs, request).map(({ endMoved }) => endMoved)).toEqual([moved])
  })

  test('one for a month that another schedule took along ends as before', () => {
    const next = '2026-02-20T07:00:00Z'
    const schedules = [
      { end_at: later },
      { start_at: later, end_at: next, coupons: [forMonth] },
      { start_at: next, coupons: [coupon({ duration: month, start_at: later })] },
    ]
    const invoices = exampleInvoices(exampleInputs({ ...given, items: [recurring('200')], schedules }), 4)
    expect(discounts(invoices)).toEqual([[], ['-20.00'], [], []])
  })
})
