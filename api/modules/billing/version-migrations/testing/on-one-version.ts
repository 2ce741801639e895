// Subscriptions to one version of a plan, and a next version that they can be moved to.
import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { billedSubscription, succeed } from '../../testing/billed-subscription.ts'

/** Subscriptions to a plan with a fee of 10.00 in advance, the first also with a fee of 8.00 agreed, and a version at 20.00. */
export async function onOneVersion(tenant: TestTenant, count: number) {
  const get = (url: string) => succeed(tenant, 'GET', `/v1/${url}`)
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const first = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '10' })
  const [schedule] = (await get(`pricing-plan-schedules?pricing_plan_subscription_id=${first.subscriptionId}`))['data']
  const { pricing_plan_version_id: version, pricing_plan_id: plan } = schedule
  const { billing_entity_id } = await get(`pricing-plan-subscriptions/${first.subscriptionId}`)
  const subscriptions = [first.subscriptionId]
  while (subscriptions.length < count) {
    const made = await post('pricing-plan-subscriptions', {
      customer_id: first.customerId,
      billing_entity_id,
      billing_currency: 'EUR',
    })
    await post('pricing-plan-schedules', {
      pricing_plan_subscription_id: made['id'],
      pricing_plan_version_id: version,
      start_at: '2026-03-01T00:00:00Z',
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${made['id']}`, { status: 'ACTIVE' })
    subscriptions.push(made['id'])
  }
  const next = await post('pricing-plan-versions', {
    pricing_plan_id: plan,
    copied_from_pricing_plan_version_id: version,
  })
  const [category] = (await get(`pricing-plan-versions/${next['id']}`))['pricing_categories']
  const [pricing] = category.pricings
  const items = pricing.items.map((item: Row, index: number) => ({
    product_item_ids: item['product_item_ids'],
    configs:
      index === 0
        ? item['configs'].map(({ id: _id, ...config }: Row) => config)
        : [
            {
              pricing_type: 'FIXED',
              billing_in_advance: true,
              bands: [{ fixed_amount: { quantity: '20', currency: 'EUR' } }],
            },
          ],
  }))
  await succeed(tenant, 'PATCH', `/v1/pricings/${pricing.id}`, { items })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${next['id']}`, { status: 'ACTIVE' })
  return { version: version as string, next: next['id'] as string, subscriptions }
}
