// The curve of a price: straight pieces between the quantities where it steps or bends, exact, so that a chart can draw
// them as they are.
import { type Decimal, decimal, decimalOfInteger, max, ONE, ZERO } from '../decimal.ts'
import { amountVolume, type Band, type BandCharge, numberVolume, type PriceBound, type Volume } from './price.ts'
import { findPriceModel, type PriceConfig, rate } from './rate.ts'

/** A straight piece: the charge is linear from `from` (just beyond it, except for the first piece) to `to`. */
export type CurvePiece = {
  readonly from: CurvePoint
  readonly to: CurvePoint
  /** True for a step: the charge at `from` differs from the charge that the piece starts with. */
  readonly steps: boolean
  /** The bands that charge in this piece, and the limits that apply in it. */
  readonly bands: readonly number[]
  readonly bounds: readonly PriceBound[]
}
export type CurvePoint = { readonly quantity: Decimal; readonly charge: Decimal }

/** A curve with more places where the price may step or bend is refused: no reader could tell them apart. */
export const CURVE_PLACES_MAX = 2_000
const HALF = decimal('0.5')

/** Default end of the curve: one and a half times the last bound, or ten blocks; no further than its steps can be told apart. */
export function curveEnd(config: PriceConfig): Decimal {
  const { bands } = config
  const last = bands.reduce((far, { topBound }) => max(far, topBound ?? ZERO), ZERO)
  const block = bands.reduce((wide, { blockSize }) => max(wide, blockSize), ONE)
  const end = max(config.placedBy === 'COUNT' ? ZERO : last.times(decimal('1.5')), block.times(decimal('10')))
  return stepsOf(config).reduce((near, { size, from }) => {
    const far = from.plus(size.times(decimalOfInteger(CURVE_PLACES_MAX)))
    return near.lte(far) ? near : far
  }, end)
}

/** The sizes of the whole blocks that a price sells, and from where on it sells them. */
function stepsOf({ bands, pricingType }: PriceConfig): { readonly size: Decimal; readonly from: Decimal }[] {
  const model = findPriceModel(pricingType)
  const [last, before] = [bands.at(-1), bands.at(-2)]
  if (!model?.wholeBlocks || !last) return []
  if (model.basis !== 'lump') return [{ size: last.blockSize, from: ZERO }]
  // Steps end at their bounds; beyond the last one, each is as wide as its block, or as the step before it.
  const from = before?.topBound ?? ZERO
  const width = from.minus(bands.at(-3)?.topBound ?? ZERO)
  return [{ size: last.blockOf === null && width.gt(ZERO) ? width : last.blockSize, from }]
}

/**
 * What the price charges for every quantity from 0 to `end`, with `count` events where money is metered. Null when the
 * price steps at more than CURVE_PLACES_MAX places.
 */
export function priceCurve(config: PriceConfig, { end, money, count = ZERO }: CurveOf): CurvePiece[] | null {
  const places = placesOf(config, end, count)
  if (places === null) return null
  const at = (quantity: Decimal): { charge: Decimal; charges: readonly BandCharge[] } => {
    const volume: Volume = money ? amountVolume(quantity, config.currency, count) : numberVolume(quantity, count)
    const { total, charges } = rate(config, volume)
    return { charge: total.quantity, charges }
  }
  const pieces: CurvePiece[] = []
  for (const [index, to] of places.entries()) {
    const from = places[index - 1]
    if (!from) continue
    const [start, end] = [at(from).charge, at(to).charge]
    const { charge, charges } = at(from.plus(to).times(HALF))
    // The charge is linear in between, so its start follows from the middle and the end.
    const first = charge.times(decimal('2')).minus(end)
    const own = {
      from: { quantity: from, charge: first },
      to: { quantity: to, charge: end },
      steps: !isSame(first, start),
      bands: charges.map(({ bandIndex }) => bandIndex),
      bounds: [...new Set(charges.flatMap(({ priceBound }) => priceBound ?? []))],
    }
    const last = pieces.at(-1)
    if (last && isOneLine(last, own)) pieces[pieces.length - 1] = { ...last, to: own.to }
    else pieces.push(own)
  }
  return pieces
}

export type CurveOf = { readonly end: Decimal; readonly money: boolean; readonly count?: Decimal }

const rise = ({ from, to }: CurvePiece): readonly [Decimal, Decimal] => [
  to.charge.minus(from.charge),
  to.quantity.minus(from.quantity),
]

/** A place where a limit begins is a quotient, as is a charge of tiers that share usage: a decimal holds either only nearly. */
const PLACE_DECIMALS = 30
const SAME_DECIMALS = 20
const isSame = (a: Decimal, b: Decimal): boolean => a.minus(b).round(SAME_DECIMALS).eq(ZERO)

function isOneLine(a: CurvePiece, b: CurvePiece): boolean {
  if (b.steps || a.bands.join() !== b.bands.join() || a.bounds.join() !== b.bounds.join()) return false
  const [[up, over], [nextUp, nextOver]] = [rise(a), rise(b)]
  return isSame(up.times(nextOver), nextUp.times(over))
}

/** Every quantity where the price may step or bend, in order, including 0 and the end. */
function placesOf(config: PriceConfig, end: Decimal, count: Decimal): Decimal[] | null {
  if (config.placedBy === 'COUNT') return inOrder(bendsByCount(config, count), end)
  const found: Decimal[] = []
  let floor = ZERO
  for (const band of config.bands) {
    const inBand = bendsOf(band, count).flatMap(units => [units, floor.plus(units)])
    found.push(...inBand, ...(band.topBound ? [band.topBound] : []))
    floor = band.topBound ?? floor
  }
  for (const steps of stepsOf(config)) {
    const ends = blockEnds(steps, end)
    if (!ends) return null
    found.push(...ends)
  }
  return inOrder(found, end)
}

/** Each band that the events reach has its part of any quantity, so its limits hold from a multiple of where they would alone. */
function bendsByCount({ bands }: PriceConfig, count: Decimal): Decimal[] {
  let floor = ZERO
  return bands.flatMap(band => {
    const reached = band.topBound?.lt(count) ? band.topBound : count
    const part = reached.minus(floor)
    floor = band.topBound ?? floor
    const bends = bendsOf(band, part)
    return part.gt(ZERO) ? [...bends, ...bends.map(units => units.times(count).div(part).round(PLACE_DECIMALS))] : bends
  })
}

function inOrder(found: readonly Decimal[], end: Decimal): Decimal[] | null {
  const inside = [...found, end].filter(place => place.gt(ZERO) && place.lte(end))
  if (inside.length > 3 * CURVE_PLACES_MAX) return null
  const sorted = inside.sort((a, b) => a.cmp(b))
  return [ZERO, ...sorted.filter((place, index) => index === 0 || !place.eq(sorted[index - 1] ?? ZERO))]
}

/** Quantities of a band at which its limits start or stop to apply. */
function bendsOf(band: Band, count: Decimal): Decimal[] {
  const { amount, percentage, fixedAmount, blockSize, blockOf } = band
  const bends = [band.minimumNumber, band.maximumNumber].filter(limit => limit !== null)
  const hundred = decimal('100')
  const perMoney = amount && blockOf === 'MONEY' ? amount : null
  const perEvent = amount && perMoney === null ? amount.times(count).div(blockSize) : ZERO
  const slopes = [
    ...(perMoney && percentage
      ? [
          {
            price: percentage.times(blockSize).plus(perMoney.times(hundred)),
            blockSize: blockSize.times(hundred),
            fixed: fixedAmount ?? ZERO,
          },
        ]
      : []),
    ...(amount ? [{ price: amount, blockSize, fixed: fixedAmount ?? ZERO }] : []),
    ...(percentage
      ? [
          {
            price: percentage,
            blockSize: hundred,
            fixed: (fixedAmount ?? ZERO).plus(perEvent),
          },
          // The price is charged on top of the metered money itself.
          { price: percentage.plus(hundred), blockSize: hundred, fixed: ZERO },
        ]
      : [{ price: ONE, blockSize: ONE, fixed: ZERO }]),
  ]
  for (const limit of [band.minimumAmount, band.maximumAmount]) {
    if (!limit) continue
    for (const { price, blockSize: size, fixed } of slopes) {
      if (!price.eq(ZERO)) bends.push(limit.minus(fixed).times(size).div(price))
    }
  }
  return bends
}

/** The ends of whole blocks; null when there are too many. */
function blockEnds({ size, from }: { readonly size: Decimal; readonly from: Decimal }, end: Decimal): Decimal[] | null {
  const blocks = end.minus(from).div(size)
  if (blocks.gt(decimalOfInteger(CURVE_PLACES_MAX))) return null
  const ends: Decimal[] = []
  for (let place = from.plus(size); place.lte(end); place = place.plus(size)) ends.push(place)
  return ends
}
