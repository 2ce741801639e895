// The items of a pricing in the form they are stored and shown in: every member there, ids given or kept.
import { AppError } from '../../../../shared/errors.ts'
import {
  isSupportedPricingType,
  SUPPORTED_PRICING_TYPES,
  type SupportedPricingType,
} from '../../../../shared/rating/rate.ts'
import { idKeeper, withIds } from '../../../resource/nested-ids.ts'
import type { Conditions } from '../conditions/schema.ts'
import type {
  IncludedVolume,
  PricingItem,
  PricingItemConfig,
  PricingItemConfigInput,
  PricingItemInput,
  SplitPricing,
  Tiering,
  WalletGrantRule,
} from './schema.ts'
import { allConfigs } from './variants/variants.ts'

/** What items name by id or reference, found: by the path it stands at. */
export type FoundInItems = {
  readonly conditions: ReadonlyMap<string, Conditions>
  readonly splits: ReadonlyMap<string, SplitPricing>
}
type VariantList = 'pricing_currency_configs' | 'billing_period_configs'
const NOTHING_FOUND: FoundInItems = { conditions: new Map(), splits: new Map() }

/**
 * `items` as a request sent them (or as stored), canonical. Ids that were sent must be ids of `previous`; `found` is
 * that of `findInItems`. Throws INVALID_FIELD or MISSING_FIELD with the path below `items`.
 */
export function canonicalItems(
  items: readonly PricingItemInput[],
  previous: readonly PricingItem[],
  found: FoundInItems = NOTHING_FOUND,
): PricingItem[] {
  return withIds(items, previous, { prefix: 'prii', field: 'items' }).map((item, index) => {
    const before = previous.find(({ id }) => id === item.id)
    const field = `items.${index}`
    const keep = idKeeper(before ? allConfigs(before) : [], 'pico')
    const canonical = (configs: readonly PricingItemConfigInput[] | null | undefined, at: string) =>
      canonicalConfigs(keep(configs ?? [], at), { field: at, found })
    return {
      object_type: 'PRICING_ITEM',
      id: item.id,
      product_item_ids: item.product_item_ids,
      configs: canonical(item.configs, `${field}.configs`),
      ...variantsIn(item, { field, canonical }),
      display_order: item.display_order ?? null,
    }
  })
}

type Canonical = (configs: readonly PricingItemConfigInput[] | null | undefined, at: string) => PricingItemConfig[]
type At = { readonly field: string; readonly canonical: Canonical }

/** Its variants by currency and by billing period; a list without entries is left out. */
function variantsIn(item: PricingItemInput, at: At): Pick<PricingItem, VariantList> {
  const currencies = item.pricing_currency_configs ?? []
  const of = ({ currency, fallback_currency: fallback, ...entry }: (typeof currencies)[number], field: string) => ({
    currency,
    ...(fallback ? { fallback_currency: fallback } : {}),
    ...(entry.configs?.length ? { configs: at.canonical(entry.configs, `${field}.configs`) } : {}),
    ...periodsIn(entry, { ...at, field }),
  })
  return {
    ...(currencies.length === 0
      ? {}
      : {
          pricing_currency_configs: currencies.map((entry, index) =>
            of(entry, `${at.field}.pricing_currency_configs.${index}`),
          ),
        }),
    ...periodsIn(item, at),
  }
}

function periodsIn(
  { billing_period_configs: given }: Pick<PricingItemInput, 'billing_period_configs'>,
  { field, canonical }: At,
): Pick<PricingItem, 'billing_period_configs'> {
  if (!given || given.length === 0) return {}
  return {
    billing_period_configs: given.map(({ billing_period, configs }, index) => ({
      billing_period,
      configs: canonical(configs, `${field}.billing_period_configs.${index}.configs`),
    })),
  }
}

function canonicalConfigs(
  configs: readonly (PricingItemConfigInput & { readonly id: string })[],
  { field, found: { conditions, splits } }: { field: string; found: FoundInItems },
): PricingItemConfig[] {
  return configs.map((config, index) => {
    const pricingType = pricingTypeOf(config, `${field}.${index}`)
    return {
      object_type: 'PRICING_ITEM_CONFIG',
      id: config.id,
      pricing_type: pricingType,
      type: pricingType,
      billing_period: config.billing_period ?? null,
      pricing_period: config.pricing_period ?? null,
      bands: config.bands ?? [],
      order: config.order ?? index,
      billing_in_advance: config.billing_in_advance ?? false,
      conditions: conditions.get(`${field}.${index}.conditions`) ?? null,
      top_up: config.top_up ?? null,
      step_accumulation: config.step_accumulation ?? null,
      ...(config.block_rounding ? { block_rounding: config.block_rounding } : {}),
      rate_per: config.rate_per ?? null,
      default_included_volume: includedOf(config),
      tiering_conditions: tieringOf(conditions.get(`${field}.${index}.tiering_conditions`)),
      volume_group_reference: config.volume_group_reference ?? null,
      split_pricing: splits.get(`${field}.${index}.split_pricing`) ?? null,
      default_units: config.default_units ?? null,
      default_seats_value: config.default_seats_value ?? null,
      on_demand: config.on_demand ?? false,
      wallet_grants: config.wallet_grants?.map(canonicalRule) ?? null,
    }
  })
}

/** A bare number as conversion is its rate. An empty policy is none. */
function canonicalRule(rule: NonNullable<PricingItemConfigInput['wallet_grants']>[number]): WalletGrantRule {
  const { amount_grant: money, credits_grant: credits, expiry_policy: policy } = rule
  const conversion = credits?.conversion ?? null
  return {
    wallet_type_id: rule.wallet_type_id,
    source: rule.source ?? null,
    amount_grant: money ? { amount: money.amount ?? null, percentage: money.percentage ?? null } : null,
    credits_grant: credits
      ? {
          credits: credits.credits ?? null,
          conversion:
            typeof conversion === 'string'
              ? { credit_type_id: null, rate: conversion }
              : conversion && { credit_type_id: conversion.credit_type_id ?? null, rate: conversion.rate },
        }
      : null,
    expiry_policy: policy?.expiry_period ? { expiry_period: policy.expiry_period } : null,
  }
}

/** An expression is all they have. */
const tieringOf = (conditions: Conditions | undefined): Tiering | null =>
  conditions?.expression ? { name: conditions.name, expression: conditions.expression } : null

/** With the reset that is meant when none is said. */
const includedOf = ({ default_included_volume: given }: PricingItemConfigInput): IncludedVolume | null =>
  given ? { ...given, reset_type: given.reset_type ?? 'BILLING_PERIOD' } : null

function pricingTypeOf(config: PricingItemConfigInput, field: string): SupportedPricingType {
  const type = config.pricing_type ?? config.type
  if (!type) throw new AppError('MISSING_FIELD', 'A config needs its pricing_type.', { field: `${field}.pricing_type` })
  if (config.type && config.type !== type) {
    throw new AppError('INVALID_FIELD', 'type is another name of pricing_type; give one, or the same twice.', {
      field: `${field}.type`,
    })
  }
  if (isSupportedPricingType(type)) return type
  const name = config.pricing_type ? 'pricing_type' : 'type'
  const message = `${JSON.stringify(type)} is not priced; ${name} is one of ${SUPPORTED_PRICING_TYPES.join(', ')}.`
  throw new AppError('INVALID_FIELD', message, { field: `${field}.${name}` })
}

/** The same items without ids, for a copy of them. */
export const withoutIds = (items: readonly PricingItem[]): PricingItemInput[] =>
  items.map(({ id: _id, pricing_currency_configs: currencies, billing_period_configs: periods, configs, ...item }) => ({
    ...item,
    configs: configs.map(withoutId),
    ...periodsWithoutIds(periods),
    ...(currencies
      ? {
          pricing_currency_configs: currencies.map(({ configs: own, billing_period_configs, ...entry }) => ({
            ...entry,
            ...(own ? { configs: own.map(withoutId) } : {}),
            ...periodsWithoutIds(billing_period_configs),
          })),
        }
      : {}),
  }))

const withoutId = ({ id: _id, ...config }: PricingItemConfig): PricingItemConfigInput => config

const periodsWithoutIds = (periods: PricingItem['billing_period_configs']) =>
  periods
    ? {
        billing_period_configs: periods.map(({ billing_period, configs }) => ({
          billing_period,
          configs: configs.map(withoutId),
        })),
      }
    : {}
