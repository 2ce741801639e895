// What the tests of approvals of schedules share: approvers, a plan, and drafts of it.
import type { Answer, TestTenant } from '../../../testing/harness.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { policyBody, REQUESTS, underPolicy } from '../../approvals/testing/policy-body.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from './seed-subscription.ts'

export const SCHEDULES = '/v1/pricing-plan-schedules'
export const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'

/** A user who decides, and calls as that user. */
export type Approver = { readonly id: string; readonly call: TestTenant['call'] }
export type Draft = { readonly subscription: string; readonly schedule: string }

export const off = (percentage: string) => ({ discount: { totals: [{ percentage }] } })
export const APRIL = '2026-04-01T00:00:00Z'

export type ApprovalRig = {
  readonly api: UserHarness
  readonly tenant: TestTenant
  readonly version: string
  approver(): Promise<Approver>
  /** Does `work` while these users approve large discounts, by a policy with these terms. */
  under<T>(approvers: readonly Approver[], work: (policyId: string) => Promise<T>, over?: object): Promise<T>
  /** A DRAFT subscription with a DRAFT schedule from 20 March on, with 20 % off unless it says otherwise. */
  draft(over?: object): Promise<Draft>
  activate(id: string): Promise<Answer>
  /** Activates the schedule, which is submitted; gives the request. */
  submitted(id: string): Promise<Row>
  schedule(id: string): Promise<Row>
  subscription(id: string): Promise<Row>
  /** The request after a user decided it: `verb` is `approve` or `decline`. Throws when it is refused. */
  decided(by: Approver, request: Row, verb: string): Promise<Row>
  /** Pricings of one item of its own for a schedule, by their price. */
  ownPricings(): Promise<(quantity: string) => object[]>
}

export async function openApprovalRig(): Promise<ApprovalRig> {
  const api = await startApiWithUsers()
  const tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  const version = await makeVersion(tenant)
  const activate = (id: string): Promise<Answer> => tenant.call('POST', `${SCHEDULES}/${id}/activate`)
  return {
    api,
    tenant,
    version,
    approver: async () => {
      const id = await api.administrator(tenant.tenant)
      return { id, call: api.as(id, tenant.tenant) }
    },
    under: async (approvers, work, over = {}) => {
      const ids = approvers.map(({ id }) => id)
      return await underPolicy(tenant, policyBody(tenant, ids, over), work)
    },
    draft: async (over = {}) => {
      const subscription = await makeSubscription(tenant)
      const terms = { pricing_plan_version_id: version, ...off('20'), ...over }
      return { subscription, schedule: await makeSchedule(tenant, subscription, '2026-03-20T00:00:00Z', terms) }
    },
    activate,
    submitted: async id => {
      const { status, body } = await activate(id)
      if (status !== 200 || body['approval_status'] !== 'PENDING_REVIEW')
        throw new Error(`not submitted: ${status} ${JSON.stringify(body)}`)
      const { data } = await succeed(tenant, 'GET', `${REQUESTS}?source_id=${id}&statuses[]=PENDING_REVIEW`)
      return data[0]
    },
    schedule: async id => await succeed(tenant, 'GET', `${SCHEDULES}/${id}`),
    subscription: async id => await succeed(tenant, 'GET', `${SUBSCRIPTIONS}/${id}`),
    decided: async (by, request, verb) => {
      const { status, body } = await by.call('POST', `${REQUESTS}/${request['id']}/${verb}`)
      if (status !== 200) throw new Error(`not decided: ${status} ${JSON.stringify(body)}`)
      return body
    },
    ownPricings: async () => {
      const item = await tenant.seed.make(productItemResource)
      const configs = (quantity: string) => [
        { pricing_type: 'FLAT', bands: [{ amount: { quantity, currency: 'EUR' } }] },
      ]
      return quantity => [
        {
          name: 'Own',
          product_ids: [item['product_id']],
          items: [{ product_item_ids: [item['id']], configs: configs(quantity) }],
        },
      ]
    },
  }
}
