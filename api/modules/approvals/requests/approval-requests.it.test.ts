// Who decides on approval requests, many at once, and finding them (contract: Approvals and quotes; semantics 7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, callerWith, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import {
  type ApprovalRig,
  type Approver,
  off,
  openApprovalRig,
  SCHEDULES,
} from '../../subscriptions/testing/approval-rig.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../../subscriptions/testing/seed-subscription.ts'
import { policyBody, REQUESTS, underPolicy } from '../testing/policy-body.ts'

let rig: ApprovalRig
let tenant: TestTenant
let approver: Approver
let other: Approver
beforeAll(async () => {
  rig = await openApprovalRig()
  tenant = rig.tenant
  approver = await rig.approver()
  other = await rig.approver()
})
afterAll(() => rig?.api.close())

/** The id of a request about a new schedule. */
const submitted = async (): Promise<{ readonly id: string; readonly schedule: string }> => {
  const { schedule } = await rig.draft()
  return { id: (await rig.submitted(schedule))['id'], schedule }
}
const refusalOf = ({ status, body }: Answer) => [status, body['code']]

describe('who decides', () => {
  test('an API key does not: it is no user', async () => {
    await rig.under([approver], async () => {
      const { id } = await submitted()
      for (const verb of ['approve', 'decline']) {
        const refused = await tenant.call('POST', `${REQUESTS}/${id}/${verb}`)
        expect(refusalOf(refused)).toEqual([403, 'USER_NOT_ALLOWED'])
        expect(refused.body['message']).toContain('an API key is none')
      }
    })
  })

  test('a PROXY key does for a reviewer', async () => {
    const key = await succeed(tenant, 'POST', '/v1/api-keys', {
      type: 'PROXY',
      role_type: 'ADMINISTRATOR',
      original_user_ids: [approver.id],
    })
    const call = callerWith(rig.api.app, { 'x-api-key': key['api_key'], 'x-original-user': approver.id })
    await rig.under([approver], async () => {
      const { id } = await submitted()
      const { body } = await call('POST', `${REQUESTS}/${id}/approve`)
      expect(body['reviewers']).toEqual([expect.objectContaining({ id: approver.id, status: 'APPROVED' })])
    })
  })

  test('a user who is no reviewer does not, whatever else they may', async () => {
    await rig.under([approver], async () => {
      const { id } = await submitted()
      expect(refusalOf(await other.call('POST', `${REQUESTS}/${id}/approve`))).toEqual([403, 'USER_NOT_ALLOWED'])
    })
  })

  test('a reviewer who may change no approval request does not', async () => {
    const viewer = await rig.approver()
    await rig.under([viewer], async () => {
      const { id } = await submitted()
      await rig.api.sql(`update user_memberships set role_ids = '{role_viewer}' where user_id = $1`, [viewer.id])
      expect((await viewer.call('GET', `${REQUESTS}/${id}`)).status).toBe(200)
      const refused = await viewer.call('POST', `${REQUESTS}/${id}/approve`)
      expect([...refusalOf(refused), refused.body['message']]).toEqual([
        403,
        'USER_NOT_ALLOWED',
        expect.stringContaining('APPROVAL_REQUEST.UPDATE'),
      ])
    })
  })

  test('what is decided stays so', async () => {
    await rig.under([approver, other], async () => {
      const { id } = await submitted()
      expect((await approver.call('POST', `${REQUESTS}/${id}/decline`)).body['status']).toBe('DECLINED')
      for (const verb of ['approve', 'decline', 'cancel'])
        expect(refusalOf(await other.call('POST', `${REQUESTS}/${id}/${verb}`))).toEqual([400, 'INVALID_OPERATION'])
    })
  })

  test('what is approved is not to be activated again', async () => {
    await rig.under([approver], async () => {
      const { id } = await submitted()
      await approver.call('POST', `${REQUESTS}/${id}/approve`)
      const { body } = await approver.call('POST', `${REQUESTS}/${id}/approve`)
      expect(body['message']).toBe('The request is APPROVED, which is final; what it was about is valid by now.')
    })
  })
})

describe('taking it back', () => {
  test('its owner does, who activated the schedule; another user does not', async () => {
    const [owner, stranger] = [await rig.approver(), await rig.approver()]
    const { id: role } = await succeed(tenant, 'POST', '/v1/roles', {
      name: rig.tenant.seed.unique('Sales'),
      permissions: ['*', '-APPROVAL_POLICY.*'],
    })
    await rig.api.sql('update user_memberships set role_ids = array[$1] where user_id = any ($2)', [
      role,
      [owner.id, stranger.id],
    ])
    await rig.under([approver], async () => {
      const { schedule } = await rig.draft()
      expect((await owner.call('POST', `${SCHEDULES}/${schedule}/activate`)).body['approval_status']).toBe(
        'PENDING_REVIEW',
      )
      const { data } = await succeed(tenant, 'GET', `${REQUESTS}?source_id=${schedule}`)
      const [{ id, owner_id }] = data
      expect(owner_id).toBe(owner.id)
      expect(refusalOf(await stranger.call('POST', `${REQUESTS}/${id}/cancel`))).toEqual([403, 'USER_NOT_ALLOWED'])
      const { body } = await owner.call('POST', `${REQUESTS}/${id}/cancel`)
      expect([body['status'], body['reviewed_at']]).toEqual(['CANCELLED', '2026-03-11T10:00:00Z'])
    })
  })

  test('who may change the policies does', async () => {
    await rig.under([approver], async () => {
      const { id, schedule } = await submitted()
      expect((await other.call('POST', `${REQUESTS}/${id}/cancel`)).body['status']).toBe('CANCELLED')
      expect((await rig.schedule(schedule))['approval_status']).toBe('CANCELLED')
    })
  })
})

describe('many at once', () => {
  const bulk = (verb: string, resource_ids: readonly string[], by = approver): Promise<Answer> =>
    by.call('POST', `${REQUESTS}/${verb}`, { resource_ids })

  test.each([
    ['approve', 'APPROVED'],
    ['decline', 'DECLINED'],
    ['cancel', 'CANCELLED'],
  ])('%s: each on its own, with its error where it fails', async (verb, approval_status) => {
    await rig.under([approver], async () => {
      const [first, done, last] = [await submitted(), await submitted(), await submitted()]
      await approver.call('POST', `${REQUESTS}/${done.id}/decline`)
      const foreign = 'appr_0w4mZQ1SgqhV5Yd0CFFkZ2'
      const { status, body } = await bulk(verb, [first.id, foreign, done.id, last.id])
      expect(status).toBe(200)
      const failed = (resource_id: string, code: string) => ({
        resource_id,
        status: 'FAILED',
        error: expect.objectContaining({ type: 'INVALID_REQUEST', code, message: expect.any(String) }),
      })
      expect(body['data']).toEqual([
        { resource_id: first.id, status: 'SUCCEEDED', error: null },
        failed(foreign, 'RESOURCE_NOT_FOUND'),
        failed(done.id, 'INVALID_OPERATION'),
        { resource_id: last.id, status: 'SUCCEEDED', error: null },
      ])
      for (const { schedule } of [first, last])
        expect((await rig.schedule(schedule))['approval_status']).toBe(approval_status)
    })
  })

  test('of another platform none is reached', async () => {
    await rig.under([approver], async () => {
      const { id, schedule } = await submitted()
      const elsewhere = rig.api.tenants.bLive
      for (const verb of ['approve', 'decline', 'cancel']) {
        const { body } = await elsewhere.call('POST', `${REQUESTS}/${verb}`, { resource_ids: [id] })
        expect(body['data'][0].error.code).toMatch(/RESOURCE_NOT_FOUND|USER_NOT_ALLOWED/)
        expect((await elsewhere.call('POST', `${REQUESTS}/${id}/cancel`)).status).toBe(404)
      }
      expect((await rig.schedule(schedule))['approval_status']).toBe('PENDING_REVIEW')
    })
  })

  test.each([[[]], [['a', 'a']]])('%j is refused', async ids => {
    const { status, body } = await bulk('approve', ids)
    expect([status, body['code']]).toEqual([400, 'INVALID_FIELD'])
    expect(body['field']).toMatch(/^resource_ids/)
  })
})

describe('finding them', () => {
  test('by source, by user and by status; source_id and source_ids[] together are rejected', async () => {
    const reviewer = await rig.approver()
    await rig.under([reviewer, approver], async policyId => {
      const [one, two] = [await submitted(), await submitted()]
      await reviewer.call('POST', `${REQUESTS}/${two.id}/approve`)
      const found = async (query: string): Promise<string[]> => {
        const { data } = await succeed(tenant, 'GET', `${REQUESTS}?${query}`)
        return data.map((row: Row) => row['id']).toSorted()
      }
      const both = [one.id, two.id].toSorted()
      expect(await found(`source_id=${one.schedule}`)).toEqual([one.id])
      expect(await found(`source_ids[]=${one.schedule}&source_ids[]=${two.schedule}`)).toEqual(both)
      expect(await found(`user_id=${reviewer.id}`)).toEqual(both)
      expect(await found(`user_id=${reviewer.id}&statuses[]=APPROVED&statuses[]=DECLINED`)).toEqual([two.id])
      expect(await found(`user_id=${reviewer.id}&source_type=INVOICE`)).toEqual([])
      expect(await found(`user_id=${other.id}&source_id=${one.schedule}`)).toEqual([])
      for (const query of ['source_id=a&source_ids[]=b', 'source_ids[]=b&source_id=a']) {
        const refused = await tenant.call('GET', `${REQUESTS}?${query}`)
        expect([...refusalOf(refused), refused.body['field']]).toEqual([400, 'INVALID_FIELD', 'source_ids[]'])
      }
      const shown = await succeed(tenant, 'GET', `${REQUESTS}/${one.id}?expand[]=approval_policies`)
      expect(shown['approval_policies']).toEqual([expect.objectContaining({ id: policyId })])
    })
  })
})

test('in the time of the customer: by a test clock a schedule becomes ACTIVE at the time of that', async () => {
  const testing = rig.api.tenants.aTest
  const call = rig.api.as(approver.id, testing.tenant)
  const frozen_time = '2031-05-05T00:00:00Z'
  await underPolicy(testing, policyBody(testing, [approver.id]), async () => {
    for (const verb of ['one', 'many']) {
      const subscription = await makeSubscription(testing)
      const { customer_id } = await succeed(testing, 'GET', `/v1/pricing-plan-subscriptions/${subscription}`)
      await succeed(testing, 'POST', '/v1/test-clocks', { frozen_time, customer_ids: [customer_id] })
      const terms = { pricing_plan_version_id: await makeVersion(testing), ...off('20') }
      const schedule = await makeSchedule(testing, subscription, frozen_time, terms)
      await succeed(testing, 'POST', `${SCHEDULES}/${schedule}/activate`)
      const { data } = await succeed(testing, 'GET', `${REQUESTS}?source_id=${schedule}`)
      const { id, created_at } = data[0]
      expect(created_at).toBe(frozen_time)
      const { status } =
        verb === 'one'
          ? await call('POST', `${REQUESTS}/${id}/approve`)
          : await call('POST', `${REQUESTS}/approve`, { resource_ids: [id] })
      expect(status).toBe(200)
      expect((await succeed(testing, 'GET', `${REQUESTS}/${id}`))['reviewed_at']).toBe(frozen_time)
      const active = await succeed(testing, 'GET', `${SCHEDULES}/${schedule}`)
      expect([active['status'], active['updated_at']]).toEqual(['ACTIVE', frozen_time])
    }
  })
})
