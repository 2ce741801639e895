// Pricing groups by the API, down to invoices: what may be selected, at every instant, and what is billed of it (semantics 3.1).
import { expect, test } from 'vitest'
import { refusal } from '../../../../testing/catalog.ts'
import type { Row } from '../../../../testing/wire.ts'
import { invoiceLines } from '../../testing/sales.ts'
import { salesRig } from '../../testing/sales-rig.ts'

const { bill, get, patch, post, sales, setTime, tenant, unique } = salesRig()

/** A DRAFT version with a base fee and a group of two pricings, 31 and 62 a month. */
async function draftVersion(selection_constraint: string, plan: object = {}, version: object = {}) {
  const product = await post('products', { reference: unique('support'), name: 'Support', status: 'ACTIVE' })
  const { id: planId } = await post('pricing-plans', { reference: unique('plan'), ...plan })
  const { id: versionId } = await post('pricing-plan-versions', { pricing_plan_id: planId, ...version })
  const group = await post('pricing-groups', {
    pricing_plan_version_id: versionId,
    name: 'Level',
    selection_constraint,
  })
  const base = await sales.feePricing(versionId, product, '10')
  const inGroup = { pricing_group_id: group['id'] }
  const low = await sales.feePricing(versionId, product, '31', { name: 'Low', display_order: 1, ...inGroup })
  const high = await sales.feePricing(versionId, product, '62', { name: 'High', display_order: 2, ...inGroup })
  const ids = { low: low['id'] as string, high: high['id'] as string, base: base['id'] as string }
  return { planId: planId as string, versionId: versionId as string, groupId: group['id'] as string, ...ids }
}

/** A DRAFT subscription with a schedule on the version since 1 March. */
async function subscribe(versionId: string, enabled_pricings: readonly object[] = []) {
  const { id } = await sales.subscription()
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: id,
    pricing_plan_version_id: versionId,
    start_at: '2026-03-01T00:00:00Z',
    enabled_pricings,
  })
  return { subscriptionId: id as string, scheduleId: schedule['id'] as string }
}
const activate = (id: string) => tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
const enable = (id: string, enabled_pricings: readonly object[]) =>
  tenant.call('PATCH', `/v1/pricing-plan-schedules/${id}`, { enabled_pricings })

test('a group is fixed with its version, shown in it, copied with it, and deleted when nothing is in it', async () => {
  const { versionId, groupId, low, high, base } = await draftVersion('EXACTLY_ONE')
  const twice = await tenant.call('POST', '/v1/pricing-groups', { pricing_plan_version_id: versionId, name: 'Level' })
  expect(refusal(twice)).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'name'])
  const other = await draftVersion('ANY')
  const moved = await tenant.call('PATCH', `/v1/pricings/${low}`, { pricing_group_id: other.groupId })
  expect(refusal(moved)).toEqual([400, 'INVALID_FIELD', 'pricing_group_id'])
  const named = await tenant.call('DELETE', `/v1/pricing-groups/${groupId}`)
  expect([named.status, named.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
  const wrong = await tenant.call('PATCH', `/v1/pricing-groups/${groupId}`, { selection_constraint: 'TWO' })
  expect(refusal(wrong)).toEqual([400, 'INVALID_FIELD', 'selection_constraint'])

  const empty = await post('pricing-groups', {
    pricing_plan_version_id: versionId,
    name: 'Empty',
    selection_constraint: 'AT_LEAST_ONE',
  })
  const unsold = await tenant.call('PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  expect([...refusal(unsold), unsold.body['resource_id']]).toEqual([400, 'INVALID_OPERATION', 'status', empty['id']])
  expect((await tenant.call('DELETE', `/v1/pricing-groups/${empty['id']}`)).status).toBe(200)
  await patch(`pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })

  for (const [method, body] of [
    ['PATCH', { name: 'Other' }],
    ['DELETE', undefined],
  ] as const) {
    const fixed = await tenant.call(method, `/v1/pricing-groups/${groupId}`, body)
    expect([fixed.status, fixed.body['code'], fixed.body['field']]).toEqual([
      400,
      'INVALID_OPERATION',
      'pricing_plan_version_id',
    ])
  }
  const [category] = (await get(`pricing-plan-versions/${versionId}`))['pricing_categories']
  expect(category.pricings.map((each: Row) => each['id'])).toEqual([base])
  const idsIn = (group: Row) => group['pricings'].map((each: Row) => each['id'])
  expect(category.pricing_groups.map((group: Row) => [group['id'], idsIn(group)])).toEqual([[groupId, [low, high]]])
  expect(idsIn(await get(`pricing-groups/${groupId}`))).toEqual([low, high])

  const version = await get(`pricing-plan-versions/${versionId}`)
  const copy = await post('pricing-plan-versions', {
    pricing_plan_id: version['pricing_plan_id'],
    copied_from_pricing_plan_version_id: versionId,
  })
  const [copied] = copy['pricing_categories'][0].pricing_groups
  expect(copied).toMatchObject({
    name: 'Level',
    selection_constraint: 'EXACTLY_ONE',
    pricing_plan_version_id: copy['id'],
  })
  expect(copied.pricings.map((each: Row) => [each['name'], each['pricing_group_id']])).toEqual([
    ['Low', copied.id],
    ['High', copied.id],
  ])
  expect((await tenant.call('DELETE', `/v1/pricing-plan-versions/${copy['id']}`)).status).toBe(200)
  expect((await tenant.call('GET', `/v1/pricing-groups/${copied.id}`)).status).toBe(404)
})

test('a schedule keeps to the constraint at every instant, and bills what it has selected', async () => {
  setTime('2026-03-01T01:00:00Z')
  const { versionId, low, high } = await draftVersion('EXACTLY_ONE')
  await patch(`pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  const { subscriptionId, scheduleId } = await subscribe(versionId)

  // A DRAFT may select too little, not too much.
  const both = await enable(scheduleId, [{ pricing_id: low }, { pricing_id: high }])
  expect(refusal(both)).toEqual([400, 'INVALID_FIELD', 'enabled_pricings.1'])
  const none = await activate(subscriptionId)
  expect(refusal(none)).toEqual([400, 'INVALID_FIELD', 'enabled_pricings'])
  expect(none.body['message']).toContain('2026-03-01T00:00:00Z')

  const change = '2026-03-11T00:00:00Z'
  expect((await enable(scheduleId, [{ pricing_id: low }])).status).toBe(200)
  expect((await activate(subscriptionId)).status).toBe(200)
  const gap = await enable(scheduleId, [
    { pricing_id: low, end_at: change },
    { pricing_id: high, start_at: '2026-03-12T00:00:00Z' },
  ])
  expect(refusal(gap)).toEqual([400, 'INVALID_FIELD', 'enabled_pricings'])
  expect(gap.body['message']).toContain(change)
  const overlap = await enable(scheduleId, [{ pricing_id: low }, { pricing_id: high, start_at: change }])
  expect(refusal(overlap)).toEqual([400, 'INVALID_FIELD', 'enabled_pricings.1'])
  expect(overlap.body['message']).toContain(change)
  const handOver = [
    { pricing_id: low, end_at: change },
    { pricing_id: high, start_at: change },
  ]
  expect((await enable(scheduleId, handOver)).status).toBe(200)

  await bill(subscriptionId, '2026-04-02T00:00:00Z')
  const query = `pricing_plan_subscription_id=${subscriptionId}&order_by=created_at&order_direction=ASC`
  const [first] = (await get(`invoices?${query}`))['data']
  const lines = invoiceLines(await get(`invoices/${first['id']}`)).toSorted()
  expect(lines).toEqual([
    '2026-03-01..2026-03-11 10.00',
    '2026-03-01..2026-04-01 10.00',
    '2026-03-11..2026-04-01 42.00',
  ])
})

test('a trial calculation of a version takes the first pricing of a group that allows one', async () => {
  const { versionId } = await draftVersion('AT_MOST_ONE')
  const { id: billing_entity_id } = await post('billing-entities', {
    reference: unique('seller'),
    legal_name: 'Millrace',
    registered_address: { country: 'NL', city: 'Utrecht' },
  })
  const answer = await tenant.call('POST', `/v1/pricing-plan-versions/${versionId}/calculate`, { billing_entity_id })
  const amounts = JSON.stringify(answer.body).match(/"(10|31|62)\.00"/g) ?? []
  expect(new Set(amounts)).toEqual(new Set(['"10.00"', '"31.00"']))
})

test('a version of a rate card that needs a selection does not come into force for ACTIVE schedules', async () => {
  setTime('2026-03-01T01:00:00Z')
  const card = await draftVersion('ANY', { variant: 'RATE_CARD' }, { rate_card: { start_at: '2026-01-01T00:00:00Z' } })
  await patch(`pricing-plan-versions/${card.versionId}`, { status: 'ACTIVE' })
  const { subscriptionId, scheduleId } = await subscribe(card.versionId, [{ pricing_id: card.low }])
  expect((await activate(subscriptionId)).status).toBe(200)
  const next = await post('pricing-plan-versions', {
    pricing_plan_id: card.planId,
    copied_from_pricing_plan_version_id: card.versionId,
    rate_card: { start_at: '2026-07-01T00:00:00Z' },
  })
  const [group] = next['pricing_categories'][0].pricing_groups
  await patch(`pricing-groups/${group.id}`, { selection_constraint: 'AT_LEAST_ONE' })
  const refused = await tenant.call('PATCH', `/v1/pricing-plan-versions/${next['id']}`, { status: 'ACTIVE' })
  expect([...refusal(refused), refused.body['resource_id']]).toEqual([400, 'INVALID_OPERATION', 'status', scheduleId])
  await patch(`pricing-groups/${group.id}`, { selection_constraint: 'AT_MOST_ONE' })
  await patch(`pricing-plan-versions/${next['id']}`, { status: 'ACTIVE' })
})
