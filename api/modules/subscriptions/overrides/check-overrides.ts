// Whether a schedule can have the prices that its overrides state.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { checkPricing } from '../../catalog/pricing-plans/checks/check-pricing.ts'
import type { Pricing } from '../../catalog/pricing-plans/table.ts'
import { missingPriceOf } from '../../catalog/pricing-plans/variants/coverage.ts'
import { allConfigs, placedConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import { pricingsOf } from '../../catalog/pricing-plans/version-pricings.ts'
import { scheduleTerms, soldItems } from '../sold-items.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'
import { isLeftOut, overridden } from './merge-overrides.ts'
import type { GivenOverride, OverrideItem, OverridePricing } from './schema.ts'

/**
 * Throws unless every override is of a price of the schedule's version, or of a version of its rate card, each once, in the
 * schedule's currency or the one that the item falls back to, and leaves a price that could be the plan's.
 */
export async function checkOverrides(uow: Uow, schedule: Schedule): Promise<void> {
  const { override_pricings: overrides } = schedule
  if (overrides.length === 0) return
  const sold = await pricingsOf(uow, await versionsSold(uow, schedule))
  for (const [index, override] of overrides.entries()) {
    const path = `override_pricings.${index}`
    const { original_pricing_id: id } = override
    const pricing = sold.find(each => each.id === id)
    if (!pricing) throw missing('pricing', id, `${path}.original_pricing_id`)
    if (overrides.findIndex(each => each.original_pricing_id === id) < index)
      throw twice('pricing', `${path}.original_pricing_id`)
    for (const [place, item] of override.items.entries()) checkItem(pricing, item, `${path}.items.${place}`)
    await checkResult(uow, { schedule, pricing, override, path })
  }
}

/** Throws RESOURCE_NOT_FOUND where a body takes back an override of a pricing that the schedule neither sells nor overrides. */
export async function requireTakenBack(uow: Uow, schedule: Schedule, { given, stored }: TakenBack): Promise<void> {
  const known = [...stored, ...schedule.override_pricings].map(each => each.original_pricing_id)
  const isUnknown = ({ original_pricing_id: id }: GivenOverride): boolean => !known.includes(id)
  if (!given.some(isUnknown)) return
  const sold = await pricingsOf(uow, await versionsSold(uow, schedule))
  for (const [index, override] of given.entries()) {
    const { original_pricing_id: id } = override
    if (isUnknown(override) && !sold.some(each => each.id === id))
      throw missing('pricing', id, `override_pricings.${index}.original_pricing_id`)
  }
}
type TakenBack = { readonly given: readonly GivenOverride[]; readonly stored: readonly OverridePricing[] }

const missing = (noun: string, id: string, field: string): AppError =>
  new AppError('RESOURCE_NOT_FOUND', `The schedule sells no ${noun} ${id}; name one that it sells.`, {
    field,
  })
const twice = (noun: string, field: string): AppError =>
  new AppError('INVALID_FIELD', `The ${noun} is overridden twice; give everything about it in one entry.`, { field })

function checkItem(pricing: Pricing, item: OverrideItem, path: string): void {
  const { original_pricing_item_id: id } = item
  const original = pricing.items.find(each => each.id === id)
  if (!original) {
    const message = `The pricing ${pricing.id} has no item ${id}; name one of its items.`
    throw new AppError('RESOURCE_NOT_FOUND', message, { field: `${path}.original_pricing_item_id` })
  }
  for (const [index, { original_pricing_item_config_id: configId }] of item.configs.entries()) {
    const field = `${path}.configs.${index}.original_pricing_item_config_id`
    if (!allConfigs(original).some(config => config.id === configId)) {
      const message = `The pricing item ${id} has no config ${configId}; name one of its configs.`
      throw new AppError('RESOURCE_NOT_FOUND', message, { field })
    }
    if (item.configs.findIndex(each => each.original_pricing_item_config_id === configId) < index)
      throw twice('price', field)
  }
}

type Override = {
  readonly schedule: Schedule
  readonly pricing: Pricing
  readonly override: OverridePricing
  readonly path: string
}

/** What results must be a pricing that could be sold; what is left out is not sold, and not judged. */
async function checkResult(uow: Uow, { schedule, pricing, override, path }: Override): Promise<void> {
  for (const [index, item] of override.items.entries())
    if (override.items.findIndex(each => each.original_pricing_item_id === item.original_pricing_item_id) < index)
      throw twice('item', `${path}.items.${index}.original_pricing_item_id`)
  const result = overridden(pricing, [override])
  const items = result.items.filter(item => !allConfigs(item).every(config => isLeftOut(override, item.id, config.id)))
  const terms = await scheduleTerms(uow, schedule)
  // A variant of a currency is in that currency (checkPrice), also one that the schedule falls back to, which is converted.
  const lacks = items.flatMap(item => (soldItems([item], terms).length > 0 ? (missingPriceOf(item, terms) ?? []) : []))
  const [foreign] = lacks.flatMap(lack => (lack.kind === 'CURRENCY' ? lack.sold : []))
  if (foreign !== undefined) {
    const message = `The schedule is priced in ${schedule.pricing_currency}; give the prices of ${pricing.name} in it, not in ${foreign}.`
    throw new AppError('INVALID_FIELD', message, { field: `${path}.items` })
  }
  try {
    await checkPricing(uow, { ...result, items }, pricing)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw error.at(fieldOf(error.details.field ?? '', { items, override, path }))
  }
}

const IN_RESULT = /^items\.(\d+)(?:\.((?:[a-z_]+\.\d+\.)*?configs\.\d+))?(.*)$/

/** Where the override says what stands at a path of the result. */
function fieldOf(
  field: string,
  { items, override, path }: Pick<Override, 'override' | 'path'> & { readonly items: Pricing['items'] },
): string {
  const [, i, c, rest = ''] = IN_RESULT.exec(field) ?? []
  const item = items[Number(i)]
  const place = override.items.findIndex(each => each.original_pricing_item_id === item?.id)
  if (!item || place < 0) return path
  const config = placedConfigs(item).find(each => each.path === c)?.config
  const configPlace = override.items[place]?.configs.findIndex(
    each => each.original_pricing_item_config_id === config?.id,
  )
  if (configPlace === undefined || configPlace < 0) return `${path}.items.${place}`
  return `${path}.items.${place}.configs.${configPlace}${rest}`
}
