// Expansions inside the lists of a resource: what an id in an entry names, under the entry.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { meterResource } from '../../modules/catalog/meters/meter.ts'
import { pricingResource } from '../../modules/catalog/pricing-plans/pricing.ts'
import { makeActiveSubscription } from '../../modules/subscriptions/testing/seed-subscription.ts'
import { type ApiHarness, startApi } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

const get = async (url: string): Promise<Row> => (await api.tenants.aLive.call('GET', url)).body

test.each(['meter_values', 'meter_properties'])('a meter shows what it lists in %s', async list => {
  const meter = await api.tenants.aLive.seed.make(meterResource)
  const property = await api.tenants.aLive.call('POST', '/v1/meter-properties', {
    reference: api.tenants.aLive.seed.unique('region'),
    type: 'STRING',
    status: 'ACTIVE',
  })
  const listed = [...meter['meter_properties'], { id: property.body['id'] }]
  await api.tenants.aLive.call('PATCH', `/v1/meters/${meter['id']}`, { meter_properties: listed })
  const at = `/v1/meters/${meter['id']}`
  const shown = await get(`${at}?expand[]=${list}.object`)
  expect(shown[list].length).toBeGreaterThan(0)
  for (const { id, reference, object } of shown[list]) expect(object).toMatchObject({ id, reference })
  expect((await get(`${at}?expand[]=ALL`))[list]).toEqual(shown[list])
  // What was shown may be sent back.
  const { status, body } = await api.tenants.aLive.call('PATCH', at, { [list]: shown[list] })
  expect([status, body[list][0].object]).toEqual([200, undefined])
})

test('a pricing shows the product items of its items', async () => {
  const pricing = await api.tenants.aLive.seed.make(pricingResource)
  for (const name of ['product_items', 'items.product_items', 'product_item_ids', 'ALL']) {
    const { items } = await get(`/v1/pricings/${pricing['id']}?expand[]=${name}`)
    expect(items[0].product_items).toMatchObject([{ object_type: 'PRODUCT_ITEM', id: items[0].product_item_ids[0] }])
  }
})

test('a subscription shows its schedules and their plans, in what it says of them', async () => {
  const id = await makeActiveSubscription(api.tenants.aLive, '2026-01-01T00:00:00Z')
  const shown = await get(`/v1/pricing-plan-subscriptions/${id}?expand[]=pricing_plan`)
  const [info] = shown['pricing_plan_schedule_infos']
  expect(info.pricing_plan).toMatchObject({ object_type: 'PRICING_PLAN', id: info.pricing_plan_id })
  for (const name of ['pricing_plan_schedule', 'pricing_plan_schedule_infos.pricing_plan_schedule', 'ALL']) {
    const { pricing_plan_schedule_infos: infos } = await get(`/v1/pricing-plan-subscriptions/${id}?expand[]=${name}`)
    expect(infos[0].pricing_plan_schedule).toMatchObject({ object_type: 'PRICING_PLAN_SCHEDULE', id: infos[0].id })
  }
})

test('a search of invoices takes expand[], and refuses what an invoice does not have', async () => {
  const search = (expand: string) => api.tenants.aLive.call('POST', `/v1/invoices/search?${expand}`, {})
  for (const expand of ['expand[]=customer', 'expand[]=customer&expand[]=billing_entity', 'expand[]=ALL'])
    expect((await search(expand)).status, expand).toBe(200)
  expect(await search('expand[]=customer&expand[]=wallet')).toMatchObject({
    status: 400,
    body: { code: 'INVALID_FIELD', field: 'expand' },
  })
})
