// Prices as other billing systems say them, tried through the API: each quantity costs there what it costs here.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogOf } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi } from '../../../testing/harness.ts'
import { configOfForm, quantityOfForm } from './testing/outside-form.ts'
import { OUTSIDE_PRICES, ROUNDED_ABROAD } from './testing/outside-prices.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())

const calculationsOf = async (body: object) => {
  const answer = await api.tenants.aLive.call('POST', '/v1/prices/calculate', body)
  expect([answer.status, answer.body['message']]).toEqual([200, undefined])
  return answer.body['calculations'] as { amount: { quantity: string }; rounded_amount: { quantity: string } }[]
}

test.each(OUTSIDE_PRICES)('%s', async (_form, price, metered, costs) => {
  const isMoney = metered === 'money'
  const quantities = costs.split(' ').map(each => each.split('=')[0] ?? '')
  const found = await calculationsOf({
    pricing_item_config: configOfForm(price, { isMoney }),
    value_type: isMoney ? 'AMOUNT' : 'NUMBER',
    meter_values: quantities.map(quantityOfForm),
  })
  expect(found.map(({ amount }, index) => `${quantities[index]}=${amount.quantity}`).join(' ')).toBe(costs)
})

test.each(ROUNDED_ABROAD)('exact, and rounded by the decimals of the currency: %s', async row => {
  const [currency = '', unit = '', number = '', exact, rounded] = row.split(' ')
  const [found] = await calculationsOf({
    pricing_item_config: configOfForm(`FLAT at:${unit}`, { currency }),
    meter_values: [{ number }],
  })
  expect([found?.amount.quantity, found?.rounded_amount.quantity]).toEqual([exact, rounded])
})

test('a price that is saved keeps how its blocks are rounded', async () => {
  const { answer } = await catalogOf(api.tenants.aLive).draft(configOfForm('FLAT block_rounding=DOWN at:10 block:1000'))
  const { id, ...config } = answer.body['items'][0].configs[0]
  expect(config).toMatchObject({ pricing_type: 'FLAT', block_rounding: 'DOWN' })
  const [found] = await calculationsOf({ pricing_item_config_id: id, meter_values: [{ number: '3450' }] })
  expect(found?.amount.quantity).toBe('30')
})
