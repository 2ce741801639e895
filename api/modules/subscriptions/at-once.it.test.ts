// Two requests at once on one subscription: each is done whole or refused with a code, whichever comes first, and what they leave is
// what one after the other would leave. Pairs of the same request, and those beside billing, are tested beside the request too.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, SERVICE, type Uow } from '../../../shared/database/database.ts'
import { instantOf } from '../../../shared/time.ts'
import { lockOne } from '../../resource/store.ts'
import type { Answer, ApiHarness, TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { runBilling } from '../billing/run/run-billing.ts'
import { billedSubscription } from '../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'
import { changePlan } from './change-plan/change-plan.ts'
import { cancelSubscription } from './ending/cancel-subscription.ts'
import { subscriptionResource } from './subscription.ts'
import { activateSubscription } from './subscription-commands.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from './testing/seed-subscription.ts'
import { startAt } from './testing/start-at.ts'
import { untilItWaits } from './testing/until-it-waits.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
const plans: string[] = []
const versions: string[] = []
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
  for (let tier = 0; tier < 2; tier += 1) {
    const version = await makeVersion(tenant)
    versions.push(version)
    plans.push((await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${version}`))['pricing_plan_id'])
  }
  const types = { upgrade_type: 'IMMEDIATE_PRO_RATA', downgrade_type: 'IMMEDIATE' }
  const reference = tenant.seed.unique('tiers')
  const group = { reference, status: 'ACTIVE', pricing_plan_ids: plans, ...types }
  await succeed(tenant, 'POST', '/v1/pricing-plan-groups', group)
})
afterAll(() => stop())

const S = '/v1/pricing-plan-subscriptions'
const H = '/v1/pricing-plan-schedules'

/** What the requests of a pair are about: a subscription with a schedule that runs and one that follows it. */
type Given = { readonly id: string; readonly first: string; readonly second: string }
type Request = (given: Given) => Promise<Answer | null>

async function given(activated: boolean): Promise<Given> {
  const id = await makeSubscription(tenant)
  const own = { pricing_plan_version_id: versions[0] }
  const first = await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { ...own, end_at: '2026-06-01T00:00:00Z' })
  if (activated) await succeed(tenant, 'PATCH', `${S}/${id}`, { status: 'ACTIVE' })
  return { id, first, second: await makeSchedule(tenant, id, '2026-06-01T00:00:00Z', own) }
}

const REQUESTS = {
  activate: ({ id }) => tenant.call('PATCH', `${S}/${id}`, { status: 'ACTIVE' }),
  'activate the first schedule': ({ first }) => tenant.call('POST', `${H}/${first}/activate`),
  'activate the second schedule': ({ second }) => tenant.call('POST', `${H}/${second}/activate`),
  'delete the second schedule': ({ second }) => tenant.call('DELETE', `${H}/${second}`),
  delete: ({ id }) => tenant.call('DELETE', `${S}/${id}`),
  'change the plan': ({ id }) => tenant.call('POST', `${S}/${id}/change-plan`, { pricing_plan_id: plans[1] }),
  cancel: ({ id }) => tenant.call('POST', `${S}/${id}/cancel`, { type: 'NOW' }),
  'cancel for later': ({ id }) => tenant.call('POST', `${S}/${id}/cancel`, { type: 'NEXT_BILLING_PERIOD' }),
  pause: ({ id }) => tenant.call('POST', `${S}/${id}/pause`, {}),
  void: ({ id }) => tenant.call('POST', `${S}/${id}/void`),
  'end the first schedule': ({ first }) => tenant.call('PATCH', `${H}/${first}`, { end_at: '2026-04-01T00:00:00Z' }),
  'copy the first schedule': ({ first }) =>
    tenant.call('POST', `${H}/${first}/copy?set_previous_end_at=true`, {
      start_at: '2026-04-01T00:00:00Z',
      end_at: '2026-06-01T00:00:00Z',
    }),
  bill: async ({ id }) => {
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
    return null
  },
} as const satisfies Record<string, Request>
type Name = keyof typeof REQUESTS

const CODES = [
  'INVALID_OPERATION',
  'INVALID_FIELD',
  'RESOURCE_NOT_FOUND',
  'COULD_NOT_DELETE_RESOURCE',
  'SERVICE_UNAVAILABLE',
]

/** With `DRAFT` the subscription is not activated before; `one`: exactly one of the two is done. */
test.each<[Name, Name, ('DRAFT' | 'ACTIVE')?, 'one'?]>([
  ['activate', 'delete', 'DRAFT', 'one'],
  ['activate', 'delete the second schedule', 'DRAFT'],
  ['activate the first schedule', 'activate the second schedule', 'DRAFT'],
  ['activate the second schedule', 'delete the second schedule'],
  ['activate the second schedule', 'change the plan'],
  ['activate the second schedule', 'cancel'],
  ['change the plan', 'cancel for later'],
  ['change the plan', 'pause'],
  ['change the plan', 'void'],
  ['change the plan', 'bill'],
  ['change the plan', 'end the first schedule'],
  ['copy the first schedule', 'end the first schedule'],
  ['cancel', 'void'],
  ['cancel', 'pause'],
  ['cancel', 'bill'],
  ['cancel', 'cancel for later'],
  ['pause', 'bill'],
  ['void', 'bill'],
  ['end the first schedule', 'bill'],
])('%s and %s', async (one, other, status = 'ACTIVE', exactly = undefined) => {
  const on = await given(status === 'ACTIVE')
  const answers = (await Promise.all([REQUESTS[one](on), REQUESTS[other](on)])).filter(answer => answer !== null)
  const refused = answers.filter(answer => answer.status >= 300)
  for (const { status: code, body } of refused) {
    expect(CODES, JSON.stringify(body)).toContain(body['code'])
    expect([400, 404, 409, 503]).toContain(code)
  }
  if (exactly === 'one') expect(refused).toHaveLength(1)
  expect(refused.length).toBeLessThan(2)
  await left(on)
})

/** What is there is whole: schedules without a gap, and invoices of one subscription that bill no time twice. */
async function left({ id }: Given): Promise<void> {
  const found = await tenant.call('GET', `${S}/${id}`)
  if (found.status === 404) {
    expect(await api.sql('select 1 from pricing_plan_schedules where pricing_plan_subscription_id = $1', [id])).toEqual(
      [],
    )
    return
  }
  const query = `pricing_plan_subscription_id=${id}&order_by=start_at&order_direction=asc`
  const schedules: Row[] = (await succeed(tenant, 'GET', `${H}?${query}`))['data']
  const rising = schedules.toSorted((a, b) => (a['start_at'] < b['start_at'] ? -1 : 1))
  for (const [place, schedule] of rising.slice(1).entries())
    expect(rising[place]?.['end_at'] ?? schedule['start_at']).toBe(schedule['start_at'])
  const active = rising.map(schedule => schedule['status'] === 'ACTIVE')
  expect(active).toEqual(active.toSorted((a, b) => Number(b) - Number(a)))
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
  const invoices: Row[] = (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}`))['data']
  if (found.body['status'] === 'VOID') expect(invoices.filter(({ status }) => status !== 'VOID')).toEqual([])
  const spans = invoices.filter(({ status }) => status !== 'VOID').map(each => each['period_start'])
  expect(new Set(spans).size).toBe(spans.length)
}

// Where a request does not lock the subscription (lockOne without `for update`), four of this file fail: those of a cancellation, an
// activation and a discount below, and `activate and delete the second schedule`. Of two changes of plan, the database refuses one too.
describe('a request that comes while another is being saved', () => {
  /** Sends the second once the first has done its work and not committed it, which it does when the second waits, or has an answer. */
  async function beside(first: (uow: Uow) => Promise<unknown>, second: () => Promise<Answer>): Promise<Answer> {
    const sent = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
      await first(uow)
      return await untilItWaits(api, second)
    })
    return await sent.answer
  }
  /** With a schedule that is ACTIVE already after the one that runs: then no later check looks at the subscription again. */
  async function givenBefore(): Promise<Given> {
    const on = await given(true)
    await succeed(tenant, 'POST', `${H}/${on.second}/activate`)
    return on
  }
  const lockedBy = async (uow: Uow, id: string) =>
    (await lockOne(uow, subscriptionResource, id)) ?? expect.unreachable('it is there')

  test('to change the plan is refused after a cancellation', async () => {
    const on = await givenBefore()
    const answer = await beside(
      uow => cancelSubscription(uow, on.id, { type: 'NOW' }),
      () => REQUESTS['change the plan'](on),
    )
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION' } })
    await left(on)
  })

  test('to change the plan is refused after a change to the same plan', async () => {
    const on = await givenBefore()
    const answer = await beside(
      uow => changePlan(uow, on.id, { pricing_plan_id: plans[1] ?? '' }),
      () => REQUESTS['change the plan'](on),
    )
    expect(answer.status).toBe(400)
    await left(on)
  })

  test('to cancel at once takes effect after a cancellation for later', async () => {
    const on = await given(true)
    const later = { type: 'DATE', cancel_at: '2026-05-01T00:00:00Z' } as const
    const answer = await beside(
      uow => cancelSubscription(uow, on.id, later),
      () => REQUESTS.cancel(on),
    )
    expect(answer).toMatchObject({ status: 200, body: { status: 'CANCELLED' } })
    expect(answer.body['inactive_periods']).toHaveLength(1)
    await left(on)
  })

  test('to activate finds it ACTIVE, and tells nobody twice', async () => {
    const on = await given(false)
    const answer = await beside(
      async uow => activateSubscription(uow, await lockedBy(uow, on.id)),
      () => REQUESTS.activate(on),
    )
    expect(answer).toMatchObject({ status: 200, body: { status: 'ACTIVE' } })
    const told = `select 1 from outbox where object_id = $1 and type = 'PRICING_PLAN_SUBSCRIPTION.ACTIVATED'`
    expect(await api.sql(told, [on.id])).toHaveLength(1)
    await left(on)
  })

  test('to discount a period is refused, and the invoice without, when the billing run is making it FINAL', async () => {
    const { subscriptionId: id } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
    const [{ id: schedule }] = (await succeed(tenant, 'GET', `${H}?pricing_plan_subscription_id=${id}`))['data']
    const deps = { database: api.database, usage: NO_USAGE }
    api.clock.set(instantOf(Date.parse('2026-04-01T01:00:00Z')))
    await runBilling(deps, tenant.tenant, id)
    api.clock.set(instantOf(Date.parse('2026-04-03T00:00:00Z')))
    const sent: Promise<Answer>[] = []
    const failpoint = async (name: string): Promise<void> => {
      if (name !== 'invoices.before-commit' || sent.length > 0) return
      const discount = { totals: [{ percentage: '10' }] }
      sent.push((await untilItWaits(api, () => tenant.call('PATCH', `${H}/${schedule}`, { discount }))).answer)
    }
    await runBilling({ ...deps, failpoint }, tenant.tenant, id)
    const [answer] = await Promise.all(sent)
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', field: 'discount.totals.0.start_at' },
    })
    api.clock.set(instantOf(Date.parse('2026-03-11T10:00:00Z')))
  })
})
