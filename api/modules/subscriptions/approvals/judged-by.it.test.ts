// What of a schedule and its subscription decides whether a policy's rules require an approval (contract: States; semantics 7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Row } from '../../../testing/wire.ts'
import { LARGE_DISCOUNT } from '../../approvals/testing/policy-body.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { paymentAcceptorResource } from '../../parties/payment-acceptors/payment-acceptor.ts'
import {
  type ApprovalRig,
  type Approver,
  off,
  openApprovalRig,
  SCHEDULES,
  SUBSCRIPTIONS,
} from '../testing/approval-rig.ts'
import { makeSchedule, succeed } from '../testing/seed-subscription.ts'

let rig: ApprovalRig
let approver: Approver
beforeAll(async () => {
  rig = await openApprovalRig()
  approver = await rig.approver()
})
afterAll(() => rig?.api.close())

const decided = (request: Row, verb: string): Promise<Row> => rig.decided(approver, request, verb)
const ruled = (...rules: object[]) => ({ rule_groups: [{ rules }] })

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
    const pricings = await rig.ownPricings()
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
        const { customer_id } = await rig.subscription(second.subscription)
        await succeed(rig.tenant, 'PATCH', `/v1/customers/${customer_id}`, {
          custom_fields: [{ id: fieldId, value: 'high' }],
        })
        await rig.submitted(second.schedule)
        expect((await rig.subscription(id))['status']).toBe('DRAFT')
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
        const { billing_entity_id } = await rig.subscription(drafts[3]?.subscription ?? '')
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
      const { billing_entity_id, customer_id } = await rig.subscription((await rig.draft()).subscription)
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
