// What the tests of how subscriptions come to be share: a billing entity, customers, templates, and what schedules there are then.
import type { Answer, TestTenant } from '../../../testing/harness.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { makeSchedule, succeed } from './seed-subscription.ts'

export const PATH = '/v1/pricing-plan-subscriptions'

export type LifecycleRig = {
  readonly api: UserHarness
  readonly tenant: TestTenant
  customer(): Promise<string>
  /** What every subscription states. */
  base(): { readonly billing_entity_id: string; readonly billing_currency: string }
  post(path: string, body?: object): Promise<Answer>
  /** Start, end and status of the schedules, in order of time. */
  spans(id: string): Promise<unknown[][]>
  /** An ACTIVE template with two weeks on one version and then another one. */
  makeTemplate(more?: object): Promise<string>
}

export async function openLifecycleRig(): Promise<LifecycleRig> {
  const api = await startApiWithUsers()
  const tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  const entity: string = (await tenant.seed.make(billingEntityResource))['id']
  const base = () => ({ billing_entity_id: entity, billing_currency: 'EUR' })
  const schedulesOf = async (id: string): Promise<Row[]> =>
    (
      await succeed(
        tenant,
        'GET',
        `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}&order_by=start_at&order_direction=asc`,
      )
    )['data']
  return {
    api,
    tenant,
    customer: async () => (await tenant.seed.make(customerResource))['id'],
    base,
    post: (path, body = {}) => tenant.call('POST', `${PATH}${path}`, body),
    spans: async id => (await schedulesOf(id)).map(row => [row['start_at'], row['end_at'] ?? null, row['status']]),
    makeTemplate: async (more = {}) => {
      const { id } = await succeed(tenant, 'POST', PATH, { ...base(), type: 'TEMPLATE', name: 'Starter', ...more })
      const end_at = '2026-01-14T23:00:00Z'
      await makeSchedule(tenant, id, '2025-12-31T23:00:00Z', { end_at })
      await makeSchedule(tenant, id, end_at)
      await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
      return id
    },
  }
}
