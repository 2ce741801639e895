// Configurations made at random, through the checks of saving: what is accepted is priced at any quantity without an error, and what
// is refused names its field.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../../shared/decimal.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { creditTypeOf, isInCredits, parseCreditsPrice, rateCredits } from '../../../../../shared/rating/credits.ts'
import { priceCurve } from '../../../../../shared/rating/curve/curve.ts'
import { describeCharge } from '../../../../../shared/rating/describe.ts'
import { parsePriceConfig } from '../../../../../shared/rating/parse/parse-price-config.ts'
import { amountVolume, type BandCharge, numberVolume } from '../../../../../shared/rating/price.ts'
import { type PriceConfig, rate } from '../../../../../shared/rating/rate.ts'
import { oneEvent, rateEvents } from '../../../../../shared/rating/rate-events.ts'
import { rateInPool } from '../../../../../shared/rating/volume-pool.ts'
import { canonicalItems } from '../canonical-items.ts'
import type { PricingItemConfig, PricingItemConfigInput } from '../schema.ts'
import { checkPrice, type Priced } from './check-price.ts'
import { randomConfig, randomPriced } from './testing/random-prices.ts'

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
    fc.property(randomConfig, randomPriced, (given, of) => {
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
  expect(accepted).toBeGreaterThan(20)
})
