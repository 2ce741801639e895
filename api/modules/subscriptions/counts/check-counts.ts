// Whether the seats and units of a schedule can be given as they are.
import { and, eq } from 'drizzle-orm'
import { defaultUnitsFault } from '../../../../shared/billing/charging/units.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { decimal, isPlainDecimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { meterValueCalculations, meterValues } from '../../catalog/meters/table.ts'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import { pricings } from '../../catalog/pricing-plans/table.ts'
import type { Terms } from '../../catalog/pricing-plans/variants/variants.ts'
import { productItems } from '../../catalog/products/table.ts'
import { overridden } from '../overrides/merge-overrides.ts'
import type { OverridePricing } from '../overrides/schema.ts'
import { scheduleTerms, soldItems } from '../sold-items.ts'
import { startsTooLate } from '../stated-times.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'
import type { SeatsValue } from './schema.ts'
import { overlap } from './seat-spans.ts'

/** A price that a version sells, with what it is a price of. */
export type SoldPrice = {
  readonly versionId: string
  readonly pricingId: string
  readonly itemId: string
  readonly config: PricingItemConfig
  readonly productItemIds: readonly string[]
  readonly model: string
}

const refuse = (message: string, field: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/** The prices that some versions have for a schedule with these overrides, by the id of their config. */
export async function pricesOfVersions(
  uow: ReadUow,
  versionIds: readonly string[],
  { terms, overrides = [] }: { readonly terms: Terms; readonly overrides?: readonly OverridePricing[] },
): Promise<ReadonlyMap<string, SoldPrice>> {
  const priced = await uow.tx
    .select({
      id: pricings.id,
      name: pricings.name,
      versionId: pricings.pricing_plan_version_id,
      items: pricings.items,
    })
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), anyOf(pricings.pricing_plan_version_id, idsOf('ppve', versionIds))))
  const items = priced
    .map(pricing => overridden(pricing, overrides))
    .flatMap(({ id: pricingId, versionId, items: own }) =>
      soldItems(own, terms).map(item => ({ ...item, pricingId, versionId })),
    )
  const models = await uow.tx
    .select({ id: productItems.id, model: productItems.model_type })
    .from(productItems)
    .where(
      and(
        inThisTenant(uow, productItems),
        anyOf(productItems.id, idsOf('proi', [...items.flatMap(item => item.product_item_ids), ''])),
      ),
    )
  const modelOf = new Map<string, string>(models.map(({ id, model }) => [id, model]))
  return new Map(
    items.flatMap(item =>
      item.configs.map((config): [string, SoldPrice] => [
        config.id,
        {
          versionId: item.versionId,
          pricingId: item.pricingId,
          itemId: item.id,
          config,
          productItemIds: item.product_item_ids,
          model: modelOf.get(item.product_item_ids[0] ?? '') ?? '',
        },
      ]),
    ),
  )
}

/** What is metered by the product items of these prices, by product item; one that is not metered is absent. */
export async function metricsOf(
  uow: ReadUow,
  prices: readonly SoldPrice[],
): Promise<ReadonlyMap<string, 'NUMBER' | 'AMOUNT'>> {
  const ids = prices.flatMap(({ productItemIds }) => productItemIds)
  const rows = await uow.tx
    .select({ id: productItems.id, type: meterValues.type })
    .from(productItems)
    .innerJoin(
      meterValueCalculations,
      and(
        inThisTenant(uow, meterValueCalculations),
        eq(meterValueCalculations.id, productItems.meter_value_calculation_id),
      ),
    )
    .leftJoin(
      meterValues,
      and(inThisTenant(uow, meterValues), eq(meterValues.id, meterValueCalculations.meter_value_id)),
    )
    .where(and(inThisTenant(uow, productItems), anyOf(productItems.id, idsOf('proi', ids))))
  return new Map(rows.map(({ id, type }) => [id, type ?? 'NUMBER']))
}

/**
 * Throws unless every number of seats is of a PER_SEAT price that the version, or a version of the rate card, sells, within what the price allows and the
 * only one at its time, and every number of units is of a ONE_OFF price that is sold by units.
 */
export async function checkCounts(uow: Uow, schedule: Schedule, stored: Schedule | null): Promise<void> {
  const { seats_values: seats, units } = schedule
  if (seats.length + units.length === 0) return
  const sold = await pricesOfVersions(uow, await versionsSold(uow, schedule), {
    terms: await scheduleTerms(uow, schedule),
    overrides: schedule.override_pricings,
  })
  const priceOf = (id: string, path: string): SoldPrice => {
    const found = sold.get(id)
    if (found) return found
    const message = `The schedule sells no price ${id}; name one that it sells.`
    throw new AppError('RESOURCE_NOT_FOUND', message, { field: `${path}.pricing_item_config_id` })
  }
  for (const [index, entry] of seats.entries()) {
    const path = `seats_values.${index}`
    checkSeats(entry, { price: priceOf(entry.pricing_item_config_id, path), path, schedule, stored })
    const other = seats.slice(0, index).findIndex(each => overlap(each, entry, schedule))
    if (other >= 0)
      refuse(`seats_values.${other} states the seats of this price at the same time; end it first.`, `${path}.start_at`)
  }
  for (const [index, { pricing_item_config_id: id, number }] of units.entries()) {
    const path = `units.${index}`
    const { model, config } = priceOf(id, path)
    if (model !== 'ONE_OFF')
      refuse(
        `The price is of a ${model} item; only an item that is sold once, ONE_OFF, has units.`,
        `${path}.pricing_item_config_id`,
      )
    const fault = defaultUnitsFault({ number }, config.pricing_type)
    if (fault?.field === 'default_units') refuse(fault.message, `${path}.pricing_item_config_id`)
    if (fault) refuse(fault.message, `${path}.number`)
    if (units.slice(0, index).some(each => each.pricing_item_config_id === id))
      refuse('The units of this price are given twice; give them once.', `${path}.pricing_item_config_id`)
  }
}

type Of = {
  readonly price: SoldPrice
  readonly path: string
  readonly schedule: Schedule
  readonly stored: Schedule | null
}

function checkSeats(entry: SeatsValue, { price, path, schedule, stored }: Of): void {
  const { number, start_at, end_at } = entry
  const { model, config } = price
  if (model !== 'PER_SEAT')
    refuse(`The price is of a ${model} item; only a PER_SEAT item has seats.`, `${path}.pricing_item_config_id`)
  if (!isPlainDecimal(number) || decimal(number).lt(ZERO))
    refuse('number must be a decimal, 0 or more.', `${path}.number`)
  // Of several bands each bounds its own part, so they do not bound the number.
  const [band, ...others] = config.bands ?? []
  const bounds = others.length === 0 ? band : undefined
  if (bounds?.minimum_number && decimal(number).lt(decimal(bounds.minimum_number)))
    refuse(`The price is of at least ${bounds.minimum_number} seats.`, `${path}.number`)
  if (bounds?.maximum_number && decimal(number).gt(decimal(bounds.maximum_number)))
    refuse(`The price is of at most ${bounds.maximum_number} seats.`, `${path}.number`)
  if (start_at && start_at < schedule.start_at)
    refuse(`The schedule starts at ${schedule.start_at}; start it then or later.`, `${path}.start_at`)
  if (startsTooLate(entry, schedule.end_at, stored?.seats_values ?? []))
    refuse(`The schedule ends at ${schedule.end_at}; start it before that.`, `${path}.start_at`)
  if (end_at && end_at <= (start_at ?? schedule.start_at)) refuse('end_at must be after start_at.', `${path}.end_at`)
}
