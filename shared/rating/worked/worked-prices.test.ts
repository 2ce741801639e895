import { describe, expect, test } from 'vitest'
import { decimal, ONE, plain, ZERO } from '../../decimal.ts'
import { moneyView, toMoney } from '../../money.ts'
import { applyIncludedVolume } from '../included/included-volume.ts'
import { amountVolume, numberVolume, type Volume } from '../price.ts'
import type { PriceConfig } from '../rate.ts'
import { rate } from '../rate.ts'
import { oneEvent, rateEvents } from '../rate-events.ts'
import { EDGES_OF_MONEY, EDGES_OF_NUMBERS, PRINTED } from '../testing/edge-prices.ts'
import { MORE_SYSTEMS_OF_MONEY, MORE_SYSTEMS_OF_NUMBERS } from '../testing/more-system-prices.ts'
import { type BandText, priceOf } from '../testing/prices.ts'
import {
  SYSTEMS_OF_EACH,
  SYSTEMS_OF_MONEY,
  SYSTEMS_OF_NUMBERS,
  SYSTEMS_WITH_FREE_UNITS,
} from '../testing/system-prices.ts'
import { OF_MONEY, OF_NUMBERS } from '../testing/worked-prices.ts'

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
const costsOf = (config: PriceConfig, costs: string, billable = (volume: Volume): Volume => volume): string =>
  costs
    .split(' ')
    .map(each => {
      const [volume = ''] = each.split('=')
      return `${volume}=${plain(rate(config, billable(volumeOf(volume))).total.quantity)}`
    })
    .join(' ')

describe('worked prices', () => {
  test.each([...OF_NUMBERS, ...EDGES_OF_NUMBERS])('%s %s', (type, bands, costs) => {
    expect(costsOf(configOf(type, bands, 'NUMBER'), costs)).toBe(costs)
  })
  test.each([...OF_MONEY, ...EDGES_OF_MONEY])('%s %s of money', (type, bands, costs) => {
    expect(costsOf(configOf(type, bands, 'AMOUNT'), costs)).toBe(costs)
  })
  test.each([...SYSTEMS_OF_NUMBERS, ...MORE_SYSTEMS_OF_NUMBERS])('%s', (_form, type, bands, costs) => {
    expect(costsOf(configOf(type, bands, 'NUMBER'), costs)).toBe(costs)
  })
  test.each([...SYSTEMS_OF_MONEY, ...MORE_SYSTEMS_OF_MONEY])('%s', (_form, type, bands, costs) => {
    expect(costsOf(configOf(type, bands, 'AMOUNT'), costs)).toBe(costs)
  })
  test.each(SYSTEMS_OF_EACH)('%s', (_form, type, bands, payments, cost) => {
    const none = amountVolume(ZERO, 'EUR', ZERO)
    const events = payments.split(' ').map(each => ({ each: oneEvent(none, decimal(each)), times: ONE }))
    expect(plain(rateEvents(configOf(type, bands, 'AMOUNT'), events, none).total.quantity)).toBe(cost)
  })
  test.each(SYSTEMS_WITH_FREE_UNITS)('%s', (_form, type, bands, free, costs) => {
    const included = { quantity: decimal(free), count: ZERO }
    const paid = (volume: Volume) => applyIncludedVolume(volume, included).billable
    expect(costsOf(configOf(type, bands, 'NUMBER'), costs, paid)).toBe(costs)
  })
  test.each(PRINTED)('is printed by the decimals of its currency: %s', row => {
    const [currency = '', unit = '', volume = '', exact, printed] = row.split(' ')
    const { total } = rate(priceOf('FLAT', [{ amount: unit }], { currency }), numberVolume(decimal(volume)))
    expect([plain(total.quantity), moneyView(toMoney(total)).quantity]).toEqual([exact, printed])
  })
})
