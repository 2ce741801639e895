// No way past the policy: only POST activate submits, and every other call that would make a schedule ACTIVE, or give an ACTIVE one other
// terms, is refused as a whole (semantics 7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { withRules } from '../../../resource/rules.ts'
import type { Answer } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { REQUESTS } from '../../approvals/testing/policy-body.ts'
import { RULES } from '../../modules.ts'
import { moveToVersion } from '../succession/move-to-version.ts'
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
beforeAll(async () => {
  rig = await openApprovalRig()
  approver = await rig.approver()
})
afterAll(() => rig?.api.close())

const call = (method: string, url: string, body?: object): Promise<Answer> => rig.tenant.call(method, url, body)
const MAY = '2026-05-01T00:00:00Z'
const everything = { rule_groups: [] }
const expectRefused = ({ status, body }: Answer): void => {
  expect([status, body['code'], body['resource_type']], JSON.stringify(body)).toEqual([
    400,
    'INVALID_OPERATION',
    'APPROVAL_POLICY',
  ])
}
const planOf = async (version: string): Promise<string> =>
  (await succeed(rig.tenant, 'GET', `/v1/pricing-plan-versions/${version}`))['pricing_plan_id']
/** An ACTIVE subscription since 1 March. */
async function running(over: object = {}): Promise<{ subscription: string; schedule: string }> {
  const { subscription, schedule } = await rig.draft({ start_at: '2026-03-01T00:00:00Z', ...off('5'), ...over })
  await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${subscription}`, { status: 'ACTIVE' })
  return { subscription, schedule }
}
const all = async (subscription: string) =>
  (await succeed(rig.tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscription}`))['data']
const requestsOf = async (schedule: string) =>
  (await succeed(rig.tenant, 'GET', `${REQUESTS}?source_id=${schedule}`))['data']

describe('a call that would make a schedule ACTIVE', () => {
  test('PATCH of a subscription: it stays DRAFT until each schedule that needs it is approved', async () => {
    await rig.under([approver], async () => {
      const { subscription, schedule } = await rig.draft()
      const refused = await call('PATCH', `${SUBSCRIPTIONS}/${subscription}`, { status: 'ACTIVE', name: 'Not saved' })
      expectRefused(refused)
      expect([refused.body['field'], refused.body['message']]).toEqual(['status', expect.stringContaining(schedule)])
      const stored = await succeed(rig.tenant, 'GET', `${SUBSCRIPTIONS}/${subscription}`)
      expect([stored['status'], stored['name']]).not.toEqual(['ACTIVE', 'Not saved'])
      expect(await requestsOf(schedule)).toEqual([])
      const { id } = await rig.submitted(schedule)
      await approver.call('POST', `${REQUESTS}/${id}/approve`)
      await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${subscription}`, { status: 'ACTIVE' })
    })
  })

  test('init with status ACTIVE names the schedule, and makes nothing', async () => {
    await rig.under([approver], async () => {
      const { subscription } = await rig.draft()
      const { customer_id, billing_entity_id } = await succeed(rig.tenant, 'GET', `${SUBSCRIPTIONS}/${subscription}`)
      const reference = rig.tenant.seed.unique('init')
      const body = (status: string) => ({
        pricing_plan_subscription: { reference, customer_id, billing_entity_id, billing_currency: 'EUR', status },
        pricing_plan_schedules: [{ pricing_plan_version_id: rig.version, ...off('20') }],
      })
      const refused = await call('POST', `${SUBSCRIPTIONS}/init`, body('ACTIVE'))
      expectRefused(refused)
      expect(refused.body['field']).toBe('pricing_plan_schedules.0')
      expect((await call('GET', `${SUBSCRIPTIONS}/${reference}`)).status).toBe(404)
      const made = await succeed(rig.tenant, 'POST', `${SUBSCRIPTIONS}/init`, body('DRAFT'))
      await rig.submitted(made['pricing_plan_schedules'][0].id)
    })
  })

  test('change-plan leaves the plan as it is', async () => {
    const next = await makeVersion(rig.tenant)
    await succeed(rig.tenant, 'POST', '/v1/pricing-plan-groups', {
      reference: rig.tenant.seed.unique('tiers'),
      status: 'ACTIVE',
      pricing_plan_ids: [await planOf(rig.version), await planOf(next)],
      upgrade_type: 'IMMEDIATE',
      downgrade_type: 'IMMEDIATE',
    })
    const { subscription } = await running()
    const before = await all(subscription)
    const body = { pricing_plan_id: await planOf(next) }
    await rig.under(
      [approver],
      async () => {
        const refused = await call('POST', `${SUBSCRIPTIONS}/${subscription}/change-plan`, body)
        expectRefused(refused)
        expect(refused.body['field']).toBe('pricing_plan_id')
        expect(refused.body['message']).toContain('/migrate')
      },
      everything,
    )
    expect(await all(subscription)).toEqual(before)
    await rig.under([approver], async () => {
      // What no rule is about changes as ever.
      await succeed(rig.tenant, 'POST', `${SUBSCRIPTIONS}/${subscription}/change-plan`, body)
    })
  })

  test.each<[string, () => Promise<string>]>([
    ['that runs on it', async () => (await running({ ...off('20') })).subscription],
    [
      'that waits for it',
      async () => {
        const other = { pricing_plan_version_id: await makeVersion(rig.tenant), end_at: MAY }
        const { subscription } = await running(other)
        const terms = { pricing_plan_version_id: rig.version, ...off('20') }
        const waiting = await makeSchedule(rig.tenant, subscription, MAY, terms)
        await succeed(rig.tenant, 'POST', `${SCHEDULES}/${waiting}/activate`)
        return subscription
      },
    ],
  ])('moving all subscriptions of a version leaves one %s where it is', async (_which, made) => {
    const next = await makeVersion(rig.tenant)
    const subscription = await made()
    const before = await all(subscription)
    const database = withRules(rig.api.database, RULES, { permissions: new Set() })
    const move = {
      from_pricing_plan_version_id: rig.version,
      pricing_plan_version_id: next,
      type: 'IMMEDIATE' as const,
      start_at: APRIL,
      coupon_discount_behaviour: 'NONE' as const,
    }
    const moving = () =>
      inTenant(database, rig.tenant.tenant, SERVICE, uow =>
        moveToVersion(uow, subscription, move, async () => new Set()),
      )
    await rig.under([approver], async () => {
      await expect(moving()).rejects.toMatchObject({
        code: 'INVALID_OPERATION',
        details: { resourceType: 'APPROVAL_POLICY' },
      })
    })
    expect(await all(subscription)).toEqual(before)
    await moving()
    expect((await all(subscription)).map((row: Row) => row['pricing_plan_version_id'])).toContain(next)
  })

  test('a copy and a migration are drafts, which are submitted like any other', async () => {
    const { schedule } = await running({ ...off('20') })
    await rig.under([approver], async () => {
      for (const [verb, more] of [
        ['copy', {}],
        ['migrate', { pricing_plan_version_id: rig.version }],
      ] as const) {
        const made = await succeed(rig.tenant, 'POST', `${SCHEDULES}/${schedule}/${verb}`, { start_at: APRIL, ...more })
        expect([made['status'], made['approval_status']]).toEqual(['DRAFT', null])
        const { id } = await rig.submitted(made['id'])
        await approver.call('POST', `${REQUESTS}/${id}/decline`)
        await succeed(rig.tenant, 'DELETE', `${SCHEDULES}/${made['id']}`)
      }
    })
  })

  test('a copy of a subscription is reviewed for itself', async () => {
    await rig.under([approver], async () => {
      const { subscription, schedule } = await rig.draft()
      const { id } = await rig.submitted(schedule)
      await approver.call('POST', `${REQUESTS}/${id}/approve`)
      const copy = await succeed(rig.tenant, 'POST', `${SUBSCRIPTIONS}/${subscription}/copy`, {})
      const [made] = await all(copy['id'])
      expect([made.status, made.approval_status]).toEqual(['DRAFT', null])
      expectRefused(await call('PATCH', `${SUBSCRIPTIONS}/${copy['id']}`, { status: 'ACTIVE' }))
    })
  })
})

describe('an ACTIVE schedule', () => {
  /** A coupon that takes this percentage off, for ever. */
  const couponOf = async (percentage: string): Promise<string> => {
    const body = {
      reference: rig.tenant.seed.unique('coupon'),
      name: 'Coupon',
      status: 'ACTIVE',
      discount: { type: 'PERCENTAGE', percentage },
      duration: { type: 'FOREVER' },
    }
    return (await succeed(rig.tenant, 'POST', '/v1/coupons', body))['id']
  }

  test('gets no discount that needs an approval, and any other', async () => {
    const { schedule } = await running()
    const coupon = await couponOf('50')
    await rig.under([approver], async () => {
      expectRefused(await call('PATCH', `${SCHEDULES}/${schedule}`, off('20')))
      expectRefused(await call('PATCH', `${SCHEDULES}/${schedule}`, { coupon_ids: [coupon] }))
      await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${schedule}`, off('10'))
    })
    await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${schedule}`, off('20'))
    await rig.under([approver], async () => {
      // What it has is not reviewed again where something else changes.
      const commitment = { totals: [{ amount: { quantity: '100', currency: 'EUR' } }] }
      await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${schedule}`, { commitment })
      expectRefused(await call('PATCH', `${SCHEDULES}/${schedule}`, off('30')))
      await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${schedule}`, { end_at: '2027-01-01T00:00:00Z' })
    })
  })

  test('gets no further discount of the same size, and not the same one for longer; less is always possible', async () => {
    const large = { percentage: '20', end_at: '2026-05-01T00:00:00Z' }
    const small = { percentage: '9' }
    const { schedule } = await running({ discount: { totals: [large, small] } })
    const coupon = await couponOf('20')
    const patch = (...totals: object[]) => call('PATCH', `${SCHEDULES}/${schedule}`, { discount: { totals } })
    await rig.under([approver], async () => {
      expectRefused(await patch(large, large, small))
      expectRefused(await patch({ percentage: '20' }, small))
      expectRefused(await call('PATCH', `${SCHEDULES}/${schedule}`, { coupon_ids: [coupon] }))
      for (const totals of [[large, { percentage: '5' }], [large], [{ ...large, end_at: APRIL }], []])
        expect((await patch(...totals)).status).toBe(200)
    })
  })

  const due = { due_date_configuration: { type: 'END_OF_THE_MONTH' } }
  const customDue = { rule_groups: [{ rules: [{ type: 'DUE_DATE', due_date: { is_custom: true } }] }] }

  test('is not given another due date by its subscription, where that needs an approval', async () => {
    const { subscription } = await running()
    const patch = () => call('PATCH', `${SUBSCRIPTIONS}/${subscription}`, due)
    await rig.under([approver], async () => expectRefused(await patch()), customDue)
    expect((await patch()).status).toBe(200)
  })

  test('of a DRAFT subscription that has changed since is judged again when that becomes ACTIVE', async () => {
    const { subscription, schedule } = await rig.draft()
    await rig.under(
      [approver],
      async () => {
        await succeed(rig.tenant, 'POST', `${SCHEDULES}/${schedule}/activate`)
        await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${subscription}`, due)
        expectRefused(await call('PATCH', `${SUBSCRIPTIONS}/${subscription}`, { status: 'ACTIVE' }))
        const copy = await succeed(rig.tenant, 'POST', `${SUBSCRIPTIONS}/${subscription}/copy`, {})
        const [made] = await all(copy['id'])
        const { id } = await rig.submitted(made.id)
        await approver.call('POST', `${REQUESTS}/${id}/approve`)
        await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${copy['id']}`, { status: 'ACTIVE' })
      },
      customDue,
    )
  })
})
