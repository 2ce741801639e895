import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../decimal.ts'
import { moneyView, toMoney } from '../money.ts'
import { amountVolume, numberVolume, type Volume } from './price.ts'
import type { PriceConfig } from './rate.ts'
import { rate } from './rate.ts'
import { EDGES_OF_MONEY, EDGES_OF_NUMBERS, PRINTED } from './testing/edge-prices.ts'
import { type BandText, priceOf } from './testing/prices.ts'
import { OF_MONEY, OF_NUMBERS } from './testing/worked-prices.ts'

const NAMES: Readonly<Record<string, keyof BandText>> = {
  at: 'amount',
  fix: 'fixedAmount',
  pct: 'percentage',
  min: 'minimumAmount',
  max: 'maximumAmount',
  nmin: 'minimumNumber',
  nmax: 'maximumNumber',
  block: 'blockSize',
  to: 'topBound',
}

const bandsOf = (text: string): BandText[] =>
  text === ''
    ? []
    : text.split(' | ').map(band =>
        Object.fromEntries(
          band.split(' ').map(member => {
            const [name = '', value = ''] = member.split(':')
            return [NAMES[name] ?? name, value]
          }),
        ),
      )

function configOf(type: string, bands: string, metric: 'NUMBER' | 'AMOUNT'): PriceConfig {
  const [pricingType = '', accumulation] = type.split('+')
  return priceOf(pricingType, bandsOf(bands), { metric, ...(accumulation ? { step_accumulation: accumulation } : {}) })
}

const volumeOf = (text: string): Volume => {
  const [quantity = '', events] = text.split('/')
  return events === undefined
    ? numberVolume(decimal(quantity))
    : amountVolume(decimal(quantity), 'EUR', decimal(events))
}

/** What the price costs for every volume of the row, in the row's own format. */
const costsOf = (config: PriceConfig, costs: string): string =>
  costs
    .split(' ')
    .map(each => {
      const [volume = ''] = each.split('=')
      return `${volume}=${plain(rate(config, volumeOf(volume)).total.quantity)}`
    })
    .join(' ')

describe('worked prices', () => {
  test.each([...OF_NUMBERS, ...EDGES_OF_NUMBERS])('%s %s', (type, bands, costs) => {
    expect(costsOf(configOf(type, bands, 'NUMBER'), costs)).toBe(costs)
  })
  test.each([...OF_MONEY, ...EDGES_OF_MONEY])('%s %s of money', (type, bands, costs) => {
    expect(costsOf(configOf(type, bands, 'AMOUNT'), costs)).toBe(costs)
  })
  test.each(PRINTED)('is printed by the decimals of its currency: %s', row => {
    const [currency = '', unit = '', volume = '', exact, printed] = row.split(' ')
    const { total } = rate(priceOf('FLAT', [{ amount: unit }], { currency }), numberVolume(decimal(volume)))
    expect([plain(total.quantity), moneyView(toMoney(total)).quantity]).toEqual([exact, printed])
  })
})
