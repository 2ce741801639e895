// What a simulated year sells, made through the api.
import { succeed } from '../../../../../testing/calls.ts'
import type { TestTenant } from '../../../../../testing/harness.ts'
import { type Coupon, itemOf, type Plan, type Price, pricesIn, type Story } from '../story.ts'
import { categoryOf } from '../story-discounts.ts'
import { configOf, givenBy, timeText as text } from '../story-terms.ts'

const MODELS = { FEE: 'RECURRING', SEATS: 'PER_SEAT', USAGE: 'USAGE_BASED', ONCE: 'ONE_OFF' } as const

type Item = { readonly product: string; readonly item: string }
export type Sold = { readonly plan: string; readonly version: string }
/** What a story sells, by the names of the story. */
export type Catalog = {
  readonly calculation: string
  /** The references of what its events measure. */
  readonly meter: string
  readonly value: string
  /** The reference of the property whose values are counted; null where none are. */
  readonly property: string | null
  readonly seatItem: Item
  readonly sold: readonly Sold[]
  /** The ids of what is sold, by `pricing <plan>`, `item <price>`, `config <price>`, `product <price>`, `whole product <price>` and `category <name>`. */
  readonly ids: Map<string, string>
  /** The names of prices and coupons, by their ids. */
  readonly names: Map<string, string>
}

export function idIn({ ids }: Pick<Catalog, 'ids'>, name: string): string {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`${name} is not in the catalog`)
  return id
}

/** The catalog of a story, with a meter and a group of plans of its own. */
export async function makeCatalog(tenant: TestTenant, story: Story): Promise<Catalog> {
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const active = { status: 'ACTIVE' }
  const value = await post('meter-values', {
    reference: seed.unique('units'),
    name: 'Units',
    type: 'NUMBER',
    ...active,
  })
  const { counts = 'SUM' } = story
  const property =
    counts === 'UNIQUE'
      ? await post('meter-properties', { reference: seed.unique('kind'), name: 'Kind', type: 'STRING', ...active })
      : null
  const meter = await post('meters', {
    reference: seed.unique('meter'),
    meter_values: [{ id: value['id'], required: true }],
    ...(property ? { meter_properties: [{ id: property['id'], required: true }] } : {}),
    ...active,
  })
  const calculation = await post('meter-value-calculations', {
    reference: seed.unique('count'),
    calculation_type: counts,
    meter_id: meter['id'],
    ...(property ? { meter_property_id: property['id'] } : { meter_value_id: value['id'] }),
  })
  const [ids, names] = [new Map<string, string>(), new Map<string, string>()]
  const prices = pricesIn(story)
  for (const [index, name] of [...new Set(prices.map(({ id }) => categoryOf(id)))].toSorted().entries()) {
    const body = { reference: seed.unique('category'), name, display_order: index }
    ids.set(`category ${name}`, (await post('product-categories', body))['id'])
  }
  const seats = prices.find(({ kind }) => kind === 'SEATS')?.id
  const category_id = seats ? idIn({ ids }, `category ${categoryOf(seats)}`) : null
  const seatItem = await newItem(tenant, { name: 'Seats', model_type: 'PER_SEAT' }, category_id)
  const sold: Sold[] = []
  for (const plan of story.plans) sold.push(await sell(tenant, plan, { calculation: calculation['id'], seatItem, ids }))
  const measured = {
    calculation: calculation['id'],
    meter: meter['reference'],
    value: value['reference'],
    property: property?.['reference'] ?? null,
  }
  const catalog = { ...measured, seatItem, sold, ids, names }
  for (const { id } of prices) names.set(idIn(catalog, `config ${id}`), id)
  await post('pricing-plan-groups', {
    reference: seed.unique('tiers'),
    ...active,
    pricing_plan_ids: sold.map(({ plan }) => plan),
    upgrade_type: 'IMMEDIATE_PRO_RATA',
    downgrade_type: 'IMMEDIATE_PRO_RATA',
  })
  return catalog
}

/** Makes a coupon, and gives its id. */
export async function makeCoupon(tenant: TestTenant, catalog: Catalog, coupon: Coupon): Promise<string> {
  const limited =
    coupon.price === null ? {} : { limited_to: { product_item_ids: [idIn(catalog, `product ${coupon.price}`)] } }
  const { id } = await succeed(tenant, 'POST', '/v1/coupons', {
    reference: tenant.seed.unique('coupon'),
    name: coupon.id,
    status: 'ACTIVE',
    ...givenBy(coupon),
    ...limited,
  })
  catalog.names.set(id, coupon.id)
  return id
}

/** An item of a product of its own. */
async function newItem(tenant: TestTenant, body: object, category_id: string | null): Promise<Item> {
  const { seed } = tenant
  const product = await succeed(tenant, 'POST', '/v1/products', {
    reference: seed.unique('product'),
    name: 'Product',
    category_id,
    status: 'ACTIVE',
  })
  const item = await succeed(tenant, 'POST', '/v1/product-items', {
    reference: seed.unique('item'),
    product_id: product['id'],
    status: 'ACTIVE',
    ...body,
  })
  return { product: product['id'], item: item['id'] }
}

/** A plan of the story in the catalog; `ids` gets those of its prices. */
async function sell(
  tenant: TestTenant,
  plan: Plan,
  { calculation, seatItem, ids }: Pick<Catalog, 'calculation' | 'seatItem' | 'ids'>,
): Promise<Sold> {
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const { seed } = tenant
  const items = new Map<string, Item>()
  for (const { id: name, kind } of plan.prices) {
    const counted = kind === 'USAGE' ? { usage_based: { meter_value_calculation_id: calculation } } : {}
    const body = { name, model_type: MODELS[kind], ...counted }
    const category = idIn({ ids }, `category ${categoryOf(name)}`)
    items.set(name, kind === 'SEATS' ? seatItem : await newItem(tenant, body, category))
  }
  const { id } = await post('pricing-plans', {
    reference: seed.unique('plan'),
    name: plan.id,
    ...(plan.card ? { variant: 'RATE_CARD' } : {}),
  })
  const started = (start_at: string) => (plan.card ? { rate_card: { start_at } } : {})
  const version = await post('pricing-plan-versions', { pricing_plan_id: id, ...started(LONG_AGO) })
  const of = { plan: plan.id, items, ids }
  for (const addon of [false, true]) {
    const own = plan.prices.filter(price => (price.addon ?? false) === addon)
    await priced(tenant, own, { ...of, version: version['id'], addon })
  }
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  for (const { start, prices } of plan.card ?? []) {
    const later = await post('pricing-plan-versions', { pricing_plan_id: id, ...started(text(start)) })
    await priced(tenant, prices, { ...of, version: later['id'], addon: null })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${later['id']}`, { status: 'ACTIVE' })
  }
  return { plan: id, version: version['id'] }
}

const LONG_AGO = '2000-01-01T00:00:00Z'

type Of = Pick<Catalog, 'ids'> & {
  readonly plan: string
  readonly version: string
  /** Null for a later version of a rate card, which has one pricing. */
  readonly addon: boolean | null
  /** By the prices of the first version. */
  readonly items: ReadonlyMap<string, Item>
}

/** A pricing of a version with these prices; `ids` gets theirs. */
async function priced(tenant: TestTenant, prices: readonly Price[], { plan, version, addon, items, ids }: Of) {
  const own = prices.map(price => ({ price, sold: items.get(itemOf(price)) }))
  if (own.length === 0) return
  const pricing = await succeed(tenant, 'POST', '/v1/pricings', {
    pricing_plan_version_id: version,
    name: plan,
    product_ids: [...new Set(own.map(({ sold }) => sold?.product))],
    ...(addon ? { product_type: 'ADDON' } : {}),
    items: own.map(({ price, sold }) => {
      const { id: _, ...config } = configOf(price)
      return { product_item_ids: [sold?.item], configs: [config] }
    }),
  })
  if (addon !== null) ids.set(`pricing ${plan}${addon ? ' addon' : ''}`, pricing['id'])
  for (const [index, { price, sold }] of own.entries()) {
    ids.set(`item ${price.id}`, pricing['items'][index].id)
    ids.set(`config ${price.id}`, pricing['items'][index].configs[0].id)
    ids.set(`product ${price.id}`, sold?.item ?? '')
    ids.set(`whole product ${price.id}`, sold?.product ?? '')
  }
}
