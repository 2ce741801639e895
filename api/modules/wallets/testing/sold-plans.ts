// A plan version with an item for each price that a test sells, and subscriptions to it.
import type { Answer, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'

/** An item of this model, and its price. */
export type Selling = { readonly model: string; readonly config: object }

type SoldVersion = {
  readonly version: Row
  readonly items: readonly Row[]
  /** Prices the items `[from, to)`, all unless given. */
  pricing(from?: number, to?: number): Promise<Answer>
}

/** A DRAFT version without prices yet; `more` is what items of a model have besides. */
export async function soldVersion(
  tenant: TestTenant,
  all: readonly Selling[],
  more: (model: string) => object = () => ({}),
): Promise<SoldVersion> {
  const { unique } = tenant.seed
  const post = (url: string, body: object): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)
  const product = await post('products', { reference: unique('product'), name: 'Editor', status: 'ACTIVE' })
  const items: Row[] = []
  for (const { model } of all)
    items.push(
      await post('product-items', {
        reference: unique('item'),
        product_id: product['id'],
        name: model,
        status: 'ACTIVE',
        model_type: model,
        ...more(model),
      }),
    )
  const plan = await post('pricing-plans', { reference: unique('plan'), name: 'Team' })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  return {
    version,
    items,
    pricing: (from = 0, to = all.length) =>
      tenant.call('POST', '/v1/pricings', {
        pricing_plan_version_id: version['id'],
        name: 'Team',
        product_ids: [product['id']],
        items: all
          .slice(from, to)
          .map(({ config }, index) => ({ product_item_ids: [items[from + index]?.['id']], configs: [config] })),
      }),
  }
}

/** An ACTIVE subscription in euros with one schedule from `start`. */
export async function subscribedTo(
  tenant: TestTenant,
  of: {
    readonly customerId: string
    readonly billingEntityId: string
    readonly versionId: string
    readonly start: string
  },
): Promise<{ readonly id: string; readonly scheduleId: string }> {
  const { id } = await succeed(tenant, 'POST', '/v1/pricing-plan-subscriptions', {
    customer_id: of.customerId,
    billing_entity_id: of.billingEntityId,
    billing_currency: 'EUR',
  })
  const schedule = await succeed(tenant, 'POST', '/v1/pricing-plan-schedules', {
    pricing_plan_subscription_id: id,
    pricing_plan_version_id: of.versionId,
    start_at: of.start,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  return { id, scheduleId: schedule['id'] }
}
