// The prices of plan versions as they rate single events: by the very conditions billing asks usage for.

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'drizzle-orm'
import type { PlanVersionPeriod } from '../../../../../shared/attribution/attribute.ts'
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { type CreditsConfigInput, isInCredits } from '../../../../../shared/rating/credits.ts'
import { type EventProperties, matcherOf } from '../../../../../shared/usage/condition.ts'
import { configConditions } from '../../../catalog/conditions/config-conditions.ts'
import {
  type ConditionNamesInput,
  conditionNamesOf,
  loadConditionNames,
  namesAsOf,
} from '../../../catalog/conditions/load-names.ts'
import type { Conditions } from '../../../catalog/conditions/schema.ts'
import { type Cadence, cadenceOf } from '../../../catalog/pricing-plans/variants/cadence.ts'
import {
  allConfigs,
  type Terms,
  type Variant,
  variantFor,
  type WithVariants,
} from '../../../catalog/pricing-plans/variants/variants.ts'

/** A config that rates an event, with the product item and the calculation it prices. */
export type Rating = {
  readonly configId: string
  readonly productItemId: string
  readonly calculationId: string
  /** References of the value or property the calculation is of; the other one is null. */
  readonly valueReference: string | null
  readonly propertyReference: string | null
  /** The periods of the price, or of the item that sells the credits it is in; null for those of the subscription. */
  readonly billingPeriod: PeriodLength | null
  readonly pricingPeriod: PeriodLength | null
}

type Held = Pick<PlanVersionPeriod, 'versionId' | 'ownVersionId' | 'pricingIds'>

export type Prices = {
  /**
   * What rates an event with these properties on a version; none when it prices the meter for other properties. `asOf` says
   * for a price whose conditions mean what they meant when an invoice was closed: the hash of what they named.
   */
  ratingsOf(
    of: {
      readonly held: Held
      /** The versions that the schedule sells in turn, where it has prices of its own besides. */
      readonly inTurn: readonly string[]
      readonly terms: Terms
      readonly meterReference: string
      readonly properties: EventProperties
    },
    asOf: (configId: string, productItemId: string) => string | null,
  ): Rating[]
}

type Config = Cadence &
  Pick<CreditsConfigInput, 'bands'> & {
    readonly id: string
    readonly order?: number | null
    readonly conditions?: Conditions | null
  }
type PricedItem = {
  readonly version_id: string
  readonly pricing_id: string
  readonly product_item_id: string
  readonly item: WithVariants<Config>
  readonly conditions: Conditions | null
  readonly calculation_id: string
  readonly meter_reference: string
  readonly value_reference: string | null
  readonly property_reference: string | null
}

/** The prices of these versions. `closed`: what conditions named when invoices were closed, by its hash. */
export async function loadPrices(
  uow: ReadUow,
  versionIds: readonly string[],
  closed: ReadonlyMap<string, ConditionNamesInput>,
): Promise<Prices> {
  const items = await loadItems(uow, versionIds)
  const all = items.flatMap(item => [
    ...(item.conditions ? [item.conditions] : []),
    ...allConfigs(item.item).flatMap(config => config.conditions ?? []),
  ])
  const now = await loadConditionNames(uow, all)
  const compile = (item: PricedItem, variant: Variant<Config>, hash: string | null): Map<string, Matcher> => {
    const then = hash === null ? undefined : closed.get(hash)
    const names = conditionNamesOf(then ? namesAsOf(now, then) : now)
    const conditions = configConditions(item.conditions, variant.configs, names)
    return new Map([...conditions].map(([id, each]) => [id, each === null ? () => true : matcherOf(each)]))
  }
  const priced = items.map(item => {
    const known = new Map<string, Map<string, Matcher>>()
    const rated = (variant: Variant<Config>, asOf: (configId: string) => string | null, properties: EventProperties) =>
      variant.configs.filter(config => {
        const hash = asOf(config.id)
        const key = `${variant.path} ${hash ?? ''}`
        const matchers = known.get(key) ?? compile(item, variant, hash)
        known.set(key, matchers)
        return matchers.get(config.id)?.(properties) === true
      })
    return { item, rated }
  })
  const isAnyInCredits = items.some(({ item }) => allConfigs(item).some(isInCredits))
  const sellers = isAnyInCredits ? await loadSellers(uow, versionIds) : () => undefined
  return {
    ratingsOf: ({ held: { versionId, ownVersionId, pricingIds }, inTurn, terms, meterReference, properties }, asOf) =>
      priced
        .filter(({ item }) => item.version_id === versionId || item.version_id === ownVersionId)
        .filter(({ item }) => item.meter_reference === meterReference)
        .filter(({ item }) => pricingIds?.has(item.pricing_id) ?? true)
        .flatMap(({ item, rated }) => {
          const variant = variantFor(item.item, terms)
          if (!variant) return []
          const then = (configId: string) => asOf(configId, item.product_item_id)
          // As in billing: of the version itself, else of one that is sold beside it.
          const besides = item.version_id === ownVersionId ? inTurn : [ownVersionId]
          const sellerOf = (creditTypeId: string) => sellers(creditTypeId, [item.version_id, ...besides])
          return rated(variant, then, properties).map(config =>
            ratingOf(item, config.id, cadenceOf(config, { terms, sellerOf })),
          )
        }),
  }
}

type Matcher = (properties: EventProperties) => boolean

const ratingOf = (item: PricedItem, configId: string, cadence: Cadence): Rating => ({
  configId,
  productItemId: item.product_item_id,
  calculationId: item.calculation_id,
  valueReference: item.value_reference,
  propertyReference: item.property_reference,
  billingPeriod: cadence.billing_period ?? null,
  pricingPeriod: cadence.pricing_period ?? null,
})

/** Whether the invoice whose time has the event is the only one that collects what a config rates. */
export const isInvoicedOnce = (
  { billingPeriod, pricingPeriod }: Rating,
  of: { readonly subscription: PeriodLength; readonly schedule: PeriodLength | null },
): boolean =>
  of.schedule === null &&
  [billingPeriod, pricingPeriod].every(period => period === null || isDeepStrictEqual(period, of.subscription))

type Sellers = (creditTypeId: string, versionIds: readonly (string | undefined)[]) => WithVariants<Cadence> | undefined

/** The items of these versions that sell credits, each found by the type of its credits in the first version that sells them. */
async function loadSellers(uow: ReadUow, versionIds: readonly string[]): Promise<Sellers> {
  const { platformId, environment } = uow.tenant
  type Seller = { readonly version_id: string; readonly credit_type_id: string; readonly item: WithVariants<Cadence> }
  const { rows } = await uow.tx.execute<Seller>(sql`
    select p.pricing_plan_version_id as version_id, i.credits ->> 'credit_type_id' as credit_type_id, item
    from pricings p
    cross join lateral jsonb_array_elements(p.items) as item
    cross join lateral jsonb_array_elements_text(item -> 'product_item_ids') as item_id
    join product_items i on i.platform_id = p.platform_id and i.environment = p.environment and i.id = item_id
    where p.platform_id = ${platformId} and p.environment = ${environment} and p.pricing_plan_version_id = any(${sql.param(versionIds)})
      and i.model_type = 'CREDITS'
    order by p.id, i.id`)
  return (creditTypeId, sold) => {
    const selling = rows.filter(({ credit_type_id }) => credit_type_id === creditTypeId)
    return sold.flatMap(id => selling.find(({ version_id }) => version_id === id) ?? [])[0]?.item
  }
}

async function loadItems(uow: ReadUow, versionIds: readonly string[]): Promise<PricedItem[]> {
  if (versionIds.length === 0) return []
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<PricedItem>(sql`
    select p.pricing_plan_version_id as version_id, p.id as pricing_id, i.id as product_item_id, item,
      i.usage_based -> 'conditions' as conditions, c.id as calculation_id, m.reference as meter_reference,
      mv.reference as value_reference, mp.reference as property_reference
    from pricings p
    cross join lateral jsonb_array_elements(p.items) as item
    cross join lateral jsonb_array_elements_text(item -> 'product_item_ids') as item_id
    join product_items i on i.platform_id = p.platform_id and i.environment = p.environment and i.id = item_id
    join meter_value_calculations c on c.platform_id = p.platform_id and c.environment = p.environment
      and c.id = i.meter_value_calculation_id
    join meters m on m.platform_id = c.platform_id and m.environment = c.environment and m.id = c.meter_id
    left join meter_values mv on mv.platform_id = c.platform_id and mv.environment = c.environment and mv.id = c.meter_value_id
    left join meter_properties mp on mp.platform_id = c.platform_id and mp.environment = c.environment
      and mp.id = c.meter_property_id
    where p.platform_id = ${platformId} and p.environment = ${environment} and p.pricing_plan_version_id = any(${sql.param(versionIds)})
    order by p.id, i.id`)
  return rows
}
