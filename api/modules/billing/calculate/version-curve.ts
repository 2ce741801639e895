// GET /v1/pricing-plan-versions/{id}/curve: every price of a version as straight pieces that a chart can draw.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal, ONE, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { amountView } from '../../../../shared/money.ts'
import { inTurns } from '../../../../shared/process/in-turns.ts'
import { creditTypeOf, isInCredits, parseCreditsPrice } from '../../../../shared/rating/credits.ts'
import { type CurvePoint, drawCurve } from '../../../../shared/rating/curve/curve.ts'
import { CURVE_PLACES_MAX, curveEnd } from '../../../../shared/rating/curve/curve-places.ts'
import { currencyOfPrice, parsePriceConfig } from '../../../../shared/rating/parse/parse-price-config.ts'
import type { PriceConfig } from '../../../../shared/rating/rate.ts'
import { getOne } from '../../../resource/store.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { settingsShown } from '../../catalog/pricing-plans/variants/settings.ts'
import { pricingsOf } from '../../catalog/pricing-plans/version-pricings.ts'
import { configsOf, type PricedConfig } from './priced-config.ts'
import type { VersionCurve } from './schema.ts'

type Query = { readonly to?: string; readonly count?: string; readonly pricing_item_config_id?: string }

/**
 * Throws RESOURCE_NOT_FOUND for an unknown version or for a price that the version does not have. Throws INVALID_FIELD
 * for an end that is not above 0, or with more blocks before it than a chart shows.
 */
export async function versionCurve(uow: ReadUow, id: string, query: Query): Promise<VersionCurve> {
  const version = await getOne(uow, pricingPlanVersionResource, id)
  const pricings = await pricingsOf(uow, [version.id])
  const all = await configsOf(uow, pricings)
  const { pricing_item_config_id: only } = query
  const wanted = only === undefined ? all : all.filter(({ config }) => config.id === only)
  if (only !== undefined && wanted.length === 0) {
    throw new AppError('RESOURCE_NOT_FOUND', `The version has no price ${JSON.stringify(only)}.`, {
      field: 'pricing_item_config_id',
    })
  }
  const curves: VersionCurve['curves'] = []
  const items = pricings.flatMap(pricing => pricing.items)
  const usual = settingsShown(version, items).pricing_currency_settings?.default_pricing_currency ?? null
  for (const priced of wanted) curves.push(await curveOf(priced, query, usual))
  return {
    object_type: 'PRICING_PLAN_VERSION_CURVE',
    pricing_plan_version_id: version.id,
    curves,
  }
}

/** A price that names no currency is drawn in the `usual` one, that of its version. */
async function curveOf(
  priced: PricedConfig,
  { to, count }: Query,
  usual: string | null,
): Promise<VersionCurve['curves'][number]> {
  const { config, metric, productItem } = priced
  const creditTypeId = creditTypeOf(config)
  const price = priceOf(priced, usual)
  const end = to === undefined ? curveEnd(price, metric === 'AMOUNT') : decimal(to)
  if (end.lte(ZERO)) throw new AppError('INVALID_FIELD', 'The end of a curve is above 0.', { field: 'to' })
  const events = decimal(count ?? '0')
  if (events.lt(ZERO)) throw new AppError('INVALID_FIELD', 'A count of events is 0 or more.', { field: 'count' })
  // Where each event is priced on its own, the curve is that of one event, whatever its size.
  const drawing = drawCurve(price, { end, money: metric === 'AMOUNT', count: price.perEvent ? ONE : events })
  const pieces = await inTurns(drawing)
  if (!pieces) {
    const message = `Up to ${plain(end)} the price ${config.id} has more than ${CURVE_PLACES_MAX} blocks; choose a lower end.`
    throw new AppError('INVALID_FIELD', message, { field: 'to' })
  }
  const point = pointOf(price, { money: metric === 'AMOUNT', creditTypeId })
  return {
    pricing_id: priced.pricingId,
    pricing_item_id: priced.itemId,
    pricing_item_config_id: config.id,
    product_item_id: productItem.id,
    name: productItem.name,
    pricing_type: config.pricing_type,
    ...(creditTypeId ? { credit_type_id: creditTypeId } : { pricing_currency: price.currency }),
    pieces: pieces.map(piece => ({
      from: point(piece.from),
      to: point(piece.to),
      kind: piece.steps ? 'STEP' : 'LINE',
      bands: [...piece.bands],
      price_bounds: [...piece.bounds],
    })),
  }
}

/** The price as it is rated; one in credits in its credits. */
function priceOf({ config, metric, currency: sold }: PricedConfig, usual: string | null): PriceConfig {
  if (isInCredits(config)) {
    const reading = parseCreditsPrice(config)
    if (reading.kind === 'ok') return reading.price.config
    throw new Error(`a stored price is refused: ${reading.fault.message}`)
  }
  const currency = currencyOfPrice(config) ?? sold ?? usual
  const reading = parsePriceConfig(config, { metric, ...(currency === null ? {} : { currency }) })
  if (reading.kind === 'ok') return reading.config
  throw new Error(`a stored price is refused: ${reading.fault.message}`)
}

const pointOf =
  (
    { currency }: PriceConfig,
    { money, creditTypeId }: { readonly money: boolean; readonly creditTypeId: string | null },
  ) =>
  ({ quantity, charge }: CurvePoint) => ({
    ...(money ? { amount: amountView({ quantity, currency }) } : { number: plain(quantity) }),
    ...(creditTypeId
      ? { credits: { quantity: plain(charge), credit_type_id: creditTypeId } }
      : { charge: amountView({ quantity: charge, currency }) }),
  })
