// A subscription is not ACTIVE with a seller who is gone, whichever came first: its activation or the archiving of the seller.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { changeStatus } from '../../../resource/commands.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../subscription.ts'
import { makeSchedule, makeVersion, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'
import { untilItWaits } from '../testing/until-it-waits.ts'

let api: ApiHarness
let tenant: TestTenant
let version: string
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
  version = await makeVersion(tenant)
})
afterAll(() => stop())

async function given(): Promise<{ id: string; seller: string }> {
  const body = await customerResource.fixture.create(tenant.seed)
  const { id: seller } = await succeed(tenant, 'POST', '/v1/customers', { ...body, roles: ['SELLER'] })
  const { id } = await succeed(tenant, 'POST', '/v1/pricing-plan-subscriptions', {
    ...(await subscriptionResource.fixture.create(tenant.seed)),
    variant: 'SELLER',
    seller_details: { seller_customer_id: seller },
  })
  await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { pricing_plan_version_id: version })
  return { id, seller }
}
const activate = (id: string) => tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
const REFUSED = { status: 400, body: { code: 'INVALID_OPERATION', field: 'seller_details.seller_customer_id' } }

test('a subscription whose seller was archived is not activated', async () => {
  const { id, seller } = await given()
  await succeed(tenant, 'POST', `/v1/customers/${seller}/archive`)
  expect(await activate(id)).toMatchObject(REFUSED)
})

test('nor one whose seller is being archived', async () => {
  const { id, seller } = await given()
  const sent = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
    await changeStatus(uow, customerResource, seller, 'ARCHIVED')
    return await untilItWaits(api, () => activate(id))
  })
  expect(await sent.answer).toMatchObject(REFUSED)
})

test('a seller is not archived beside the activation of what is billed for it', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { id, seller } = await given()
    const answers = await Promise.all([activate(id), tenant.call('POST', `/v1/customers/${seller}/archive`)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
  }
})
