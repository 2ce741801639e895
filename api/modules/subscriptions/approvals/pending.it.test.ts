// While a schedule is pending review nothing of it changes; a decision, taking it back and the end of its subscription exclude each other.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { REQUESTS } from '../../approvals/testing/policy-body.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import {
  APRIL,
  type ApprovalRig,
  type Approver,
  type Draft,
  off,
  openApprovalRig,
  SCHEDULES,
  SUBSCRIPTIONS,
} from '../testing/approval-rig.ts'
import { makeSchedule, succeed } from '../testing/seed-subscription.ts'

const MAY = '2026-05-01T00:00:00Z'

let rig: ApprovalRig
let approver: Approver
let other: Approver
beforeAll(async () => {
  rig = await openApprovalRig()
  approver = await rig.approver()
  other = await rig.approver()
})
afterAll(() => rig?.api.close())

const call = (method: string, url: string, body?: object): Promise<Answer> => rig.tenant.call(method, url, body)
const request = (id: unknown): Promise<Row> => succeed(rig.tenant, 'GET', `${REQUESTS}/${id}`)

describe('what is pending review', () => {
  type Pending = Draft & { readonly before: string; readonly id: string }
  /** A schedule in March that is ACTIVE, and one of April that is pending review. */
  async function pending(): Promise<Pending> {
    const { subscription, schedule: before } = await rig.draft({ ...off('5'), end_at: APRIL })
    await succeed(rig.tenant, 'POST', `${SCHEDULES}/${before}/activate`)
    const terms = { pricing_plan_version_id: rig.version, ...off('20') }
    const schedule = await makeSchedule(rig.tenant, subscription, APRIL, terms)
    return { subscription, schedule, before, id: (await rig.submitted(schedule))['id'] }
  }
  const following = { pricing_plan_version_id: '', start_at: MAY }

  test.each<[string, (of: Pending) => Promise<Answer>]>([
    ['its terms', ({ schedule }) => call('PATCH', `${SCHEDULES}/${schedule}`, off('90'))],
    ['its end', ({ schedule }) => call('PATCH', `${SCHEDULES}/${schedule}`, { end_at: MAY })],
    [
      'its start',
      ({ schedule }) => call('PATCH', `${SCHEDULES}/${schedule}?set_previous_end_at=true`, { start_at: MAY }),
    ],
    [
      'its start, by the schedule before it',
      ({ before }) => call('PATCH', `${SCHEDULES}/${before}?set_next_start_at=true`, { end_at: MAY }),
    ],
    [
      'its end, by one that follows it',
      ({ subscription }) =>
        call('POST', SCHEDULES, {
          ...following,
          pricing_plan_version_id: rig.version,
          pricing_plan_subscription_id: subscription,
        }),
    ],
    ['its end, by a copy', ({ schedule }) => call('POST', `${SCHEDULES}/${schedule}/copy`, { start_at: MAY })],
    [
      'its end, by a migration',
      ({ schedule }) =>
        call('POST', `${SCHEDULES}/${schedule}/migrate`, { start_at: MAY, pricing_plan_version_id: rig.version }),
    ],
    ['its existence', ({ schedule }) => call('DELETE', `${SCHEDULES}/${schedule}`)],
    ['its status', ({ schedule }) => call('POST', `${SCHEDULES}/${schedule}/activate`)],
    [
      'the status of all',
      ({ subscription }) => call('PATCH', `${SUBSCRIPTIONS}/${subscription}`, { status: 'ACTIVE' }),
    ],
    ['its subscription', ({ subscription }) => call('DELETE', `${SUBSCRIPTIONS}/${subscription}`)],
    [
      'how long its periods are',
      ({ subscription }) =>
        call('PATCH', `${SUBSCRIPTIONS}/${subscription}`, { billing_period: { type: 'MONTH', value: 3 } }),
    ],
    [
      'who bills it',
      async ({ subscription }) =>
        call('PATCH', `${SUBSCRIPTIONS}/${subscription}`, {
          billing_entity_id: (await rig.tenant.seed.make(billingEntityResource))['id'],
        }),
    ],
  ])('keeps %s, and the refusal names the request', async (_name, change) => {
    await rig.under([approver], async () => {
      const of = await pending()
      const stored = await rig.schedule(of.schedule)
      const { status, body } = await change(of)
      expect([400, 409]).toContain(status)
      expect(['INVALID_OPERATION', 'COULD_NOT_DELETE_RESOURCE']).toContain(body['code'])
      expect(body['message']).toContain(`POST ${REQUESTS}/${of.id}/cancel`)
      expect(await rig.schedule(of.schedule)).toEqual(stored)
      expect((await request(of.id))['status']).toBe('PENDING_REVIEW')
    })
  })

  test('lets what no reviewer sees change, such as the name of its subscription', async () => {
    await rig.under([approver], async () => {
      const of = await pending()
      await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${of.subscription}`, { name: 'Renamed' })
      await succeed(rig.tenant, 'PATCH', `${SCHEDULES}/${of.schedule}`, {})
      await approver.call('POST', `${REQUESTS}/${of.id}/approve`)
      expect((await rig.schedule(of.schedule))['status']).toBe('ACTIVE')
    })
  })

  test('is not approved when a custom field has changed what its reviewers saw', async () => {
    const { id: fieldId } = await succeed(rig.tenant, 'POST', '/v1/custom-fields', {
      reference: rig.tenant.seed.unique('segment'),
      resource_type: 'PRICING_PLAN_SUBSCRIPTION',
      type: 'STRING',
    })
    await rig.under([approver], async () => {
      const of = await pending()
      await succeed(rig.tenant, 'PATCH', `${SUBSCRIPTIONS}/${of.subscription}`, {
        custom_fields: [{ id: fieldId, value: 'public' }],
      })
      const refused = await approver.call('POST', `${REQUESTS}/${of.id}/approve`)
      expect([refused.status, refused.body['code']]).toEqual([400, 'INVALID_OPERATION'])
      expect(refused.body['message']).toContain('custom_fields')
      const still = await request(of.id)
      expect([still['status'], still['reviewers'][0].status]).toEqual(['PENDING_REVIEW', 'PENDING_REVIEW'])
      await succeed(rig.tenant, 'POST', `${REQUESTS}/${of.id}/cancel`)
      const again = await rig.submitted(of.schedule)
      expect((await approver.call('POST', `${REQUESTS}/${again['id']}/approve`)).status).toBe(200)
    })
  })
})

describe('at once', () => {
  const FINAL = { 200: 'won', 400: 'INVALID_OPERATION' }
  const outcomes = (answers: readonly Answer[]) =>
    answers.map(({ status, body }) => (status === 200 ? FINAL[200] : body['code'])).toSorted()

  test('of two decisions that each suffice, one counts', async () => {
    await rig.under([approver, other], async () => {
      for (const [first, second] of [
        ['approve', 'approve'],
        ['approve', 'decline'],
        ['decline', 'decline'],
      ] as const) {
        const { schedule } = await rig.draft()
        const { id } = await rig.submitted(schedule)
        const answers = await Promise.all([
          approver.call('POST', `${REQUESTS}/${id}/${first}`),
          other.call('POST', `${REQUESTS}/${id}/${second}`),
        ])
        expect(outcomes(answers)).toEqual(['INVALID_OPERATION', 'won'])
        const winner = answers.find(({ status }) => status === 200)?.body
        const row = await rig.schedule(schedule)
        expect([row['approval_status'], (await request(id))['status']]).toEqual([
          winner?.['status'],
          winner?.['status'],
        ])
        expect(row['status']).toBe(winner?.['status'] === 'APPROVED' ? 'ACTIVE' : 'DRAFT')
      }
    })
  })

  test('of two approvals of whom both are needed, both count', async () => {
    const over = {
      approvers: {
        type: 'EVERYONE_HAS_TO_APPROVE',
        approval_groups: [{ approvers: [{ user: { id: approver.id } }, { user: { id: other.id } }] }],
      },
    }
    await rig.under(
      [],
      async () => {
        const { schedule } = await rig.draft()
        const { id } = await rig.submitted(schedule)
        const answers = await Promise.all([approver, other].map(by => by.call('POST', `${REQUESTS}/${id}/approve`)))
        expect(answers.map(({ status }) => status)).toEqual([200, 200])
        expect(answers.map(({ body }) => body['status']).toSorted()).toEqual(['APPROVED', 'PENDING_REVIEW'])
        expect((await rig.schedule(schedule))['status']).toBe('ACTIVE')
      },
      over,
    )
  })

  test('of a decision and taking it back, one counts', async () => {
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft()
      const { id } = await rig.submitted(schedule)
      const answers = await Promise.all([
        approver.call('POST', `${REQUESTS}/${id}/approve`),
        rig.tenant.call('POST', `${REQUESTS}/${id}/cancel`),
      ])
      expect(outcomes(answers)).toEqual(['INVALID_OPERATION', 'won'])
      expect((await rig.schedule(schedule))['approval_status']).toBe((await request(id))['status'])
    })
  })

  test('of two activations, one submits, and the other learns of the request', async () => {
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft()
      const answers = await Promise.all([rig.activate(schedule), rig.activate(schedule)])
      expect(outcomes(answers)).toEqual(['INVALID_OPERATION', 'won'])
      const { data } = await succeed(rig.tenant, 'GET', `${REQUESTS}?source_id=${schedule}`)
      expect(data).toHaveLength(1)
    })
  })

  test('an approval and the end of the subscription: what comes second is refused, and nothing is half done', async () => {
    await rig.under([approver], async () => {
      const { subscription, schedule } = await rig.draft()
      const { id } = await rig.submitted(schedule)
      const [approval, archive] = await Promise.all([
        approver.call('POST', `${REQUESTS}/${id}/approve`),
        call('POST', `${SUBSCRIPTIONS}/${subscription}/archive`),
      ])
      expect(archive.status).toBe(200)
      const [row, made] = [await rig.schedule(schedule), await request(id)]
      if (approval.status === 200) expect([row['status'], made['status']]).toEqual(['ACTIVE', 'APPROVED'])
      else {
        expect(approval.body['code']).toBe('INVALID_OPERATION')
        expect([row['status'], made['status']]).toEqual(['DRAFT', 'PENDING_REVIEW'])
      }
    })
  })

  test('a subscription that has ended keeps its schedule from becoming ACTIVE; the request can be declined', async () => {
    await rig.under([approver], async () => {
      const { subscription, schedule } = await rig.draft()
      const { id } = await rig.submitted(schedule)
      await succeed(rig.tenant, 'POST', `${SUBSCRIPTIONS}/${subscription}/archive`)
      const refused = await approver.call('POST', `${REQUESTS}/${id}/approve`)
      expect([refused.status, refused.body['code'], refused.body['resource_id']]).toEqual([
        400,
        'INVALID_OPERATION',
        subscription,
      ])
      const still = await request(id)
      expect([still['status'], still['reviewers'][0].status]).toEqual(['PENDING_REVIEW', 'PENDING_REVIEW'])
      expect((await approver.call('POST', `${REQUESTS}/${id}/decline`)).status).toBe(200)
      expect((await rig.schedule(schedule))['approval_status']).toBe('DECLINED')
    })
  })
})
