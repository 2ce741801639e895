// Groups of plans, through the api (contract: Pricing plan group; semantics 0.6).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { pricingPlanResource } from '../pricing-plans/pricing-plan.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

const URL = '/v1/pricing-plan-groups'
const plans = async (count: number) =>
  await Promise.all(Array.from({ length: count }, async () => (await a.seed.make(pricingPlanResource)).id))
const create = (body: object) => a.call('POST', URL, { reference: a.seed.unique('group'), ...body })
async function made(body: object): Promise<Row> {
  const answer = await create(body)
  expect(answer.status).toBe(201)
  return answer.body
}
const patch = (group: Row, body: object) => a.call('PATCH', `${URL}/${group['id']}`, body)

describe('plan groups', () => {
  test('keep the order of their plans, and have types of their own for both directions', async () => {
    const ids = await plans(3)
    const group = await made({ pricing_plan_ids: [ids[2], ids[0], ids[1]], status: 'ACTIVE' })
    expect(group).toMatchObject({
      object_type: 'PRICING_PLAN_GROUP',
      status: 'ACTIVE',
      pricing_plan_ids: [ids[2], ids[0], ids[1]],
      upgrade_type: 'IMMEDIATE_PRO_RATA',
      downgrade_type: 'NEXT_BILLING_PERIOD',
    })
    const changed = await patch(group, { upgrade_type: 'IMMEDIATE', pricing_plan_ids: [ids[0], ids[2]] })
    expect(changed.body).toMatchObject({ upgrade_type: 'IMMEDIATE', pricing_plan_ids: [ids[0], ids[2]] })
    const expanded = await a.call('GET', `${URL}/${group['reference']}?expand[]=pricing_plans`)
    expect((expanded.body['pricing_plans'] as Row[]).map(plan => plan['id'])).toEqual([ids[0], ids[2]])
    const listed = await a.call('GET', `${URL}?pricing_plan_id=${ids[2]}&statuses[]=ACTIVE`)
    expect((listed.body['data'] as Row[]).map(row => row['id'])).toEqual([group['id']])
    const without = await a.call('GET', `${URL}?pricing_plan_id=${ids[1]}`)
    expect(without.body['data']).toEqual([])
  })

  test('move through their statuses, and a DRAFT alone is deleted', async () => {
    const group = await made({ pricing_plan_ids: await plans(1) })
    const verb = (name: string) => a.call('POST', `${URL}/${group['id']}/${name}`)
    expect(refusal(await verb('archive'))).toEqual([400, 'INVALID_OPERATION', 'status'])
    for (const [name, status] of [
      ['activate', 'ACTIVE'],
      ['deprecate', 'DEPRECATED'],
      ['activate', 'ACTIVE'],
      ['archive', 'ARCHIVED'],
    ] as const)
      expect((await verb(name)).body['status']).toBe(status)
    expect(refusal(await verb('activate'))).toEqual([400, 'INVALID_OPERATION', 'status'])
    expect(refusal(await a.call('DELETE', `${URL}/${group['id']}`))).toEqual([
      409,
      'COULD_NOT_DELETE_RESOURCE',
      'status',
    ])
    const draft = await made({})
    expect((await a.call('DELETE', `${URL}/${draft['id']}`)).status).toBe(200)
  })

  test('a plan has one group at most, and an ARCHIVED one lets go of it', async () => {
    const [plan = ''] = await plans(1)
    const first = await made({ pricing_plan_ids: [plan], status: 'ACTIVE' })
    const [other = ''] = await plans(1)
    const answer = await create({ pricing_plan_ids: [other, plan] })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'pricing_plan_ids.1'])
    expect(answer.body['message']).toContain(first['id'])
    await a.call('POST', `${URL}/${first['id']}/archive`)
    await made({ pricing_plan_ids: [other, plan] })
  })

  test('of groups that take the same plan at once, one is made', async () => {
    const [plan] = await plans(1)
    const answers = await Promise.all(Array.from({ length: 4 }, () => create({ pricing_plan_ids: [plan] })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
  })

  test('a plan that a group names is not deleted', async () => {
    const [plan] = await plans(1)
    const group = await made({ pricing_plan_ids: [plan] })
    const refused = await a.call('DELETE', `/v1/pricing-plans/${plan}`)
    expect(refusal(refused).slice(0, 2)).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    await patch(group, { pricing_plan_ids: [] })
    expect((await a.call('DELETE', `/v1/pricing-plans/${plan}`)).status).toBe(200)
  })

  test('what contradicts itself is refused with its field', async () => {
    const [plan] = await plans(1)
    const foreign = await api.tenants.bLive.seed.make(pricingPlanResource)
    const cases: [object, unknown[]][] = [
      [{ pricing_plan_ids: [plan, plan] }, [400, 'INVALID_FIELD', 'pricing_plan_ids.1']],
      [{ pricing_plan_ids: [plan, foreign.id] }, [404, 'RESOURCE_NOT_FOUND', 'pricing_plan_ids.1']],
      [{ status: 'ACTIVE' }, [400, 'MISSING_FIELD', 'pricing_plan_ids']],
      [{ upgrade_type: 'LATER' }, [400, 'INVALID_FIELD', 'upgrade_type']],
      [{ downgrade_type: 'immediate' }, [400, 'INVALID_FIELD', 'downgrade_type']],
      [{ status: 'DEPRECATED' }, [400, 'INVALID_FIELD', 'status']],
    ]
    for (const [body, expected] of cases) expect(refusal(await create(body))).toEqual(expected)
    const live = await made({ pricing_plan_ids: [plan], status: 'ACTIVE' })
    expect(refusal(await patch(live, { pricing_plan_ids: [] }))).toEqual([400, 'MISSING_FIELD', 'pricing_plan_ids'])
    expect(refusal(await patch(live, { reference: 'other' }))).toEqual([400, 'INVALID_FIELD', 'reference'])
  })
})
