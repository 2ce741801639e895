// Schedules that need an approval: submitted in place of their activation, and what follows the decision (contract: States; semantics 7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import type { Row } from '../../../testing/wire.ts'
import { REQUESTS } from '../../approvals/testing/policy-body.ts'
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

const decided = (request: Row, verb: string, by = approver): Promise<Row> => rig.decided(by, request, verb)

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
      expect(await rig.subscription(id)).toMatchObject({
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
      const after = await rig.subscription(id)
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

describe('what could not become ACTIVE', () => {
  test('is not submitted: nothing is reviewed in vain', async () => {
    const pricings = (await rig.ownPricings())('2')
    const pricing_groups = [{ name: 'Level', selection_constraint: 'EXACTLY_ONE', pricings }]
    const { schedule } = await rig.draft({
      pricing_categories: [{ pricings: (await rig.ownPricings())('1'), pricing_groups }],
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
