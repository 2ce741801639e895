// POST /v1/prices/calculate: what a price charges for given quantities, band by band. Nothing is stored.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, ONE, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { amountView, toMoney } from '../../../../shared/money.ts'
import { creditTypeOf, isInCredits, parseCreditsPrice } from '../../../../shared/rating/credits.ts'
import { describeCharge } from '../../../../shared/rating/describe.ts'
import { flexibleFault } from '../../../../shared/rating/flexible-amount.ts'
import { applyIncludedVolume, type IncludedVolumeDetails } from '../../../../shared/rating/included/included-volume.ts'
import { currencyOfPrice, parsePriceConfig } from '../../../../shared/rating/parse/parse-price-config.ts'
import { amountVolume, type Metric, numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import { findPriceModel, isLumpSum, type PriceConfig, rate } from '../../../../shared/rating/rate.ts'
import { type EqualEvents, eventsOfOneSize, rateEvents } from '../../../../shared/rating/rate-events.ts'
import { findMany, getOne } from '../../../resource/store.ts'
import { creditTypeResource } from '../../catalog/credit-types/credit-type.ts'
import { canonicalItems } from '../../catalog/pricing-plans/canonical-items.ts'
import { creditsField, refuseArchived } from '../../catalog/pricing-plans/checks/check-credit-types.ts'
import { checkPrice, type Priced } from '../../catalog/pricing-plans/checks/check-price.ts'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import { creditBand } from '../rating/credit-details.ts'
import { bandView, includedText, volumeView } from '../rating/price-details.ts'
import { storedConfig } from './priced-config.ts'
import type { CalculatedPrice, CalculatePriceBody, PriceQuantity } from './schema.ts'

const invalid = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

type Price = {
  readonly config: PriceConfig
  readonly metric: Metric
  /** The credits that the price is in; null for a price in money. */
  readonly creditTypeId: string | null
}

/**
 * Throws RESOURCE_NOT_FOUND for an unknown price. Throws INVALID_FIELD or MISSING_FIELD, with the field path, for a
 * price that cannot be billed; saving the price would be refused with the same errors.
 */
export async function calculatePrice(uow: ReadUow, body: CalculatePriceBody): Promise<CalculatedPrice> {
  const price = await priceOfBody(uow, body)
  const quantities = quantitiesOf(price, body)
  return {
    object_type: 'PRICE_CALCULATION',
    pricing_type: price.config.pricingType,
    ...(price.creditTypeId ? { credit_type_id: price.creditTypeId } : { pricing_currency: price.config.currency }),
    calculations: quantities.map((quantity, index) => calculate(price, quantity, `meter_values.${index}`)),
  }
}

async function priceOfBody(uow: ReadUow, body: CalculatePriceBody): Promise<Price> {
  const { pricing_item_config_id: id, pricing_item_config: sent, value_type: type } = body
  if (id && sent) {
    throw invalid('pricing_item_config', 'Name a stored price or send one, not both.')
  }
  if (id) {
    if (type)
      throw invalid(
        'value_type',
        'A stored price already determines whether numbers or money are metered; leave it out.',
      )
    const { config, metric, currency: sold } = await storedConfig(uow, id)
    if (isInCredits(config)) return inCredits(config, body)
    const currency = await currencyOf(uow, body, { config, sold })
    return read(config, metric, { currency, field: 'pricing_currency' })
  }
  if (!sent) {
    throw new AppError('MISSING_FIELD', 'Name a stored price, or send one as pricing_item_config.', {
      field: 'pricing_item_config_id',
    })
  }
  const other = (['conditions', 'tiering_conditions', 'volume_group_reference', 'split_pricing'] as const).find(
    name => sent[name],
  )
  if (other) {
    const message = `${other} says which usage is priced; here the usage is given, so leave it out.`
    throw invalid(`pricing_item_config.${other}`, message)
  }
  const [item] = canonicalItems([{ product_item_ids: [], configs: [sent] }], [])
  const [config] = item?.configs ?? []
  if (!config) throw new Error('one config in, one config out')
  const metric = type ?? 'NUMBER'
  const isChosen = findPriceModel(config.pricing_type)?.basis === 'chosen'
  if (!isChosen) checkPrice(config, pricedBy(config, metric), 'pricing_item_config')
  if (!isChosen && isInCredits(config)) {
    await requireCreditType(uow, config)
    return inCredits(config, body)
  }
  const currency = await currencyOf(uow, body, { config, sold: null })
  return read(config, metric, { currency, field: 'pricing_item_config' })
}

/** The kind of item that a sent price is for. Its units, seats or charges in advance tell; without them it is usage. */
function pricedBy(config: PricingItemConfig, metric: Metric): Priced {
  if (metric === 'AMOUNT') return { model: 'USAGE_BASED', metric }
  if (config.default_units || config.on_demand) return { model: 'ONE_OFF' }
  if (config.default_seats_value) return { model: 'PER_SEAT' }
  if (config.billing_in_advance) return { model: isLumpSum(config.pricing_type) ? 'RECURRING' : 'PER_SEAT' }
  return { model: 'USAGE_BASED', metric }
}

/** A price in credits, which was checked before. */
function inCredits(config: PricingItemConfig, { pricing_currency: currency }: CalculatePriceBody): Price {
  if (currency) throw invalid('pricing_currency', 'The price is in credits, not in money; leave pricing_currency out.')
  const reading = parseCreditsPrice(config)
  if (reading.kind === 'fault') throw new Error(`a checked price is refused: ${reading.fault.message}`)
  return { config: reading.price.config, metric: 'NUMBER', creditTypeId: reading.price.creditTypeId }
}

async function requireCreditType(uow: ReadUow, config: PricingItemConfig): Promise<void> {
  const id = creditTypeOf(config)
  if (id === null) return
  const field = `pricing_item_config.${creditsField(config)}`
  const types = await findMany(uow, creditTypeResource, [id])
  if (types.length > 0) return refuseArchived(types, id, field)
  const message = `There is no CREDIT_TYPE ${JSON.stringify(id)}.`
  throw new AppError('RESOURCE_NOT_FOUND', message, { field, resourceType: 'CREDIT_TYPE' })
}

/**
 * The currency to calculate in. A price of percentages, NONE and an amount of choice may name none: it is then that of the
 * schedules it is for, of the money it is tried with, or of the platform. Throws MISSING_FIELD where nothing says one.
 */
async function currencyOf(
  uow: ReadUow,
  { pricing_currency: asked, meter_values: given }: CalculatePriceBody,
  { config, sold }: { readonly config: PricingItemConfig; readonly sold: string | null },
): Promise<string> {
  const tried = given?.find(({ amount }) => amount)?.amount?.currency
  const named = asked ?? currencyOfPrice(config) ?? sold ?? tried
  if (named) return named
  const { default_pricing_currency: usual } = await getOne(uow, platformResource, uow.tenant.platformId)
  if (usual) return usual
  const message = 'Neither the price nor the platform says a currency; give the one to calculate in.'
  throw new AppError('MISSING_FIELD', message, { field: 'pricing_currency' })
}

function read(
  config: PricingItemConfig,
  metric: Metric,
  { currency, field }: { readonly currency: string; readonly field: string },
): Price {
  const reading = parsePriceConfig(config, { metric, currency })
  if (reading.kind === 'ok') return { config: reading.config, metric, creditTypeId: null }
  const path = field === 'pricing_currency' ? field : `${field}.${reading.fault.field}`
  throw invalid(path, reading.fault.message)
}

/** A price that does not depend on usage needs no quantities. */
function quantitiesOf({ config }: Price, { meter_values: given }: CalculatePriceBody): PriceQuantity[] {
  if (given) return given
  if (isLumpSum(config.pricingType)) return [{}]
  throw new AppError('MISSING_FIELD', 'Give the quantities to price in meter_values.', { field: 'meter_values' })
}

function calculate(price: Price, quantity: PriceQuantity, field: string): CalculatedPrice['calculations'][number] {
  const { config } = price
  const metered = volumeOf(price, quantity, field)
  const applied = config.included && applyIncludedVolume(metered, config.included.included)
  const billable = applied?.billable ?? metered
  const fault = findPriceModel(config.pricingType)?.basis === 'chosen' ? flexibleFault(config, metered.quantity) : null
  if (fault) throw invalid(`${field}.number`, fault)
  const model = findPriceModel(config.pricingType)
  if (quantity.tiering_number && (!model?.placed || config.perEvent)) {
    throw invalid(`${field}.tiering_number`, `${config.pricingType} has no tiers that usage is placed on.`)
  }
  if (config.placedBy === 'COUNT' && !quantity.count && !quantity.tiering_number) {
    const message = 'The number of events decides on the tier of this price; give count.'
    throw new AppError('MISSING_FIELD', message, { field: `${field}.count` })
  }
  const rollover = quantity.rollover_number ? decimal(quantity.rollover_number) : ZERO
  if (rollover.lt(ZERO) || (rollover.gt(ZERO) && !model?.settings.includes('rollover'))) {
    throw invalid(`${field}.rollover_number`, `${config.pricingType} carries no such rest over.`)
  }
  const rated = config.perEvent
    ? rateEvents(config, equalEvents(metered, quantity.count, `${field}.count`), metered)
    : rate(config, billable, {
        prior: { rollover },
        ...(quantity.tiering_number ? { position: decimal(quantity.tiering_number) } : {}),
      })
  const { creditTypeId } = price
  const of = { rated, pool: null }
  const bands = rated.charges.map(charge => ({
    band: creditTypeId ? creditBand(bandView(of, charge), creditTypeId) : bandView(of, charge),
    meter_value: viewOf({ ...billable, quantity: charge.units, count: charge.events }),
    ...costOf(price, charge.quantity),
    ...(charge.priceBound ? { price_bound: charge.priceBound } : {}),
    description: describeCharge(charge, creditTypeId ? 'credits' : config.currency),
  }))
  return {
    meter_value: viewOf(metered),
    billable_meter_value: viewOf(billable),
    ...costOf(price, rated.total.quantity),
    ...(creditTypeId ? {} : { rounded_amount: amountView(toMoney(rated.total)) }),
    rollover_number: plain(rated.rollover),
    description: describe(bands, applied?.details ?? null, config.currency),
    bands,
  }
}

/** What is charged, in the money or in the credits of the price. */
const costOf = ({ config: { currency }, creditTypeId }: Price, quantity: Decimal) =>
  creditTypeId
    ? { credits: { quantity: plain(quantity), credit_type_id: creditTypeId } }
    : { amount: amountView({ quantity, currency }) }

/** Where each event is priced on its own, a quantity is that of `count` events of one size; of one event without a count. */
function equalEvents(metered: Volume, count: PriceQuantity['count'], field: string): EqualEvents[] {
  const times = count ? metered.count : ONE
  const events = eventsOfOneSize(metered, times)
  if (events) return events
  const message = `${plain(metered.quantity)} is not ${plain(times)} equal events; give each event as a quantity of its own.`
  throw invalid(field, message)
}

const describe = (
  bands: readonly { readonly description: string }[],
  included: IncludedVolumeDetails | null,
  currency: string,
): string =>
  [bands.map(({ description }) => description).join('; '), ...(included ? includedText(included, currency) : [])]
    .filter(text => text !== '')
    .join(', ')

const viewOf = (volume: Volume) => ({
  ...volumeView(volume.metric, plain(volume.quantity), volume.metric === 'AMOUNT' ? volume.currency : ''),
  count: plain(volume.count),
})

/** Throws INVALID_FIELD or MISSING_FIELD for a quantity of another kind than the price meters. */
function volumeOf({ config, metric }: Price, { number, amount, count }: PriceQuantity, field: string): Volume {
  const events: Decimal = count ? decimal(count) : ZERO
  const wanted = metric === 'AMOUNT' ? 'amount' : 'number'
  const odd = metric === 'AMOUNT' ? 'number' : 'amount'
  if ({ number, amount }[odd]) {
    throw invalid(`${field}.${odd}`, `The price meters ${metric === 'AMOUNT' ? 'money' : 'numbers'}: give ${wanted}.`)
  }
  if (events.lt(ZERO)) throw invalid(`${field}.count`, 'A count of events is 0 or more.')
  if (amount && amount.currency !== config.currency) {
    throw invalid(`${field}.amount.currency`, `The price is in ${config.currency}; give the money in it.`)
  }
  if (amount) return amountVolume(decimal(amount.quantity), config.currency, events)
  if (number) return numberVolume(decimal(number), events)
  if (isLumpSum(config.pricingType) && metric === 'NUMBER') return numberVolume(ONE, events)
  throw new AppError('MISSING_FIELD', `Give ${wanted}.`, { field: `${field}.${wanted}` })
}
