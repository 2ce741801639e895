// What the tests of prices that a schedule has of its own start from: prices as bodies give them, and drafts with them.
import type { Row } from '../../../testing/wire.ts'
import type { salesRig } from '../../billing/testing/sales-rig.ts'

export const MARCH = '2026-03-01T00:00:00Z'
export const MAY = '2026-05-01T00:00:00Z'
export const SCHEDULES = 'pricing-plan-schedules'
export const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

/** The pricings that a schedule or a version shows. */
export const pricingsOf = ({ pricing_categories }: Row): Row[] =>
  (pricing_categories ?? []).flatMap(({ pricings, pricing_groups }: Row) => [
    ...pricings,
    ...pricing_groups.flatMap((group: Row) => group['pricings']),
  ])
/** `Extra 31`, each pricing. */
export const pricesOf = (schedule: Row): string[] =>
  pricingsOf(schedule).map(({ name, items }) => `${name} ${items[0].configs[0].bands[0].fixed_amount.quantity}`)

export function ownPricesOf({ patch, post, sales, setTime, tenant, unique }: ReturnType<typeof salesRig>) {
  return {
    /** A product with a recurring item, and a pricing of it as bodies give it; `config`: other members of its price. */
    feeOf: async (price: string, { config = {}, name = 'Extra', ...more }: Row = {}) => {
      const product = await post('products', { reference: unique('extra'), name, status: 'ACTIVE' })
      const item = await sales.item(product, 'RECURRING')
      const configs = [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur(price) }], ...config }]
      const pricing: Row = {
        product_ids: [product['id']],
        items: [{ product_item_ids: [item['id']], configs }],
        ...more,
      }
      return { product, item, pricing }
    },
    /** The id of an ACTIVE version of a new plan with a fee of ten euros. */
    planVersion: async (): Promise<string> => {
      const plan = await post('pricing-plans', { reference: unique('plan') })
      const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
      const product = await post('products', { reference: unique('base'), name: 'Base', status: 'ACTIVE' })
      await sales.feePricing(version['id'], product, '10')
      await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
      return version['id']
    },
    /** A DRAFT schedule from March on with these categories, of a new subscription unless it says otherwise. */
    drafted: async (pricing_categories: readonly Row[], more: Row = {}): Promise<Row> => {
      setTime('2026-03-01T01:00:00Z')
      const subscription = more['pricing_plan_subscription_id'] ?? (await sales.subscription())['id']
      return await post(SCHEDULES, {
        pricing_plan_subscription_id: subscription,
        start_at: MARCH,
        pricing_categories,
        ...more,
      })
    },
    change: (id: unknown, body: object) => tenant.call('PATCH', `/v1/${SCHEDULES}/${id}`, body),
  }
}
