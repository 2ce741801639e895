// `pause` and `resume` through the api; what a pause does to charges is tested with billing.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestTenant } from '../../../testing/harness.ts'
import { makeActiveSubscription } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

test('an end that is null, as answers show it, lasts until it is resumed', async () => {
  const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  const call = (verb: string, body?: object) =>
    tenant.call('POST', `/v1/pricing-plan-subscriptions/${id}/${verb}`, body)
  const pause = { type: 'PAUSE', start_at: '2026-04-01T00:00:00Z', end_at: null }
  const paused = await call('pause', { start_at: pause.start_at, end_at: pause.end_at })
  expect(paused).toMatchObject({ status: 200, body: { inactive_periods: [pause] } })
  expect((await call('resume')).body['inactive_periods']).toEqual([])
})
