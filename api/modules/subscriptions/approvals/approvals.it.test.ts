// Schedules that need an approval: submitted in place of their activation, and what follows the decision (contract: States; semantics 7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import type { Row } from '../../../testing/wire.ts'
import { LARGE_DISCOUNT, REQUESTS } from '../../approvals/testing/policy-body.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { paymentAcceptorResource } from '../../parties/payment-acceptors/payment-acceptor.ts'
import {
  APRIL,
  type ApprovalRig,
  type Approver,
  off,
  openApprovalRig,
  SCHEDULES,
  SUBSCRIPTIONS,
} from '../testing/approval-rig.ts'
import { makeSchedule, makeVersion, succeed } from '../testing/seed-subscription.ts'

let rig: ApprovalRig
let approver: Approver
let other: Approver
beforeAll(async () => {
  rig = await openApprovalRig()
  approver = await rig.approver()
  other = await rig.approver()
})
afterAll(() => rig?.api.close())

const decided = async (request: Row, verb: string, by = approver): Promise<Row> => {
  const { status, body } = await by.call('POST', `${REQUESTS}/${request['id']}/${verb}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const subscription = (id: string): Promise<Row> => succeed(rig.tenant, 'GET', `${SUBSCRIPTIONS}/${id}`)
const ruled = (...rules: object[]) => ({ rule_groups: [{ rules }] })

describe('a schedule that needs an approval', () => {
  test('stays DRAFT, is pending review, and becomes ACTIVE when it is approved', async () => {
    await rig.under([approver, other], async policyId => {
      const { subscription: id, schedule } = await rig.draft()
      const activated = await rig.activate(schedule)
      expect([activated.status, activated.body['status'], activated.body['approval_status']]).toEqual([
        200,
        'DRAFT',
        'PENDING_REVIEW',
      ])
      expect(await subscription(id)).toMatchObject({
        pricing_plan_schedule_infos: [],
        pending_review_pricing_plan_schedule_ids: [schedule],
      })
      const { data } = await succeed(rig.tenant, 'GET', `${REQUESTS}?source_id=${schedule}`)
      const [request] = data
      const waiting = { status: 'PENDING_REVIEW', reviewed_at: null, level: null }
      expect(data).toEqual([
        expect.objectContaining({
          object_type: 'APPROVAL_REQUEST',
          approval_policy_ids: [policyId],
          source_type: 'PRICING_PLAN_SCHEDULE',
          source_id: schedule,
          status: 'PENDING_REVIEW',
          approval_strategy: 'ANYONE_CAN_DECIDE',
          reviewed_at: null,
          reviewers: [
            { id: approver.id, ...waiting },
            { id: other.id, ...waiting },
          ],
        }),
      ])
      expect(request).not.toHaveProperty('facts')
      const at = '2026-03-11T10:00:00Z'
      expect(await decided(request, 'approve')).toMatchObject({
        status: 'APPROVED',
        reviewed_at: at,
        reviewers: [
          { id: approver.id, status: 'APPROVED', reviewed_at: at, level: null },
          { id: other.id, ...waiting },
        ],
      })
      expect(await rig.schedule(schedule)).toMatchObject({ status: 'ACTIVE', approval_status: 'APPROVED' })
      const after = await subscription(id)
      expect(after['pending_review_pricing_plan_schedule_ids']).toEqual([])
      expect(after['pricing_plan_schedule_infos']).toEqual([expect.objectContaining({ id: schedule })])
      await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
      await expectPayloads(rig.api, request.id, ['APPROVAL_REQUEST.CREATED', 'APPROVAL_REQUEST.UPDATED'])
      await expectPayloads(rig.api, schedule, ['PRICING_PLAN_SCHEDULE.UPDATED'])
    })
  })

  test('one that no rule is about becomes ACTIVE at once, and so does any without a policy', async () => {
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft(off('10'))
      expect((await rig.activate(schedule)).body).toMatchObject({ status: 'ACTIVE', approval_status: null })
    })
    const { schedule } = await rig.draft()
    expect((await rig.activate(schedule)).body).toMatchObject({ status: 'ACTIVE', approval_status: null })
  })

  test.each([
    ['decline', 'DECLINED'],
    ['cancel', 'CANCELLED'],
  ])('after %s it is a DRAFT that can be changed, and activated again by another request', async (verb, status) => {
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft()
      const request = await rig.submitted(schedule)
      expect((await decided(request, verb))['status']).toBe(status)
      expect(await rig.schedule(schedule)).toMatchObject({ status: 'DRAFT', approval_status: status })
      await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${schedule}`, off('15'))
      const again = await rig.submitted(schedule)
      expect(again['id']).not.toBe(request['id'])
      await decided(again, 'approve')
      expect(await rig.schedule(schedule)).toMatchObject({ status: 'ACTIVE', approval_status: 'APPROVED' })
    })
  })

  test('that was declined and is changed so that it needs none becomes ACTIVE, and shows no approval', async () => {
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft()
      await decided(await rig.submitted(schedule), 'decline')
      await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${schedule}`, off('5'))
      expect((await rig.activate(schedule)).body).toMatchObject({ status: 'ACTIVE', approval_status: null })
    })
  })

  test('is decided by those whom the policy named then, also when it is changed or retired meanwhile', async () => {
    const { schedule } = await rig.draft()
    const request = await rig.under([approver], async policyId => {
      const made = await rig.submitted(schedule)
      const approvers = {
        type: 'EVERYONE_HAS_TO_APPROVE',
        approval_groups: [{ approvers: [{ user: { id: other.id } }] }],
      }
      await succeed(rig.tenant, 'PATCH', `/v1/approval-policies/${policyId}`, { approvers })
      return made
    })
    const refused = await other.call('POST', `${REQUESTS}/${request['id']}/approve`)
    expect([refused.status, refused.body['code']]).toEqual([403, 'USER_NOT_ALLOWED'])
    expect((await decided(request, 'approve'))['approval_strategy']).toBe('ANYONE_CAN_DECIDE')
    expect((await rig.schedule(schedule))['status']).toBe('ACTIVE')
  })

  test('by a strategy of levels becomes ACTIVE with the approval of the last one', async () => {
    const level = (of: Approver, number: number) => ({ level: number, approvers: [{ user: { id: of.id } }] })
    const over = {
      approval_type: 'LEVEL',
      approvers: { type: 'ALL_LEVELS_MUST_APPROVE', approval_groups: [level(other, 2), level(approver, 1)] },
    }
    await rig.under(
      [approver],
      async () => {
        const { schedule } = await rig.draft()
        const request = await rig.submitted(schedule)
        const early = await other.call('POST', `${REQUESTS}/${request['id']}/approve`)
        expect([early.status, early.body['code']]).toEqual([400, 'INVALID_OPERATION'])
        expect((await decided(request, 'approve'))['status']).toBe('PENDING_REVIEW')
        expect((await rig.schedule(schedule))['status']).toBe('DRAFT')
        const twice = await approver.call('POST', `${REQUESTS}/${request['id']}/approve`)
        expect([twice.status, twice.body['code']]).toEqual([400, 'INVALID_OPERATION'])
        expect((await decided(request, 'approve', other))['status']).toBe('APPROVED')
        expect((await rig.schedule(schedule))['status']).toBe('ACTIVE')
      },
      over,
    )
  })
})

/** Pricings of one item of its own for a schedule, at this price. */
async function ownPricings(): Promise<(quantity: string) => object[]> {
  const item = await rig.tenant.seed.make(productItemResource)
  return quantity => [
    {
      name: 'Own',
      product_ids: [item['product_id']],
      items: [
        {
          product_item_ids: [item['id']],
          configs: [{ pricing_type: 'FLAT', bands: [{ amount: { quantity, currency: 'EUR' } }] }],
        },
      ],
    },
  ]
}

describe('what a schedule is judged by', () => {
  const amount = (quantity: string, currency = 'EUR') => ({ quantity, currency })
  test.each<[string, object, object]>([
    [
      'an amount off',
      { discount: { totals: [{ amount: amount('50') }] } },
      ruled({ type: 'DISCOUNT', comparator: 'GREATER_THAN', discount: { amount: amount('49') } }),
    ],
    [
      'a commitment that is missing',
      {},
      ruled({ type: 'COMMITMENT', comparator: 'LESS_THAN', commitment: { amount: amount('500') } }),
    ],
    [
      'another billing period than the default',
      { billing_period: { type: 'MONTH', value: 3 }, discount: null },
      ruled({ type: 'BILLING_PERIOD', billing_period: { is_custom: true } }),
    ],
    ['everything', { discount: null }, ruled({ type: 'ALWAYS_APPROVE' })],
    ['everything, by a policy without rules', { discount: null }, { rule_groups: [] }],
  ])('%s', async (_name, terms, rules) => {
    await rig.under(
      [approver],
      async () => {
        const { schedule } = await rig.draft(terms)
        await decided(await rig.submitted(schedule), 'approve')
      },
      rules,
    )
  })

  test('a commitment that is large enough needs none', async () => {
    const commitment = { totals: [{ amount: amount('500') }] }
    const rules = ruled({ type: 'COMMITMENT', comparator: 'LESS_THAN', commitment: { amount: amount('500') } })
    await rig.under(
      [approver],
      async () => {
        const { schedule } = await rig.draft({ commitment })
        expect((await rig.activate(schedule)).body['status']).toBe('ACTIVE')
      },
      rules,
    )
  })

  test('a coupon is a discount', async () => {
    const coupon = await succeed(rig.tenant, 'POST', '/v1/coupons', {
      reference: rig.tenant.seed.unique('half'),
      name: 'Half',
      status: 'ACTIVE',
      discount: { type: 'PERCENTAGE', percentage: '50' },
      duration: { type: 'FOREVER' },
    })
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft({ discount: null, coupon_ids: [coupon['id']] })
      await rig.submitted(schedule)
    })
  })

  test('prices of its own are an override, and stay as they were reviewed until it is declined', async () => {
    const pricings = await ownPricings()
    const prices = (quantity: string) => [{ pricings: pricings(quantity) }]
    await rig.under(
      [approver],
      async () => {
        const { schedule } = await rig.draft({ discount: null, pricing_categories: prices('2') })
        const request = await rig.submitted(schedule)
        const refused = await rig.tenant.call('PATCH', `${SCHEDULES}/${schedule}`, { pricing_categories: prices('1') })
        expect(refused.body['message']).toContain(request['id'])
        await decided(request, 'decline')
        await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${schedule}`, { pricing_categories: prices('1') })
        await decided(await rig.submitted(schedule), 'approve')
        const active = await rig.schedule(schedule)
        expect(active['status']).toBe('ACTIVE')
        expect(JSON.stringify(active['pricing_categories'])).toContain('"quantity":"1"')
      },
      ruled({ type: 'PRICING', pricing: { has_override: true } }),
    )
  })

  test('what its subscription says, and a custom field of its customer, whose value has to be known where it decides', async () => {
    const { id: fieldId } = await succeed(rig.tenant, 'POST', '/v1/custom-fields', {
      reference: rig.tenant.seed.unique('risk'),
      resource_type: 'CUSTOMER',
      type: 'STRING',
    })
    const rules = [
      { type: 'DUE_DATE', due_date: { is_custom: true } },
      { type: 'CUSTOM_FIELD', custom_field: { id: fieldId, value: 'high' } },
    ]
    await rig.under(
      [approver],
      async () => {
        const { subscription: id, schedule } = await rig.draft({ discount: null })
        // The due date decides: what is not known of the custom field does not matter.
        expect((await rig.activate(schedule)).body['status']).toBe('ACTIVE')
        const due = { due_date_configuration: { type: 'END_OF_THE_MONTH' } }
        const second = await rig.draft({ discount: null })
        await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${second.subscription}`, due)
        const unknown = await rig.activate(second.schedule)
        expect([unknown.status, unknown.body['code']]).toEqual([400, 'INVALID_OPERATION'])
        expect(unknown.body['message']).toContain(fieldId)
        expect((await rig.schedule(second.schedule))['approval_status']).toBeNull()
        const { customer_id } = await subscription(second.subscription)
        await succeed(rig.tenant, 'PATCH', `/v1/customers/${customer_id}`, {
          custom_fields: [{ id: fieldId, value: 'high' }],
        })
        await rig.submitted(second.schedule)
        expect((await subscription(id))['status']).toBe('DRAFT')
      },
      ruled(...rules),
    )
  })

  test('who bills it and how it is paid, as far as the platform says how that is done by default', async () => {
    const entity = await rig.tenant.seed.make(billingEntityResource)
    const custom = (type: string, part: string) => ruled({ type, [part]: { is_custom: true } })
    const drafts = await Promise.all([1, 2, 3, 4].map(() => rig.draft({ discount: null })))
    const [unknown, elsewhere, asUsual, paid] = drafts.map(({ schedule }) => schedule)
    const { subscription: id } = drafts[2] ?? { subscription: '' }
    await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { billing_entity_id: entity['id'] })
    const platform = `/v1/platforms/${rig.tenant.tenant.platformId}`
    await rig.under(
      [approver],
      async () => {
        expect((await rig.activate(unknown ?? '')).body['message']).toContain('no default billing entity')
        await succeed(rig.tenant, 'PATCH', platform, { default_billing_entity_id: entity['id'] })
        await rig.submitted(elsewhere ?? '')
        expect((await rig.activate(asUsual ?? '')).body['status']).toBe('ACTIVE')
        await succeed(rig.tenant, 'PATCH', platform, { default_billing_entity_id: null })
      },
      custom('BILLING_ENTITY', 'billing_entity'),
    )
    await rig.under(
      [approver],
      async () => {
        expect((await rig.activate(unknown ?? '')).body['status']).toBe('ACTIVE')
        const { billing_entity_id } = await subscription(drafts[3]?.subscription ?? '')
        const acceptor = await succeed(rig.tenant, 'POST', '/v1/payment-acceptors', {
          ...(await paymentAcceptorResource.fixture.create(rig.tenant.seed)),
          billing_entity_id,
        })
        await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${drafts[3]?.subscription}`, {
          payment_acceptor_ids: [acceptor['id']],
        })
        await rig.submitted(paid ?? '')
      },
      custom('PAYMENT_ACCEPTOR', 'payment_acceptor'),
    )
  })

  test('an amount in a currency without an exchange rate is refused with what to do, and judged once there is one', async () => {
    const rules = ruled({ type: 'DISCOUNT', comparator: 'GREATER_THAN', discount: { amount: amount('10', 'ISK') } })
    await rig.under(
      [approver],
      async () => {
        const { schedule } = await rig.draft({ discount: { totals: [{ amount: amount('1') }] } })
        const refused = await rig.activate(schedule)
        expect([refused.status, refused.body['code'], refused.body['resource_type']]).toEqual([
          400,
          'INVALID_OPERATION',
          'APPROVAL_POLICY',
        ])
        expect(refused.body['message']).toContain('There is no exchange rate from EUR to ISK')
        await succeed(rig.tenant, 'POST', '/v1/exchange-rates', {
          base_currency: 'EUR',
          currency: 'ISK',
          rate: '150',
          source: 'ECB',
          rate_timestamp: '2026-03-01T00:00:00Z',
        })
        await rig.submitted(schedule)
      },
      rules,
    )
  })

  test('what is made from a template is judged, and the template is not', async () => {
    await rig.under([approver], async () => {
      const { billing_entity_id, customer_id } = await subscription((await rig.draft()).subscription)
      const { id } = await succeed(rig.tenant, 'POST', SUBSCRIPTIONS, {
        billing_entity_id,
        billing_currency: 'EUR',
        type: 'TEMPLATE',
      })
      await makeSchedule(rig.tenant, id, '2026-03-20T00:00:00Z', { pricing_plan_version_id: rig.version, ...off('20') })
      await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
      const refused = await rig.tenant.call('POST', `${SUBSCRIPTIONS}/init`, {
        template_pricing_plan_subscription_id: id,
        customer_id,
        status: 'ACTIVE',
      })
      expect([refused.status, refused.body['code']]).toEqual([400, 'INVALID_OPERATION'])
      const made = await succeed(rig.tenant, 'POST', `${SUBSCRIPTIONS}/init`, {
        template_pricing_plan_subscription_id: id,
        customer_id,
      })
      await rig.submitted(made['pricing_plan_schedules'][0].id)
    })
  })

  test('of two groups of rules one is enough', async () => {
    const rule_groups = [{ rules: [{ type: 'DUE_DATE', due_date: { is_custom: true } }] }, LARGE_DISCOUNT]
    await rig.under([approver], async () => void (await rig.submitted((await rig.draft()).schedule)), { rule_groups })
  })
})

describe('what could not become ACTIVE', () => {
  test('is not submitted: nothing is reviewed in vain', async () => {
    const pricings = (await ownPricings())('2')
    const pricing_groups = [{ name: 'Level', selection_constraint: 'EXACTLY_ONE', pricings }]
    const { schedule } = await rig.draft({
      pricing_categories: [{ pricings: (await ownPricings())('1'), pricing_groups }],
    })
    const refused = await rig.activate(schedule)
    expect([refused.status, refused.body['code']]).toEqual([400, 'INVALID_FIELD'])
    await rig.under([approver], async () => {
      expect((await rig.activate(schedule)).body).toEqual(refused.body)
      expect((await rig.schedule(schedule))['approval_status']).toBeNull()
      expect((await succeed(rig.tenant, 'GET', `${REQUESTS}?source_id=${schedule}`))['data']).toEqual([])
    })
  })

  test('by the time of its approval leaves the request as it was, and the approval answers why', async () => {
    const version = await makeVersion(rig.tenant)
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft({ pricing_plan_version_id: version })
      const request = await rig.submitted(schedule)
      await succeed(rig.tenant, 'PATCH', `/v1/pricing-plan-versions/${version}`, { status: 'DEPRECATED' })
      const refused = await approver.call('POST', `${REQUESTS}/${request['id']}/approve`)
      expect([refused.status, refused.body['code']]).toEqual([400, 'INVALID_FIELD'])
      expect(refused.body['message']).toContain('DEPRECATED')
      expect(await succeed(rig.tenant, 'GET', `${REQUESTS}/${request['id']}`)).toEqual(request)
      expect((await rig.schedule(schedule))['approval_status']).toBe('PENDING_REVIEW')
      await succeed(rig.tenant, 'PATCH', `/v1/pricing-plan-versions/${version}`, { status: 'ACTIVE' })
      await decided(request, 'approve')
    })
  })
})

describe('the order of time', () => {
  test('a schedule after one that is pending review is not activated', async () => {
    await rig.under([approver], async () => {
      const { subscription: id, schedule } = await rig.draft({ end_at: APRIL })
      const next = await makeSchedule(rig.tenant, id, APRIL, { pricing_plan_version_id: rig.version })
      const request = await rig.submitted(schedule)
      const refused = await rig.activate(next)
      expect(refused.body).toMatchObject({ code: 'INVALID_OPERATION', resource_id: schedule })
      await decided(request, 'approve')
      expect((await rig.activate(next)).body['status']).toBe('ACTIVE')
    })
  })
})
