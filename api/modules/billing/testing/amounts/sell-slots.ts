// One plan for all cases that go through the API: a metered price of 1.00 for each kind of price that cases have. A case takes slots of
// it, and its amounts are usage.
import { succeed } from '../../../../testing/calls.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { CaseIds } from './case-inputs.ts'
import type { Case, CasePrice } from './read-cases.ts'

type Slot = {
  readonly product: string
  readonly taxCategory: CasePrice['taxCategory']
  readonly isDeduction: boolean
  readonly calculationId: string
  readonly productItemId: string
  readonly itemId: string
  readonly configId: string
}

export type SlotPlan = {
  readonly versionId: string
  readonly pricingId: string
  readonly products: ReadonlyMap<string, string>
  readonly categoryId: string
  readonly slots: readonly Slot[]
}

const KINDS: readonly Pick<Slot, 'product' | 'taxCategory' | 'isDeduction'>[] = [
  ...['P', 'P', 'P', 'Q', 'R'].map(product => ({ product, taxCategory: 'STANDARD' as const, isDeduction: false })),
  { product: 'P', taxCategory: 'EXEMPT', isDeduction: false },
  { product: 'P', taxCategory: 'NO_TAX', isDeduction: false },
  { product: 'P', taxCategory: 'STANDARD', isDeduction: true },
]

/** Makes the plan. The products P and Q are in one category, R in none. */
export async function sellSlots(tenant: TestTenant): Promise<SlotPlan> {
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const status = 'ACTIVE'
  const value = await post('meter-values', { reference: seed.unique('spent'), name: 'Spent', type: 'NUMBER', status })
  const meter = await post('meters', {
    reference: seed.unique('meter'),
    status,
    meter_values: [{ id: value['id'], required: true }],
  })
  const category = await post('product-categories', { reference: seed.unique('category'), name: 'K' })
  const products = new Map<string, string>()
  for (const name of ['P', 'Q', 'R']) {
    const category_id = name === 'R' ? null : category['id']
    const product = await post('products', { reference: seed.unique('product'), name, status, category_id })
    products.set(name, product['id'])
  }
  const made: Omit<Slot, 'itemId' | 'configId'>[] = []
  for (const [place, kind] of KINDS.entries()) {
    const calculation = await post('meter-value-calculations', {
      reference: seed.unique('sum'),
      calculation_type: 'SUM',
      meter_id: meter['id'],
      meter_value_id: value['id'],
    })
    const item = await post('product-items', {
      reference: seed.unique('item'),
      product_id: products.get(kind.product),
      name: `${place}`,
      status,
      type: kind.isDeduction ? 'DEDUCTION' : 'REVENUE',
      tax_category: kind.taxCategory,
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: calculation['id'] },
    })
    made.push({ ...kind, calculationId: calculation['id'], productItemId: item['id'] })
  }
  const plan = await post('pricing-plans', { reference: seed.unique('plan'), name: 'Slots' })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const bands = [{ amount: { quantity: '1', currency: 'EUR' } }]
  const pricing = await post('pricings', {
    pricing_plan_version_id: version['id'],
    name: 'Slots',
    product_ids: [...products.values()],
    items: made.map(({ productItemId }, display_order) => ({
      product_item_ids: [productItemId],
      display_order,
      configs: [{ pricing_type: 'FLAT', bands }],
    })),
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status })
  const slots = made.map((slot, place) => {
    const item = pricing['items'][place]
    return { ...slot, itemId: item['id'], configId: item['configs'][0]['id'] }
  })
  return { versionId: version['id'], pricingId: pricing['id'], products, categoryId: category['id'], slots }
}

/** The slot of each price of a case, by its letter; null where the plan has none left. */
export function slotsOf({ prices }: Case, { slots }: SlotPlan): ReadonlyMap<string, Slot> | null {
  const left = [...slots]
  const taken = new Map<string, Slot>()
  for (const { name, product, taxCategory, isDeduction } of prices) {
    const place = left.findIndex(
      each =>
        each.product === product.split('/')[0] && each.taxCategory === taxCategory && each.isDeduction === isDeduction,
    )
    const [slot] = place < 0 ? [] : left.splice(place, 1)
    if (!slot) return null
    taken.set(name, slot)
  }
  return taken
}

export function idsOfSlots(taken: ReadonlyMap<string, Slot>, plan: SlotPlan): CaseIds {
  const of = (name: string, member: 'configId' | 'itemId' | 'productItemId'): string => taken.get(name)?.[member] ?? ''
  return {
    price: name => of(name, 'configId'),
    item: name => of(name, 'itemId'),
    productItem: name => of(name, 'productItemId'),
    product: name => plan.products.get(name) ?? '',
    category: () => plan.categoryId,
    pricing: plan.pricingId,
  }
}
