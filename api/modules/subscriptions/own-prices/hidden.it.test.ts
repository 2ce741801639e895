// The plan behind the prices of a schedule: calls that are given its ids answer as they do to ids that are not there, and no answer shows them.
import { beforeAll, expect, test } from 'vitest'
import { isObject } from '../../../description/json.ts'
import { refusal } from '../../../testing/catalog.ts'
import { createChecker } from '../../../testing/checker.ts'
import type { Row } from '../../../testing/wire.ts'
import { salesRig } from '../../billing/testing/sales-rig.ts'
import { MARCH, MAY, ownPricesOf } from '../testing/own-prices.ts'

const rig = salesRig()
const { get, patch, post, sales, setTime, sql, tenant, unique } = rig
const { feeOf } = ownPricesOf(rig)

/** The ids of an ACTIVE schedule without a plan, and those of the plan and version behind it. */
type Ids = Readonly<
  Record<'plan' | 'version' | 'schedule' | 'subscription' | 'customer' | 'group' | 'item' | 'config', string>
>
let hidden: Ids
/** An ACTIVE version of a plan that is there for all, and the DRAFT subscription of another customer. */
let listed: Readonly<Record<'plan' | 'version' | 'draft', string>>
beforeAll(async () => {
  setTime('2026-03-01T01:00:00Z')
  const subscription = await sales.subscription()
  const made = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    start_at: MARCH,
    pricing_categories: [{ pricings: [(await feeOf('31')).pricing], pricing_groups: [{ name: 'Choice' }] }],
  })
  await patch(`pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  const [row] = await sql(
    `select v.id as version, v.pricing_plan_id as plan from pricing_plan_versions v
     join pricing_plan_schedules h on h.own_pricing_plan_version_id = v.id where h.id = $1`,
    [made['id']],
  )
  const [{ pricings, pricing_groups: groups }] = made['pricing_categories']
  const [item] = pricings[0].items
  const { version, plan } = row as Row
  const of = { subscription: subscription['id'], customer: subscription['customer_id'], group: groups[0].id }
  hidden = { version, plan, schedule: made['id'], ...of, item: item.id, config: item.configs[0].id }
  const { id } = await post('pricing-plans', { reference: unique('plan') })
  const ofPlan = await post('pricing-plan-versions', { pricing_plan_id: id })
  await post('pricings', { pricing_plan_version_id: ofPlan['id'], ...(await feeOf('10')).pricing })
  await patch(`pricing-plan-versions/${ofPlan['id']}`, { status: 'ACTIVE' })
  listed = { plan: id, version: ofPlan['id'], draft: (await sales.subscription())['id'] }
})

type Call = readonly ['GET' | 'POST' | 'PATCH' | 'DELETE', string, object?]
const CALLS: readonly ((of: { plan: string; version: string }) => Call)[] = [
  ({ plan }) => ['GET', `pricing-plans/${plan}`],
  ({ plan }) => ['PATCH', `pricing-plans/${plan}`, { name: 'Other' }],
  ({ plan }) => ['DELETE', `pricing-plans/${plan}`],
  ({ version }) => ['GET', `pricing-plan-versions/${version}`],
  ({ version }) => ['PATCH', `pricing-plan-versions/${version}`, { status: 'ARCHIVED' }],
  ({ version }) => ['DELETE', `pricing-plan-versions/${version}`],
  ({ version }) => ['POST', `pricing-plan-versions/${version}/simulate`, {}],
  ({ version }) => ['POST', `pricing-plan-versions/${version}/calculate`, {}],
  ({ version }) => ['GET', `pricing-plan-versions/${version}/curve`],
  ({ version }) => ['POST', `pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: listed.version }],
  ({ version }) => ['POST', `pricing-plan-versions/${listed.version}/migrate`, { pricing_plan_version_id: version }],
  ({ plan }) => ['POST', 'pricing-plan-versions', { pricing_plan_id: plan }],
  ({ version }) => [
    'POST',
    'pricing-plan-versions',
    { pricing_plan_id: listed.plan, copied_from_pricing_plan_version_id: version },
  ],
  ({ version }) => ['POST', 'pricing-groups', { pricing_plan_version_id: version, name: 'Choice' }],
  ({ version }) => ['POST', 'pricings', { pricing_plan_version_id: version, product_ids: ['prod_1'] }],
  ({ plan }) => ['POST', 'pricing-plan-groups', { reference: unique('group'), pricing_plan_ids: [plan] }],
  ({ version }) => ['POST', 'pricing-plan-schedules', { ...ofDraft(), pricing_plan_version_id: version }],
  ({ plan }) => [
    'POST',
    'pricing-plan-schedules',
    { ...ofDraft(), pricing_plan_version_selector: { pricing_plan_id: plan } },
  ],
  ({ version }) => [
    'POST',
    `pricing-plan-schedules/${hidden.schedule}/migrate`,
    { start_at: MAY, pricing_plan_version_id: version },
  ],
  ({ plan }) => ['POST', `pricing-plan-subscriptions/${hidden.subscription}/change-plan`, { pricing_plan_id: plan }],
]
const ofDraft = () => ({ pricing_plan_subscription_id: listed.draft, start_at: MARCH })

test('ids of it are answered as those of nothing', async () => {
  const absent = { plan: 'pric_0000000000000000000000', version: 'ppve_0000000000000000000000' }
  for (const call of CALLS) {
    const [method, path, body] = call(hidden)
    const [, otherPath, otherBody] = call(absent)
    const answer = await tenant.call(method, `/v1/${path}`, body)
    const other = await tenant.call(method, `/v1/${otherPath}`, otherBody)
    expect(refusal(answer), `${method} ${path}`).toEqual(refusal(other))
    expect(answer.status, `${method} ${path}`).toBe(404)
  }
})

test('no refusal shows them', async () => {
  const of = { pricing_plan_subscription_id: hidden.subscription, customer_id: hidden.customer }
  const price = { pricing_item_id: hidden.item, pricing_item_config_id: hidden.config, persist_usage: '5' }
  const persist = { ...of, ...price, pricing_id: 'prcg_1', timestamp: MARCH }
  const draft = await post('pricing-plan-versions', { pricing_plan_id: listed.plan })
  const grouped = {
    pricing_plan_version_id: draft['id'],
    pricing_group_id: hidden.group,
    ...(await feeOf('1')).pricing,
  }
  const answers = [
    await tenant.call('POST', '/v1/pricings', grouped),
    await tenant.call('POST', '/v1/ingest/persist-data', persist),
    await tenant.call('POST', `/v1/pricing-plan-subscriptions/${hidden.subscription}/change-plan`, {
      pricing_plan_id: listed.plan,
    }),
  ]
  expect(answers.map(refusal)).toEqual([
    [400, 'INVALID_FIELD', 'pricing_group_id'],
    [404, 'RESOURCE_NOT_FOUND', 'pricing_id'],
    [400, 'INVALID_OPERATION', 'pricing_plan_id'],
  ])
  for (const { body } of answers) {
    expect(JSON.stringify(body)).not.toContain(hidden.plan)
    expect(JSON.stringify(body)).not.toContain(hidden.version)
  }
})

test('what is shown instead of them is null, as the description says', async () => {
  const description: unknown = await get('openapi.json')
  const check = createChecker(isObject(description) ? description : {})
  const schedule = await get(`pricing-plan-schedules/${hidden.schedule}?include_combined_pricing_plan_version=true`)
  expect([schedule['pricing_plan_id'], schedule['pricing_plan_version_id']]).toEqual([null, null])
  expect(check('PricingPlanSchedule', schedule)).toBe(null)
  expect(check('Pricing', schedule['pricing_categories'][0].pricings[0])).toBe(null)
  expect(JSON.stringify(schedule)).not.toContain(hidden.version)
  const indexed = { start_at: MAY, indexing_settings: { percentage: '10' } }
  const copy = await post(`pricing-plan-schedules/${hidden.schedule}/copy?set_previous_end_at=true`, indexed)
  expect(copy['pricing_categories'][0].pricings[0].items[0].configs[0].original_pricing_item_config_id).toBe(
    hidden.config,
  )
  expect(check('PricingPlanSchedule', copy)).toBe(null)
})
