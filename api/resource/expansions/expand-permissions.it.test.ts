// `expand[]` shows other resources, so it shows no more of them than the actor may view.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant } from '../../../shared/database/database.ts'
import { roleResource } from '../../modules/accounts/roles/role.ts'
import { meterResource } from '../../modules/catalog/meters/meter.ts'
import { pricingResource } from '../../modules/catalog/pricing-plans/pricing.ts'
import { RESOURCES } from '../../modules/modules.ts'
import { scheduleResource } from '../../modules/subscriptions/schedules/schedule.ts'
import { subscriptionResource } from '../../modules/subscriptions/subscription.ts'
import { startApiWithUsers, type UserHarness } from '../../testing/user-harness.ts'
import { viewsOf } from '../views.ts'

let api: UserHarness
beforeAll(async () => {
  api = await startApiWithUsers()
})
afterAll(() => api.close())

/** A call by a user whose role has these permissions alone. */
async function callWith(permissions: readonly string[]) {
  const { aLive } = api.tenants
  const role = await aLive.call('POST', '/v1/roles', { name: aLive.seed.unique('Some'), permissions })
  expect(role.status).toBe(201)
  const userId = await api.administrator(aLive.tenant)
  await api.sql('update user_memberships set role_ids = $2 where user_id = $1', [userId, [role.body['id']]])
  return api.as(userId, aLive.tenant)
}

test('a named expansion that shows what the role may not view is refused by name, and ALL leaves it out', async () => {
  const { aLive } = api.tenants
  const made = await aLive.seed.make(subscriptionResource)
  const call = await callWith(['PRICING_PLAN_SUBSCRIPTION.VIEW', 'BILLING_ENTITY.VIEW'])
  expect((await call('GET', '/v1/customers')).status).toBe(403)
  for (const at of ['/v1/pricing-plan-subscriptions?', `/v1/pricing-plan-subscriptions/${made['id']}?`]) {
    for (const name of ['customer', 'customer_id']) {
      const { status, body } = await call('GET', `${at}expand[]=${name}`)
      expect([status, body['code'], body['field']]).toEqual([403, 'USER_NOT_ALLOWED', 'expand'])
      expect(body['message']).toContain('CUSTOMER.VIEW')
    }
    const { status, body } = await call('GET', `${at}expand[]=ALL`)
    const shown = body['data']?.[0] ?? body
    expect([status, shown['customer'], shown['billing_entity']?.id]).toEqual([
      200,
      undefined,
      made['billing_entity_id'],
    ])
    expect((await aLive.call('GET', `${at}expand[]=ALL`)).status).toBe(200)
  }
  const searched = await call('POST', '/v1/pricing-plan-subscriptions/search?expand[]=ALL', {})
  expect(searched.body['data'][0]).not.toHaveProperty('customer')
})

test('a name beside ALL is checked as it is alone', async () => {
  const { aLive } = api.tenants
  const call = await callWith(['PRICING_PLAN_SUBSCRIPTION.VIEW', 'METER_DATA.VIEW'])
  for (const path of ['/v1/pricing-plan-subscriptions', '/v1/events/some/event_trace']) {
    const unknown = await aLive.call('GET', `${path}?expand[]=ALL&expand[]=bogus`)
    expect([path, unknown.status, unknown.body['field']]).toEqual([path, 400, 'expand'])
    const lacking = await call('GET', `${path}?expand[]=ALL&expand[]=customer`)
    expect([path, lacking.status, lacking.body['field']]).toEqual([path, 403, 'expand'])
  }
})

test('what a list within a resource names is shown beside its id', async () => {
  const { seed, call } = api.tenants.aLive
  const read = async (path: string) => {
    const { status, body } = await call('GET', path)
    expect([path, status]).toEqual([path, 200])
    return body
  }
  const meter = await seed.make(meterResource)
  const [value] = (await read(`/v1/meters/${meter['id']}?expand[]=meter_values.object`))['meter_values']
  expect(value.object).toMatchObject({ object_type: 'METER_VALUE', id: value.id })
  const pricing = await seed.make(pricingResource)
  const [item] = (await read(`/v1/pricings/${pricing['id']}?expand[]=product_items`))['items']
  expect(item.product_items).toMatchObject([{ object_type: 'PRODUCT_ITEM', id: item.product_item_ids[0] }])
  const schedule = await seed.make(scheduleResource)
  // Only active ones are shown with their subscription.
  await api.sql("update pricing_plan_schedules set status = 'ACTIVE' where id = $1", [schedule['id']])
  const path = `/v1/pricing-plan-subscriptions/${schedule['pricing_plan_subscription_id']}`
  const [info] = (await read(`${path}?expand[]=pricing_plan&expand[]=pricing_plan_schedule`))[
    'pricing_plan_schedule_infos'
  ]
  expect(info).toMatchObject({
    pricing_plan: { object_type: 'PRICING_PLAN', id: info.pricing_plan_id },
    pricing_plan_schedule: { object_type: 'PRICING_PLAN_SCHEDULE', id: schedule['id'] },
  })
})

test('the customer of an event is shown to those alone who may view customers', async () => {
  const call = await callWith(['METER_DATA.VIEW'])
  for (const path of ['/v1/events', '/v1/events/some', '/v1/events/some/event_trace', '/v1/ingest/meter-data/some']) {
    const { status, body } = await call('GET', `${path}?expand[]=customer`)
    expect([path, status, body['code']]).toEqual([path, 403, 'USER_NOT_ALLOWED'])
    // Past the permission; there are no events here.
    expect((await call('GET', `${path}?expand[]=ALL`)).body['code']).not.toBe('USER_NOT_ALLOWED')
  }
})

test('no expansion of any resource shows anything to an actor who may view nothing else', async () => {
  const actor = { id: null, requestId: null, may: () => false }
  const shown: string[] = []
  await inTenant(api.database, api.tenants.aLive.tenant, actor, async uow => {
    for (const resource of RESOURCES) {
      for (const name of Object.keys(resource.expand ?? {})) {
        await viewsOf(uow, resource, [], [name]).then(
          () => shown.push(`${resource.path} ${name}`),
          error => expect(error).toMatchObject({ code: 'USER_NOT_ALLOWED' }),
        )
      }
    }
  })
  expect(shown).toEqual([])
  expect(roleResource.expand).toBeUndefined()
})
