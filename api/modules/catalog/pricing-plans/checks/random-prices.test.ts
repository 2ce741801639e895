// Configurations made at random, through the checks of saving: what is accepted is priced at any quantity without an error, and what
// is refused names its field.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../../shared/decimal.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { creditTypeOf, isInCredits, parseCreditsPrice, rateCredits } from '../../../../../shared/rating/credits.ts'
import { priceCurve } from '../../../../../shared/rating/curve.ts'
import { describeCharge } from '../../../../../shared/rating/describe.ts'
import { parsePriceConfig } from '../../../../../shared/rating/parse-price-config.ts'
import { amountVolume, type BandCharge, numberVolume } from '../../../../../shared/rating/price.ts'
import { type PriceConfig, rate, SUPPORTED_PRICING_TYPES } from '../../../../../shared/rating/rate.ts'
import { oneEvent, rateEvents } from '../../../../../shared/rating/rate-events.ts'
import { rateInPool } from '../../../../../shared/rating/volume-pool.ts'
import { canonicalItems } from '../canonical-items.ts'
import type { PricingItemConfig, PricingItemConfigInput } from '../schema.ts'
import { checkPrice, type Priced } from './check-price.ts'

/** `often` times as often as nothing. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, often = 3) =>
  fc.oneof({ weight: Math.round(often * 20), arbitrary }, { weight: 20, arbitrary: fc.constant(undefined) })
const RARELY = 0.1
const quantity = fc.constantFrom(
  '0',
  '0.000000000001',
  '0.5',
  '1',
  '2',
  '9.99',
  '100',
  '-3',
  '99999999999999999999999999',
)
const EUR_MOSTLY = fc.constantFrom('EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'USD')
const money = fc.record({ quantity, currency: EUR_MOSTLY })
const size = fc.constantFrom('1', '3', '64', '0.001', '1000000', '0', '-1')

type BoundKind = 'number' | 'count'
const band = (index: number, last: boolean, kind: BoundKind) =>
  fc.record({
    amount: maybe(money, 6),
    fixed_amount: maybe(money, 0.7),
    percentage: maybe(quantity, 0.3),
    credits: maybe(fc.record({ quantity, credit_type_id: fc.constantFrom('crty_1', 'crty_1', 'crty_2') }), RARELY),
    minimum_amount: maybe(money, RARELY),
    maximum_amount: maybe(money, RARELY),
    minimum_number: maybe(quantity, RARELY),
    maximum_number: maybe(quantity, RARELY),
    block_size: maybe(
      fc.oneof(
        { weight: 6, arbitrary: fc.record({ number: size }) },
        { weight: 1, arbitrary: fc.record({ count: size }) },
        { weight: 1, arbitrary: size.map(quantity => ({ amount: { quantity, currency: 'EUR' } })) },
      ),
      0.3,
    ),
    // Mostly as bounds must be, sometimes not.
    tier_top_bound: fc.oneof(
      { weight: 12, arbitrary: fc.constant(last ? undefined : { [kind]: String((index + 1) * 10) }) },
      { weight: 1, arbitrary: fc.record({ number: quantity }) },
      { weight: 1, arbitrary: fc.record({ amount: money }) },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
  })

const bands = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom<BoundKind>('number', 'number', 'number', 'count'))
  .chain(([count, kind]) =>
    fc.tuple(...Array.from({ length: count }, (_, index) => band(index, index === count - 1, kind))),
  )
const period = fc.record({
  type: fc.constantFrom('DAY' as const, 'MONTH' as const, 'YEAR' as const),
  value: fc.integer({ min: 1, max: 3 }),
})

const members = fc.record({
  pricing_type: fc.constantFrom(...SUPPORTED_PRICING_TYPES),
  bands,
  billing_period: maybe(period, RARELY),
  pricing_period: maybe(period, RARELY),
  top_up: maybe(fc.record({ rollover: fc.boolean() }), RARELY),
  step_accumulation: maybe(fc.constantFrom('NONE' as const, 'STEPS_REACHED' as const), RARELY),
  rate_per: maybe(fc.constantFrom('PERIOD' as const, 'EVENT' as const), RARELY),
  default_included_volume: maybe(fc.record({ number: maybe(quantity, 8), amount: maybe(money, 1) }), RARELY),
  default_units: maybe(fc.record({ number: maybe(quantity, 8), amount: maybe(money, 1) }), RARELY),
  default_seats_value: maybe(fc.record({ number: maybe(quantity, 8), count: maybe(quantity, 1) }), RARELY),
  volume_group_reference: maybe(fc.constant('group'), RARELY),
  billing_in_advance: maybe(fc.boolean(), RARELY),
  on_demand: maybe(fc.boolean(), RARELY),
})
/** As a request has it: what is not there is left out. */
const config = members.map((given): PricingItemConfigInput => JSON.parse(JSON.stringify(given)))

const priced: fc.Arbitrary<Priced> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Priced>({ model: 'USAGE_BASED', metric: 'NUMBER', sums: true }) },
  { weight: 3, arbitrary: fc.constant<Priced>({ model: 'USAGE_BASED', metric: 'AMOUNT', sums: true }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('RECURRING' as const, 'ONE_OFF' as const, 'PER_SEAT' as const, 'CREDITS' as const)
      .map((model): Priced => ({ model })),
  },
)

const QUANTITIES = [
  '0',
  '-7',
  '-0.000000000001',
  '0.000000000001',
  '0.5',
  '1',
  '10',
  '10.000000000001',
  '11.25',
  '25',
  '99999999999999999999999999',
].map(decimal)

function saved(given: PricingItemConfigInput, of: Priced): PricingItemConfig | AppError {
  try {
    const [item] = canonicalItems([{ product_item_ids: ['proi_1'], configs: [given] }], [])
    const [found] = item?.configs ?? []
    if (!found) throw new Error('one config in, one config out')
    checkPrice(found, of, 'items.0.configs.0')
    return found
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function expectWhole(charges: readonly BandCharge[]): void {
  for (const charge of charges) {
    expect(plain(sum(charge.pieces.map(piece => piece.quantity)))).toBe(plain(charge.quantity))
    expect(describeCharge(charge, 'EUR')).not.toContain('undefined')
  }
}

function expectPriced(price: PriceConfig, isMoney: boolean): void {
  const one = decimal('1')
  for (const quantity of QUANTITIES) {
    const volume = isMoney ? amountVolume(quantity, price.currency, one) : numberVolume(quantity, one)
    const { charges, total, rollover } = rate(price, volume, { prior: { rollover: decimal('0.5') } })
    expectWhole(charges)
    expect(plain(sum(charges.map(charge => charge.quantity)))).toBe(plain(total.quantity))
    expect(rollover.lt('0')).toBe(false)
    rateInPool(price, volume, [volume])
    expectWhole(rateEvents(price, [{ each: oneEvent(volume, quantity), times: decimal('3') }], volume).charges)
  }
  if (price.bands.length > 0) priceCurve(price, { end: decimal('60'), money: isMoney, count: one })
}

test('whatever is accepted is priced at any quantity, and whatever is refused names its field', () => {
  let accepted = 0
  fc.assert(
    fc.property(config, priced, (given, of) => {
      const found = saved(given, of)
      if (found instanceof AppError) {
        expect(['INVALID_FIELD', 'MISSING_FIELD']).toContain(found.code)
        expect(found.details.field).toMatch(/^items\.0\.(?:configs\.0\.)?[a-z_]+/)
        return
      }
      accepted += 1
      if (isInCredits(found)) {
        const reading = parseCreditsPrice(found)
        if (reading.kind === 'fault') throw new Error(reading.fault.message)
        expect(reading.price.creditTypeId).toBe(creditTypeOf(found))
        for (const quantity of QUANTITIES) expectWhole(rateCredits(reading.price, quantity, { count: 2 }).charges)
        return
      }
      const isMoney = of.model === 'USAGE_BASED' && of.metric === 'AMOUNT'
      const reading = parsePriceConfig(found, { metric: isMoney ? 'AMOUNT' : 'NUMBER' })
      if (reading.kind === 'fault') throw new Error(reading.fault.message)
      expectPriced(reading.config, isMoney)
    }),
    { numRuns: 600 },
  )
  expect(accepted).toBeGreaterThan(30)
})
