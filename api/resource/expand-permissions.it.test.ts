// `expand[]` shows other resources, so it shows no more of them than the actor may view.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant } from '../../shared/database/database.ts'
import { roleResource } from '../modules/accounts/roles/role.ts'
import { RESOURCES } from '../modules/modules.ts'
import { subscriptionResource } from '../modules/subscriptions/subscription.ts'
import { startApiWithUsers, type UserHarness } from '../testing/user-harness.ts'
import { viewsOf } from './views.ts'

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
