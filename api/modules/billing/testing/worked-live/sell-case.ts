// What a worked case sells, made through the api.
import { succeed } from '../../../../testing/calls.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { after, type WorkedCase, type WorkedPrice } from './worked-case.ts'

const MODELS: Readonly<Record<string, string>> = { seats: 'PER_SEAT', usage: 'USAGE_BASED', setup: 'ONE_OFF' }
const YEAR = { type: 'YEAR', value: 1 }
const MONTH = { type: 'MONTH', value: 1 }

export type SoldPlan = { readonly id: string; readonly version: string }
export type SoldCase = {
  readonly plans: ReadonlyMap<string, SoldPlan>
  /** Ids by `A.fee`, and of pricings by `A`, of ADDONs by `A+`. */
  readonly configs: ReadonlyMap<string, string>
  readonly pricings: ReadonlyMap<string, string>
  /** The references of what usage is measured by. */
  readonly meter: string
  readonly value: Row
}

/** Makes the plans of a case, in one group. Prices of one name are of one product item. */
export async function sellCase(tenant: TestTenant, of: WorkedCase): Promise<SoldCase> {
  const { seed } = tenant
  const post = (url: string, body: unknown): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)
  const status = 'ACTIVE'
  const currency = after(of.start, 'currency') ?? 'EUR'
  const value = await post('meter-values', { reference: seed.unique('units'), name: 'Units', type: 'NUMBER', status })
  const meter = await post('meters', {
    reference: seed.unique('meter'),
    status,
    meter_values: [{ id: value['id'], required: true }],
  })
  const product = await post('products', { reference: seed.unique('product'), name: 'Product', status })
  const items = new Map<string, string>()
  const itemOf = async ({ name, words }: WorkedPrice): Promise<string> => {
    const known = items.get(name)
    if (known) return known
    const model_type = MODELS[name] ?? 'RECURRING'
    const calculation =
      name === 'usage'
        ? await post('meter-value-calculations', {
            reference: seed.unique('calculation'),
            calculation_type: 'SUM',
            persist: words.includes('persist'),
            meter_id: meter['id'],
            meter_value_id: value['id'],
          })
        : null
    const { id } = await post('product-items', {
      reference: seed.unique('item'),
      product_id: product['id'],
      name,
      status,
      model_type,
      ...(words.includes('untaxed') ? { tax_category: 'NO_TAX' } : {}),
      ...(calculation ? { usage_based: { meter_value_calculation_id: calculation['id'] } } : {}),
    })
    items.set(name, id)
    return id
  }
  const [configs, pricings] = [new Map<string, string>(), new Map<string, string>()]
  const plans = new Map<string, SoldPlan>()
  for (const [plan, prices] of of.plans) {
    const amount_type = of.start.includes('gross') ? 'INCLUDING_TAX' : 'EXCLUDING_TAX'
    const { id } = await post('pricing-plans', { reference: seed.unique('plan'), name: plan, amount_type })
    const version = await post('pricing-plan-versions', { pricing_plan_id: id })
    for (const addon of [false, true]) {
      const own = prices.filter(({ words }) => words.includes('addon') === addon)
      if (own.length === 0) continue
      const sold: Row[] = []
      for (const price of own)
        sold.push({ product_item_ids: [await itemOf(price)], configs: [configOf(price, currency)] })
      const pricing = await post('pricings', {
        pricing_plan_version_id: version['id'],
        name: plan,
        product_ids: [product['id']],
        product_type: addon ? 'ADDON' : 'DEFAULT',
        items: sold,
      })
      pricings.set(addon ? `${plan}+` : plan, pricing['id'])
      for (const [place, { name }] of own.entries())
        configs.set(`${plan}.${name}`, pricing['items'][place].configs[0].id)
    }
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status })
    plans.set(plan, { id, version: version['id'] })
  }
  const [upgrade, downgrade] = after(of.start, 'moves')?.split(',') ?? []
  await post('pricing-plan-groups', {
    reference: seed.unique('group'),
    status,
    pricing_plan_ids: [...plans.values()].map(({ id }) => id),
    upgrade_type: upgrade ?? 'IMMEDIATE_PRO_RATA',
    downgrade_type: downgrade ?? 'IMMEDIATE_PRO_RATA',
  })
  return { plans, configs, pricings, meter: meter['reference'], value }
}

/** `100`, or bands: `0.10<=1000,0.08`. */
function configOf({ name, figure, words }: WorkedPrice, currency: string): Row {
  const isLump = name !== 'seats' && name !== 'usage'
  const bands = figure.split(',').map(text => {
    const [quantity = '', top] = text.split('<=')
    return {
      [isLump ? 'fixed_amount' : 'amount']: { quantity, currency },
      ...(top === undefined ? {} : { tier_top_bound: { number: top } }),
    }
  })
  const tiered = words.includes('top') ? 'TOP_TIERED' : 'TIERED'
  const included = after(words, 'including')
  return {
    pricing_type: isLump ? 'FIXED' : bands.length > 1 ? tiered : 'FLAT',
    bands,
    ...(words.includes('ahead') ? { billing_in_advance: true } : {}),
    ...(words.includes('yearly') ? { pricing_period: YEAR, billing_period: YEAR } : {}),
    ...(words.includes('monthly') ? { pricing_period: MONTH } : {}),
    ...(included === null ? {} : { default_included_volume: { number: included } }),
  }
}
