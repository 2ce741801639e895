// Many subscriptions begun at the same moment: `init` creates each and activates it in one transaction, and none of them waits for
// another that waits for it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestTenant } from '../../../testing/harness.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { makeVersion } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
let entity: string
let version: string
beforeAll(async () => {
  ;({ tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
  entity = (await tenant.seed.make(billingEntityResource))['id']
  version = await makeVersion(tenant)
})
afterAll(() => stop())

const makeCustomer = async (): Promise<string> => (await tenant.seed.make(customerResource))['id']
const init = (customer_id: string) =>
  tenant.call('POST', '/v1/pricing-plan-subscriptions/init', {
    pricing_plan_subscription: { customer_id, billing_entity_id: entity, billing_currency: 'EUR', status: 'ACTIVE' },
    pricing_plan_schedules: [{ pricing_plan_version_id: version }],
  })

test.each<[string, (one: string) => Promise<string> | string]>([
  ['of many customers of one billing entity', () => makeCustomer()],
  ['of one customer', one => one],
])('begun at the same moment, subscriptions %s are all made and activated', async (_, customerOf) => {
  const one = await makeCustomer()
  const customers: string[] = []
  for (let count = 0; count < 8; count += 1) customers.push(await customerOf(one))
  const answers = await Promise.all(customers.map(init))
  expect(answers.map(({ status, body }) => [status, body['status'] ?? body['message']])).toEqual(
    answers.map(() => [200, 'ACTIVE']),
  )
})
