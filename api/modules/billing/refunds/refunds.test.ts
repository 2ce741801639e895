import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Zone, zoneOf } from '../../../../shared/billing/local-days.ts'
import { decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { at, formatInstant, instantOf, interval } from '../../../../shared/time.ts'
import { chargesOf } from '../charges/charges.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { endWithRefund } from '../terms/ends-with-refund.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { linesIn } from '../testing/example-closing.ts'
import { eur, exampleInputs, metered, plainUsage, recurring } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { type AdvanceCharge, refundOf, refundsIn, refundTimes, withRefunded } from './refunds.ts'

const UTC = zoneOf('UTC') as Zone
const april = interval(at('2026-04-01T00:00:00Z'), at('2026-05-01T00:00:00Z'))
const charged = (more: Partial<AdvanceCharge> = {}): AdvanceCharge => ({
  invoiceId: 'inv',
  key: 'fee of April',
  scheduleId: 'schedule0',
  pricingItemId: 'pi0',
  configId: 'config0',
  productItemId: 'item0',
  isMinimum: false,
  paused: [],
  service: april,
  excludingTax: decimal('100'),
  includingTax: decimal('121'),
  taxCategory: 'STANDARD',
  deducted: ZERO,
  ...more,
})
const inputsOf = (more: object, schedules?: readonly object[]) =>
  exampleInputs({
    start: '2026-03-11T00:00:00Z',
    items: [recurring('100', { billing_in_advance: true })],
    subscription: more,
    ...(schedules ? { schedules } : {}),
  })

test('the days of a pause were not charged, so they are not refunded', () => {
  // 20 of 30 days of April are charged; 15 of the days from the 6th on.
  const paused = [interval(at('2026-04-11T00:00:00Z'), at('2026-04-21T00:00:00Z'))]
  const of = { zone: UTC, currency: 'EUR', includingTax: false, rounding: 'DEFAULT' } as const
  const { quantity } = refundOf({ charged: charged({ paused }), from: at('2026-04-06T00:00:00Z') }, of)
  expect(plain(quantity)).toBe('-75')
})

const times = (inputs: ReturnType<typeof inputsOf>) => [...refundTimes(inputs)].map(([key, { from }]) => [key, from])

describe('when an advance charge is refunded', () => {
  const cancelled = (refund: boolean) => ({
    inactive_periods: [{ start_at: '2026-04-16T00:00:00Z', ...(refund ? { refund_advance_charges: true } : {}) }],
  })
  test('at a cancellation with a refund, and at no other', () => {
    expect(times(inputsOf(cancelled(false)))).toEqual([])
    expect(times(inputsOf(cancelled(true)))).toEqual([['schedule0', at('2026-04-16T00:00:00Z')]])
  })

  test('at the end of a schedule with a refund; a later cancellation does not affect it', () => {
    const base = inputsOf(cancelled(true))
    const [first] = base.schedules
    if (!first) throw new Error('there is a schedule')
    const until = '2026-04-10T00:00:00Z'
    const schedules = (own: boolean) => [
      { ...first, end_at: until, ...(own ? { refund_advance_charges: true as const } : {}) },
      { ...first, id: 'schedule1', start_at: until },
    ]
    expect(times({ ...base, schedules: schedules(false) })).toEqual([['schedule1', at('2026-04-16T00:00:00Z')]])
    expect(times({ ...base, schedules: schedules(true) })).toEqual([
      ['schedule0', at(until)],
      ['schedule1', at('2026-04-16T00:00:00Z')],
    ])
  })

  test('on the one invoice that collects the time of the end', () => {
    const inputs = inputsOf(cancelled(true))
    const windows = [...invoiceWindows(inputs)]
    const bearing = windows.filter(window => refundsIn(window, refundTimes(inputs), [charged()]).length > 0)
    expect(bearing.map(({ cutoffAt }) => formatInstant(cutoffAt))).toEqual(['2026-04-16T00:00:00Z'])
  })

  describe('exactly where an invoice ends', () => {
    const end = '2026-04-01T00:00:00Z'
    const [first] = inputsOf({}).schedules
    const schedules = [
      { ...first, end_at: end, refund_advance_charges: true as const },
      { ...first, id: 'schedule1', start_at: end },
    ]
    const inputs = inputsOf({}, schedules)
    const windows = [...invoiceWindows(inputs)].slice(0, 4)
    const half = interval(at('2026-03-11T00:00:00Z'), at('2026-09-11T00:00:00Z'))
    const bearing = (more: Partial<AdvanceCharge>) =>
      windows
        .filter(window => refundsIn(window, refundTimes(inputs), [charged(more)]).length > 0)
        .map(({ cutoffAt }) => formatInstant(cutoffAt))

    test.each<[string, Partial<AdvanceCharge>, string[]]>([
      ['on that invoice while it is open', { service: half, closedAt: [] }, [end]],
      [
        'on the next one where it was closed without',
        { service: half, closedAt: [at(end)] },
        [end, '2026-05-01T00:00:00Z'],
      ],
      ['on no other where it was closed with it', { service: half, closedAt: [at(end)], refunded: true }, [end]],
      [
        'on that invoice while it is open, though a later one is closed',
        { service: half, closedAt: [at('2026-05-01T00:00:00Z')] },
        [end],
      ],
    ])('%s', (_title, more, expected) => {
      expect(bearing(more)).toEqual(expected)
    })

    test('once it is refunded, it is marked', () => {
      const two = [charged(), charged({ key: 'other' })]
      expect(withRefunded(two, [{ charged: charged(), from: at(end) }]).map(({ refunded }) => refunded)).toEqual([
        true,
        undefined,
      ])
    })
  })

  test.each<[string, { readonly cancelled: boolean; readonly changed: boolean }, string[] | null]>([
    ['the one that runs', { cancelled: true, changed: false }, ['schedule1']],
    ['one that was left for another there, which is not refunded', { cancelled: false, changed: true }, ['schedule0']],
    ['none of both', { cancelled: false, changed: false }, null],
  ])('a cancellation ends with a refund %s', (_title, { cancelled, changed }, scheduleIds) => {
    const end_at = '2026-04-01T00:00:00Z'
    const start_at = changed ? end_at : '2026-03-20T00:00:00Z'
    const [first] = inputsOf({}).schedules
    const schedules = [
      { ...first, end_at: start_at, ...(changed ? { refund_advance_charges: true } : {}) },
      { ...first, id: 'schedule1', start_at },
    ]
    const ended = inputsOf({ inactive_periods: [{ start_at: end_at, refund_advance_charges: cancelled }] }, schedules)
    expect(endWithRefund(ended)).toEqual(scheduleIds && { end: at(end_at), scheduleIds })
  })

  test('a subscription that ends where an invoice was closed has one more, for the time that was charged ahead', () => {
    const time = { start_at: '2026-04-01T00:00:00Z', end_at: '2026-05-01T00:00:00Z' }
    const inputs = {
      ...inputsOf({ inactive_periods: [{ start_at: time.start_at, refund_advance_charges: true }] }),
      charged_after_end: time,
    }
    const last = [...invoiceWindows(inputs)].at(-1)
    if (!last) throw new Error('there is one')
    expect(last).toEqual({ arrears: april, advance: null, cutoffAt: april.start, opensAt: april.start })
    expect(chargesOf(resolveTerms(inputs), last, new Set())).toEqual([])
    expect(refundsIn(last, refundTimes(inputs), [charged({ closedAt: [april.start] })])).toMatchObject([
      { from: april.start },
    ])
  })
})

describe('how much is refunded', () => {
  const EUR = { currency: 'EUR', rounding: 'DEFAULT' } as const
  const of = (from: string, more: Partial<AdvanceCharge> = {}, zone = UTC, includingTax = false) =>
    plain(refundOf({ charged: charged(more), from: at(from) }, { ...EUR, zone, includingTax }).quantity)

  test.each([
    ['half of April', '2026-04-16T00:00:00Z', {}, '-50'],
    ['all of it', '2026-04-01T00:00:00Z', {}, '-100'],
    ['the last day', '2026-04-30T00:00:00Z', {}, '-3.33'],
    ['what was paid after discounts', '2026-04-16T00:00:00Z', { deducted: decimal('40') }, '-30'],
    [
      'nothing where credits took back more than discounts left',
      '2026-04-16T00:00:00Z',
      { excludingTax: decimal('10'), deducted: decimal('40') },
      '0',
    ],
    ['within a day, and that day counts as left', '2026-04-16T10:00:00Z', {}, '-50'],
    [
      'a minimum that was given back, less what a coupon had taken of it',
      '2026-04-16T00:00:00Z',
      { isMinimum: true, excludingTax: decimal('-11.41'), deducted: decimal('-0.23') },
      '5.59',
    ],
    [
      'what was prorated itself',
      '2026-03-21T00:00:00Z',
      { service: interval(at('2026-03-11T00:00:00Z'), at('2026-04-01T00:00:00Z')), excludingTax: decimal('67.74') },
      '-35.48',
    ],
  ])('%s', (_title, from, more, expected) => {
    expect(of(from, more)).toBe(expected)
  })

  test('with tax where prices include it, by the days of the zone', () => {
    expect(of('2026-04-16T00:00:00Z', {}, UTC, true)).toBe('-60.5')
    const amsterdam = zoneOf('Europe/Amsterdam') as Zone
    const service = interval(at('2026-03-31T22:00:00Z'), at('2026-04-30T22:00:00Z'))
    expect(of('2026-04-15T22:00:00Z', { service }, amsterdam)).toBe('-50')
  })

  test('never more than was charged, and more the earlier it ends', () => {
    const hour = fc.integer({ min: 0, max: 30 * 24 - 1 }).map(value => instantOf(april.start + value * 3_600_000))
    const paid = fc.integer({ min: 0, max: 1_000_000 }).map(cents => decimal(`${cents}e-2`))
    fc.assert(
      fc.property(hour, hour, paid, (one, other, excludingTax) => {
        const back = (from: typeof one) =>
          refundOf({ charged: charged({ excludingTax }), from }, { ...EUR, zone: UTC, includingTax: false }).quantity
        const [early, late] = one <= other ? [back(one), back(other)] : [back(other), back(one)]
        expect(early.lte(late) && late.lte(ZERO) && early.plus(excludingTax).gte(ZERO)).toBe(true)
      }),
    )
  })
})

test('the last invoice shows the refund and how it was calculated', () => {
  const inputs = inputsOf({ inactive_periods: [{ start_at: '2026-04-16T00:00:00Z', refund_advance_charges: true }] })
  const terms = resolveTerms(inputs)
  const [term] = terms
  const window = [...invoiceWindows(inputs)].at(-1)
  if (!term || !window) throw new Error('there is one')
  const ahead = charged({ pricingItemId: term.item.id, configId: term.config.id, productItemId: term.productItem.id })
  const refunds = refundsIn(window, refundTimes(inputs), [ahead])
  const billed = new Set(chargesOf(terms, window, new Set()).map(({ key }) => key))
  const priced = priceInvoice(inputs, {
    terms,
    window,
    billed,
    usage: new Map(),
    refunds,
    finalizedAt: null,
  })
  expect(linesIn(priced)).toMatchObject([
    {
      type: 'REVENUE',
      amount_excluding_tax: eur('-50.00'),
      details: { proration: { covered_days: 15, days: 30 } },
    },
  ])
})

describe('a wallet that pays the last invoice', () => {
  const inputs = exampleInputs({
    start: '2026-04-01T00:00:00Z',
    items: [recurring('100', { billing_in_advance: true }), metered([{ amount: eur('1') }])],
    subscription: { inactive_periods: [{ start_at: '2026-04-16T00:00:00Z', refund_advance_charges: true }] },
  })
  const terms = resolveTerms(inputs)
  const [fee] = terms

  test.each([
    ['80', ['80.00', '-50.00', '-30.00'], '0'],
    ['50', ['50.00', '-50.00'], '0'],
    ['30', ['30.00', '-50.00'], '-24.2'],
    ['200', ['200.00', '-50.00', '-100.00'], '60.5'],
  ])('pays what a refund of 50.00 leaves of usage of %s', (used, expected, total) => {
    const window = [...invoiceWindows(inputs)].at(-1)
    if (!fee || !window) throw new Error('there is one')
    const ahead = charged({ pricingItemId: fee.item.id, configId: fee.config.id, productItemId: fee.productItem.id })
    const refunds = refundsIn(window, refundTimes(inputs), [ahead])
    const charges = chargesOf(terms, window, new Set())
    const billed = new Set(charges.filter(({ inAdvance }) => inAdvance).map(({ key }) => key))
    const needs = usageNeeds(chargesOf(terms, window, billed))
    const usage = new Map(needs.map(need => [need.key, plainUsage(used)]))
    const wallet = { walletId: 'wall', taxCategory: 'STANDARD', currency: 'EUR', available: decimal('100') } as const
    const request = { terms, window, billed, usage, refunds, wallets: [wallet], finalizedAt: null }
    const priced = priceInvoice(inputs, request)
    expect(
      linesIn(priced)
        .map(line => line.amount_excluding_tax.quantity)
        .toSorted(),
    ).toEqual(expected.toSorted())
    expect(priced.columns.amount_including_tax).toBe(total)
  })
})
