// Two requests at once about prices that schedules share: what they leave is what one after the other would leave, and prices that nothing
// sells any more are gone.
import { expect, test } from 'vitest'
import type { Row } from '../../../testing/wire.ts'
import { salesRig } from '../../billing/testing/sales-rig.ts'

const { get, post, sales, setTime, sql, tenant, unique } = salesRig()

const SCHEDULES = '/v1/pricing-plan-schedules'

/** A DRAFT schedule with a fee of its own of 31 euros until May; `body` gives prices of another amount. */
async function drafted() {
  setTime('2026-03-01T01:00:00Z')
  const product = await post('products', { reference: unique('extra'), name: 'Extra', status: 'ACTIVE' })
  const item = await sales.item(product, 'RECURRING')
  const body = (quantity: string, ids: Row = {}) => ({
    pricing_categories: [
      {
        pricings: [
          {
            ...ids,
            product_ids: [product['id']],
            items: [
              {
                product_item_ids: [item['id']],
                configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity, currency: 'EUR' } }] }],
              },
            ],
          },
        ],
      },
    ],
  })
  const subscription = await sales.subscription()
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    start_at: '2026-03-01T00:00:00Z',
    end_at: '2026-05-01T00:00:00Z',
    ...body('31'),
  })
  return { subscription, schedule, product, body, pricing: schedule['pricing_categories'][0].pricings[0].id as string }
}
const amountOf = ({ pricing_categories }: Row): string =>
  pricing_categories[0].pricings[0].items[0].configs[0].bands[0].fixed_amount.quantity
/** How many pricings of the product are stored: as many as schedules sell different ones. */
const stored = async (product: Row): Promise<number> =>
  (await sql('select id from pricings where product_ids @> $1', [[product['id']]])).length
const ROUNDS = [1, 2, 3, 4]

test.each(ROUNDS)('two changes: one after the other, and one set of prices stays (%i)', async () => {
  const { schedule, product, body, pricing } = await drafted()
  const url = `${SCHEDULES}/${schedule['id']}`
  const answers = await Promise.all(['5', '6'].map(price => tenant.call('PATCH', url, body(price, { id: pricing }))))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const read = await get(`pricing-plan-schedules/${schedule['id']}`)
  expect(['5', '6']).toContain(amountOf(read))
  expect(read['pricing_categories'][0].pricings[0].id).toBe(pricing)
  expect(await stored(product)).toBe(1)
})

test.each(ROUNDS)('a change and a copy: the copy has the prices of before or of after, whole (%i)', async () => {
  const { schedule, product, body, pricing } = await drafted()
  const url = `${SCHEDULES}/${schedule['id']}`
  const [changed, copied] = await Promise.all([
    tenant.call('PATCH', url, body('5', { id: pricing })),
    tenant.call('POST', `${url}/copy`, {}),
  ])
  expect([changed.status, copied.status]).toEqual([200, 201])
  const amounts = [amountOf(changed.body), amountOf(await get(`pricing-plan-schedules/${copied.body['id']}`))]
  expect(amounts).toEqual(['5', expect.stringMatching(/^(5|31)$/)])
  expect(await stored(product)).toBe(new Set(amounts).size)
})

test.each(ROUNDS)('a change and an activation: what is ACTIVE is what was agreed last (%i)', async () => {
  const { subscription, schedule, body } = await drafted()
  const [changed, activated] = await Promise.all([
    tenant.call('PATCH', `${SCHEDULES}/${schedule['id']}`, body('5')),
    tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' }),
  ])
  expect(activated.status).toBe(200)
  expect([200, 400]).toContain(changed.status)
  const read = await get(`pricing-plan-schedules/${schedule['id']}`)
  expect([read['status'], amountOf(read)]).toEqual(['ACTIVE', changed.status === 200 ? '5' : '31'])
})

test.each(ROUNDS)('the last two schedules that sell them are deleted: nothing is left (%i)', async () => {
  const { subscription, product } = await drafted()
  const copy = await post(`pricing-plan-subscriptions/${subscription['id']}/copy`, {})
  const urls = [subscription, copy].map(({ id }) => `/v1/pricing-plan-subscriptions/${id}`)
  const answers = await Promise.all(urls.map(url => tenant.call('DELETE', url)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(await stored(product)).toBe(0)
})
