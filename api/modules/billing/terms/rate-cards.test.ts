// A schedule on a rate card, from its terms to the lines: which version prices which days (semantics 3.1).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Zone, zoneOf } from '../../../../shared/billing/local-days.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { at, formatInstant, instantOf, interval } from '../../../../shared/time.ts'
import { versionAt, versionSpans } from '../../catalog/pricing-plans/rate-card.ts'
import { type AdvanceCharge, refundsIn, refundTimes } from '../refunds/refunds.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoices,
  linesOf,
  metered,
  plainUsage,
  recurring,
} from '../testing/example-inputs.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { invoiceWindows } from './windows.ts'

/** The versions of a rate card with one price each, in force from these times. */
function cardInputs(starts: readonly string[], example: Example, priceOf: (index: number) => string): BillingInputs {
  const inputs = exampleInputs(example)
  const [pricing] = inputs.pricings
  if (!pricing) throw new Error('an example has a pricing')
  const rate_card = starts.map((start_at, index) => ({ pricing_plan_version_id: `version${index}`, start_at }))
  return {
    ...inputs,
    schedules: inputs.schedules.map(schedule => ({ ...schedule, rate_card })),
    pricings: starts.map((_, index) => ({
      ...pricing,
      id: `pricing${index}`,
      pricing_plan_version_id: `version${index}`,
      items: pricing.items.map(item => ({
        ...item,
        id: `${item.id}v${index}`,
        configs: item.configs.map(({ bands, ...config }) => ({
          ...config,
          id: `${config.id}v${index}`,
          bands: (bands ?? []).map(band =>
            band.fixed_amount ? { fixed_amount: eur(priceOf(index)) } : { ...band, amount: eur(priceOf(index)) },
          ),
        })),
      })),
    })),
  }
}
const MARCH = '2026-03-01T00:00:00Z'
const CHANGE = '2026-03-11T00:00:00Z'

describe('a period that straddles a change is split', () => {
  test('a recurring price owes the days of each version', () => {
    const inputs = cardInputs([MARCH, CHANGE], { start: MARCH, items: [recurring('0')] }, i => (i === 0 ? '31' : '62'))
    const [march, april] = exampleInvoices(inputs, 2)
    expect(linesOf(march)).toEqual(['2026-03-01..2026-03-11 10.00', '2026-03-11..2026-04-01 42.00'])
    expect(linesOf(april)).toEqual(['2026-04-01..2026-05-01 62.00'])
  })

  test('each version rates the usage of its own time', () => {
    const inputs = cardInputs([MARCH, CHANGE], { start: MARCH, items: [metered([{ amount: eur('0') }])] }, i =>
      i === 0 ? '1' : '2',
    )
    const [march] = exampleInvoices(inputs, 1, need => plainUsage(need.interval.end <= at(CHANGE) ? '7' : '5'))
    expect(linesOf(march)).toEqual(['2026-03-01..2026-03-11 7.00', '2026-03-11..2026-04-01 10.00'])
  })

  test('usage that is carried over is counted from the start of the schedule', () => {
    const example = { start: MARCH, items: [metered([{ amount: eur('0') }])] }
    const inputs = cardInputs([MARCH, CHANGE], example, () => '1')
    const carried = { ...inputs, calculations: inputs.calculations.map(each => ({ ...each, persist: true })) }
    const asked: string[] = []
    exampleInvoices(carried, 1, need => {
      asked.push(`${formatInstant(need.interval.start)}..${formatInstant(need.interval.end)}`)
      return plainUsage('1')
    })
    expect(asked).toEqual([`${MARCH}..${CHANGE}`, `${MARCH}..2026-04-01T00:00:00Z`])
  })

  test('what is charged once is charged by the version at the start', () => {
    const once = { ...recurring('0'), item: { model_type: 'ONE_OFF' as const } }
    const inputs = cardInputs([MARCH, CHANGE], { start: MARCH, items: [once] }, i => (i === 0 ? '10' : '20'))
    expect(exampleInvoices(inputs, 3).flatMap(linesOf)).toEqual(['2026-03-01..2026-03-11 10.00'])
  })

  test('one takes over at local midnight', () => {
    const zone = zoneOf('America/New_York') as Zone
    const span = { start: at(MARCH), end: null }
    const versions = [MARCH, CHANGE].map((start_at, index) => ({ pricing_plan_version_id: String(index), start_at }))
    expect(versionSpans(versions, span, zone)[1]?.span.start).toBe(at('2026-03-10T04:00:00Z'))
  })
})

test('law: the versions of a rate card share a time without a gap or an overlap, each day one of them', () => {
  const days = fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(days, fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 300 }), (given, from, length) => {
      const day = (number: number) => formatInstant(instantOf(at(MARCH) + number * 86_400_000))
      const versions = given
        .toSorted((a, b) => a - b)
        .map((number, index) => ({ pricing_plan_version_id: String(index), start_at: day(number) }))
      const span = { start: at(day(from)), end: at(day(from + length)) }
      const parts = versionSpans(versions, span, zoneOf('UTC') as Zone)
      for (let number = from; number < from + length; number += 1) {
        const moment = at(day(number))
        const held = parts.filter(part => part.span.start <= moment && moment < (part.span.end ?? 0))
        const expected = versionAt(versions, day(number))?.pricing_plan_version_id
        expect(held.map(part => part.pricing_plan_version_id)).toEqual(expected === undefined ? [] : [expected])
      }
    }),
  )
})

describe('prices in advance', () => {
  const example = { start: MARCH, items: [recurring('0', { billing_in_advance: true })] }
  const priceOf = (index: number) => (index === 0 ? '31' : '62')

  test('a change that is known ahead splits what is charged ahead', () => {
    const [march] = exampleInvoices(cardInputs([MARCH, CHANGE], example, priceOf), 1)
    expect(linesOf(march)).toEqual(['2026-03-01..2026-03-11 10.00', '2026-03-11..2026-04-01 42.00'])
  })

  test('one that comes later refunds the days left at the old price and charges them at the new one', () => {
    const inputs = cardInputs([MARCH, CHANGE], example, priceOf)
    const [, march] = invoiceWindows(inputs)
    if (!march) throw new Error('March is invoiced')
    const charged: AdvanceCharge = {
      invoiceId: 'inv',
      key: 'fee of March',
      scheduleId: 'schedule0',
      pricingItemId: 'priced0v0',
      configId: 'config0v0',
      productItemId: 'item0',
      service: interval(at(MARCH), at('2026-04-01T00:00:00Z')),
      excludingTax: decimal('31'),
      includingTax: decimal('31'),
      taxCategory: 'STANDARD',
      isMinimum: false,
      paused: [],
      deducted: ZERO,
    }
    const refunds = refundsIn(march, refundTimes(inputs), [charged, { ...charged, configId: 'config0v1' }])
    expect(refunds.map(({ charged: each, from }) => [each.configId, formatInstant(from)])).toEqual([
      ['config0v0', CHANGE],
    ])
  })
})
