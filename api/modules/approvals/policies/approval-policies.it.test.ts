// Approval policies: who approves what, which rules there can be, and that one is ACTIVE for each source type (semantics 7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../../../testing/calls.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { LARGE_DISCOUNT, POLICIES, policyBody, underPolicy } from '../testing/policy-body.ts'

let api: ApiHarness
let tenant: TestTenant
let user: string
let other: string
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  user = await tenant.seed.user()
  other = await tenant.seed.user()
})
afterAll(() => api?.close())

const create = (over: object = {}) => tenant.call('POST', POLICIES, policyBody(tenant, [user], over))
const made = async (over: object = {}): Promise<Row> =>
  await succeed(tenant, 'POST', POLICIES, policyBody(tenant, [user], over))

describe('lifecycle', () => {
  test('a DRAFT is changed, activated, deprecated, activated again and archived; each says so in an event', async () => {
    const policy = await made()
    const { id, reference } = policy
    expect(policy).toMatchObject({
      object_type: 'APPROVAL_POLICY',
      status: 'DRAFT',
      source_type: 'PRICING_PLAN_SCHEDULE',
      approvers: {
        type: 'ANYONE_CAN_DECIDE',
        approval_groups: [{ level: null, approvers: [{ type: 'USER', user: { id: user } }] }],
      },
      rule_groups: [LARGE_DISCOUNT],
    })
    expect((await succeed(tenant, 'PATCH', `${POLICIES}/${id}`, { name: 'Others' }))['name']).toBe('Others')
    expect((await succeed(tenant, 'GET', `${POLICIES}/${reference}`))['id']).toBe(id)
    for (const [verb, status] of [
      ['activate', 'ACTIVE'],
      ['deprecate', 'DEPRECATED'],
      ['activate', 'ACTIVE'],
      ['archive', 'ARCHIVED'],
    ])
      expect((await succeed(tenant, 'POST', `${POLICIES}/${id}/${verb}`))['status']).toBe(status)
    const again = await tenant.call('POST', `${POLICIES}/${id}/activate`)
    expect([again.status, again.body['code']]).toEqual([400, 'INVALID_OPERATION'])
    const listed = await succeed(tenant, 'GET', `${POLICIES}?statuses[]=ARCHIVED&source_type=PRICING_PLAN_SCHEDULE`)
    expect(listed['data'].map((row: Row) => row['id'])).toContain(id)
    await expectPayloads(api, id, ['APPROVAL_POLICY.CREATED', 'APPROVAL_POLICY.UPDATED'])
  })

  test('a DRAFT is deleted, and nothing else', async () => {
    const { id } = await made()
    await succeed(tenant, 'DELETE', `${POLICIES}/${id}`)
    expect((await tenant.call('GET', `${POLICIES}/${id}`)).status).toBe(404)
    await expectPayloads(api, id, ['APPROVAL_POLICY.DELETED'])
    await underPolicy(tenant, policyBody(tenant, [user]), async active => {
      const refused = await tenant.call('DELETE', `${POLICIES}/${active}`)
      expect([refused.status, refused.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    })
  })

  test('a second one of a source type is not activated, and the refusal names the first', async () => {
    const { id } = await made()
    await underPolicy(tenant, policyBody(tenant, [user]), async active => {
      const refused = await tenant.call('POST', `${POLICIES}/${id}/activate`)
      expect(refused.status).toBe(400)
      expect(refused.body).toMatchObject({ code: 'INVALID_OPERATION', field: 'status', resource_id: active })
      const born = await create({ status: 'ACTIVE' })
      expect(born.body).toMatchObject({ code: 'INVALID_OPERATION', resource_id: active })
      // What is ACTIVE can change: it is no second one.
      await succeed(tenant, 'PATCH', `${POLICIES}/${active}`, { rule_groups: [] })
    })
  })

  test('of many that are activated at once, one is', async () => {
    const ids = await Promise.all([1, 2, 3, 4, 5].map(async () => (await made())['id']))
    const answers = await Promise.all(ids.map(id => tenant.call('POST', `${POLICIES}/${id}/activate`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body } of answers) if (status !== 200) expect(body['field']).toMatch(/^(status|source_type)$/)
    const { data } = await succeed(tenant, 'GET', `${POLICIES}?statuses[]=ACTIVE`)
    expect(data).toHaveLength(1)
    await succeed(tenant, 'POST', `${POLICIES}/${data[0].id}/deprecate`)
  })
})

describe('approvers', () => {
  const by = (over: object) => ({ approvers: { approval_groups: [{ approvers: [{ user: { id: user } }] }], ...over } })
  const group = (id: string, level?: number) => ({
    ...(level === undefined ? {} : { level }),
    approvers: [{ type: 'USER', user: { id } }],
  })

  test('everyone has to approve, unless it says otherwise', async () => {
    expect((await made(by({})))['approvers']['type']).toBe('EVERYONE_HAS_TO_APPROVE')
  })

  test('levels are shown as they are given', async () => {
    const approval_groups = [group(user, 2), group(other, 1)]
    const approvers = { type: 'ALL_LEVELS_MUST_APPROVE', approval_groups }
    expect((await made({ approval_type: 'LEVEL', approvers }))['approvers']).toEqual(approvers)
  })

  test('a user of another platform is refused as an unknown one is', async () => {
    const foreign = await api.tenants.bLive.seed.user()
    const field = 'approvers.approval_groups.0.approvers.0.user.id'
    for (const id of [foreign, 'user_nobody']) {
      const { status, body } = await create(by({ approval_groups: [group(id)] }))
      expect([status, body['code'], body['field'], body['resource_type']]).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
        field,
        'USER',
      ])
    }
  })

  test('one who has been switched off since keeps the policy from being activated', async () => {
    const gone = await tenant.seed.user()
    const { id } = await made(by({ approval_groups: [group(gone)] }))
    await succeed(tenant, 'POST', '/v1/users/revoke-invite', { id: gone })
    const refused = await tenant.call('POST', `${POLICIES}/${id}/activate`)
    expect(refused.body).toMatchObject({ code: 'RESOURCE_NOT_FOUND', resource_type: 'USER' })
    // What is not about them can change.
    await succeed(tenant, 'PATCH', `${POLICIES}/${id}`, { name: 'Renamed' })
  })

  const GROUPS = 'approvers.approval_groups'
  test.each<[string, () => object, string, string]>([
    [
      'a strategy of levels for a group',
      () => by({ type: 'ALL_LEVELS_MUST_APPROVE' }),
      'INVALID_FIELD',
      'approvers.type',
    ],
    ['another strategy of levels', () => by({ type: 'HIGHER_LEVEL_CAN_OVERRIDE' }), 'INVALID_FIELD', 'approvers.type'],
    ['a level of a group', () => by({ approval_groups: [group(user, 1)] }), 'INVALID_FIELD', `${GROUPS}.0.level`],
    ['no level', () => ({ approval_type: 'LEVEL' }), 'MISSING_FIELD', `${GROUPS}.0.level`],
    [
      'a level twice',
      () => ({ approval_type: 'LEVEL', ...by({ approval_groups: [group(user, 1), group(other, 1)] }) }),
      'INVALID_FIELD',
      `${GROUPS}.1.level`,
    ],
    [
      'a level below the lowest',
      () => ({ approval_type: 'LEVEL', ...by({ approval_groups: [group(user, 0)] }) }),
      'INVALID_FIELD',
      `${GROUPS}.0.level`,
    ],
    [
      'an approver twice',
      () => by({ approval_groups: [group(user), group(user)] }),
      'INVALID_FIELD',
      `${GROUPS}.1.approvers.0.user.id`,
    ],
    ['no approver', () => by({ approval_groups: [] }), 'INVALID_FIELD', GROUPS],
    [
      'no approver in a group',
      () => by({ approval_groups: [{ approvers: [] }] }),
      'INVALID_FIELD',
      `${GROUPS}.0.approvers`,
    ],
  ])('%s is refused', async (_name, over, code, field) => {
    const { body } = await create(over())
    expect([body['code'], body['field']]).toEqual([code, field])
  })
})

describe('rules', () => {
  const ruled = (rule: object) => ({ rule_groups: [{ rules: [rule] }] })
  const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

  test('every type is taken with its own part', async () => {
    const isCustom = { is_custom: true }
    const rules = [
      { type: 'ALWAYS_APPROVE' },
      { type: 'DISCOUNT', comparator: 'GREATER_THAN', discount: { percentage: '10' } },
      { type: 'DISCOUNT', comparator: 'LESS_THAN_OR_EQUALS', discount: { amount: eur('100') } },
      { type: 'COMMITMENT', comparator: 'LESS_THAN', commitment: { amount: eur('500') } },
      { type: 'PRICING', comparator: 'EQUALS', pricing: { has_override: true } },
      { type: 'BILLING_ENTITY', billing_entity: isCustom },
      { type: 'BILLING_PERIOD', billing_period: isCustom },
      { type: 'DUE_DATE', due_date: isCustom },
      { type: 'PAYMENT_ACCEPTOR', payment_acceptor: isCustom },
    ]
    const rule_groups = [{ rules }, { rules: [] }]
    expect((await made({ rule_groups }))['rule_groups']).toEqual(rule_groups)
  })

  const R = 'rule_groups.0.rules.0'
  const discount = { percentage: '10' }
  test.each<[string, object, string, string]>([
    ['a type without its part', { type: 'DISCOUNT', comparator: 'EQUALS' }, 'MISSING_FIELD', `${R}.discount`],
    [
      'the part of another type',
      { type: 'PRICING', discount, pricing: { has_override: true } },
      'INVALID_FIELD',
      `${R}.discount`,
    ],
    ['a part of what has none', { type: 'ALWAYS_APPROVE', discount }, 'INVALID_FIELD', `${R}.discount`],
    ['what says nothing of its comparison', { type: 'DISCOUNT', discount }, 'MISSING_FIELD', `${R}.comparator`],
    ['a comparison of nothing', { type: 'ALWAYS_APPROVE', comparator: 'EQUALS' }, 'INVALID_FIELD', `${R}.comparator`],
    [
      'more than yes',
      { type: 'DUE_DATE', comparator: 'GREATER_THAN', due_date: { is_custom: true } },
      'INVALID_FIELD',
      `${R}.comparator`,
    ],
    [
      'neither percentage nor amount',
      { type: 'DISCOUNT', comparator: 'EQUALS', discount: {} },
      'INVALID_FIELD',
      `${R}.discount`,
    ],
    [
      'percentage and amount',
      { type: 'DISCOUNT', comparator: 'EQUALS', discount: { percentage: '1', amount: eur('1') } },
      'INVALID_FIELD',
      `${R}.discount`,
    ],
    [
      'a percentage below 0',
      { type: 'DISCOUNT', comparator: 'EQUALS', discount: { percentage: '-1' } },
      'INVALID_FIELD',
      `${R}.discount.percentage`,
    ],
    [
      'an amount below 0',
      { type: 'COMMITMENT', comparator: 'EQUALS', commitment: { amount: eur('-1') } },
      'INVALID_FIELD',
      `${R}.commitment.amount.quantity`,
    ],
    ['a type that there is not', { type: 'MARKUP' }, 'INVALID_FIELD', `${R}.type`],
    [
      'a custom field that there is not',
      { type: 'CUSTOM_FIELD', custom_field: { id: 'cufi_0w4mZQ1SgqhV5Yd0CFFkZ2', value: 'x' } },
      'RESOURCE_NOT_FOUND',
      `${R}.custom_field.id`,
    ],
  ])('%s is refused', async (_name, rule, code, field) => {
    const { body } = await create(ruled(rule))
    expect([body['code'], body['field']]).toEqual([code, field])
  })

  test.each(['QUOTE_VERSION', 'INVOICE'])('%s is not submitted yet, so no policy is about it', async source_type => {
    const { status, body } = await create({ source_type })
    expect([status, body['code'], body['field']]).toEqual([400, 'INVALID_FIELD', 'source_type'])
  })

  const field = (of: object): Promise<Row> =>
    succeed(tenant, 'POST', '/v1/custom-fields', {
      reference: tenant.seed.unique('field'),
      resource_type: 'PRICING_PLAN_SUBSCRIPTION',
      type: 'NUMBER',
      ...of,
    })
  const onField = (id: unknown, value: string, comparator?: string) =>
    ruled({ type: 'CUSTOM_FIELD', ...(comparator ? { comparator } : {}), custom_field: { id, value } })

  test('a value of a custom field is stored in its one form, and has to be one', async () => {
    const { id } = await field({})
    const policy = await made(onField(id, '10.00', 'GREATER_THAN'))
    expect(policy['rule_groups'][0].rules[0].custom_field).toEqual({ id, value: '10' })
    const none = await create(onField(id, 'many'))
    expect([none.body['code'], none.body['field']]).toEqual(['INVALID_FIELD', `${R}.custom_field.value`])
    const text = await field({ type: 'STRING' })
    const ordered = await create(onField(text['id'], 'x', 'LESS_THAN'))
    expect([ordered.body['code'], ordered.body['field']]).toEqual(['INVALID_FIELD', `${R}.comparator`])
    const ofMeter = await field({ resource_type: 'PRODUCT' })
    const foreign = await create(onField(ofMeter['id'], '1'))
    expect([foreign.body['code'], foreign.body['field']]).toEqual(['INVALID_FIELD', `${R}.custom_field.id`])
  })

  test('a custom field stays while a policy names it', async () => {
    const { id } = await field({})
    const policy = await made(onField(id, '1'))
    const refused = await tenant.call('DELETE', `/v1/custom-fields/${id}`)
    expect([refused.status, refused.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    expect(refused.body['message']).toContain(policy['reference'])
    await succeed(tenant, 'DELETE', `${POLICIES}/${policy['id']}`)
    await succeed(tenant, 'DELETE', `/v1/custom-fields/${id}`)
  })
})
