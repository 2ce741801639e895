// Where the curve of a price may step or bend.
import { type Decimal, decimal, decimalOfInteger, HUNDRED, max, min, ONE, sum, ZERO } from '../../decimal.ts'
import { type BlockRounding, roundedBlocks } from '../block-rounding.ts'
import type { Band } from '../price.ts'
import { findPriceModel, type PriceConfig } from '../rate.ts'

/** A curve with more places where the price may step or bend is refused: no reader could tell them apart. */
export const CURVE_PLACES_MAX = 2_000
/** Some of the places that are looked at are found twice, or turn out to be none. */
const FOUND_MAX = 3 * CURVE_PLACES_MAX
/** A place where a limit begins is a quotient, which a decimal holds only nearly. */
const PLACE_DECIMALS = 30
const HALF = decimal('0.5')

/** Default end of the curve: one and a half times the last bound, or ten blocks; no further than its steps can be distinguished. */
export function curveEnd(config: PriceConfig, money = false): Decimal {
  const { bands } = config
  const last = bands.reduce((far, { topBound }) => max(far, topBound ?? ZERO), ZERO)
  const block = bands.reduce((wide, { blockSize }) => max(wide, blockSize), ONE)
  const end = max(config.placedBy === 'COUNT' ? ZERO : last.times(decimal('1.5')), block.times(decimal('10')))
  return stepsOf(config, money).reduce((near, { size, from }) => {
    const far = from.plus(size.times(decimalOfInteger(CURVE_PLACES_MAX)))
    return near.lte(far) ? near : far
  }, end)
}

type Steps = {
  readonly size: Decimal
  readonly from: Decimal
  readonly to?: Decimal | null
  /** The band whose blocks are rounded, and where they begin. */
  readonly rounded?: { readonly band: Band; readonly floor: Decimal }
}

/** The sizes of the whole blocks that a price sells, and from where on it sells them. */
function stepsOf(config: PriceConfig, money: boolean): Steps[] {
  const { bands, pricingType, blockRounding } = config
  const model = findPriceModel(pricingType)
  if (blockRounding !== 'NONE') return roundedSteps(config, money)
  const [last, before] = [bands.at(-1), bands.at(-2)]
  if (!model?.wholeBlocks || !last) return []
  if (model.basis !== 'lump') return [{ size: last.blockSize, from: ZERO }]
  // Steps end at their bounds; beyond the last one, each is as wide as its block, or as the step before it.
  const from = before?.topBound ?? ZERO
  const width = from.minus(bands.at(-3)?.topBound ?? ZERO)
  return [{ size: last.blockOf === null && width.gt(ZERO) ? width : last.blockSize, from }]
}

/** Where blocks are rounded: at the end of each, or at its half. A tier that takes its own part has its own blocks. */
function roundedSteps({ bands, pricingType, blockRounding }: PriceConfig, money: boolean): Steps[] {
  const slices = findPriceModel(pricingType)?.slices === true
  return bands.flatMap((band, index) => {
    const { amount, blockSize: size, blockOf, topBound } = band
    const floor = (slices ? bands[index - 1]?.topBound : null) ?? ZERO
    // Blocks of events do not step where the money does.
    if (amount === null || (money && blockOf !== 'MONEY')) return []
    const from = blockRounding === 'HALF_UP' ? floor.minus(size.times(HALF)) : floor
    return [{ size, from, to: slices ? topBound : null, rounded: { band, floor } }]
  })
}

export type CurveOf = { readonly end: Decimal; readonly money: boolean; readonly count?: Decimal }

/** Every quantity where the price may step or bend, in order, including 0 and the end. */
export function placesOf(config: PriceConfig, { end, money, count = ZERO }: CurveOf): Decimal[] | null {
  if (config.placedBy === 'COUNT') return inOrder(bendsByCount(config, count), end)
  // Counted before any is made: where there are too many, it takes no time to say so.
  const steps = stepsOf(config, money).map(each => ({ ...each, blocks: blocksUntil(each, end) }))
  const most = steps.reduce((many, { blocks }) => max(many, blocks), ZERO)
  if (most.gt(decimalOfInteger(CURVE_PLACES_MAX))) return null
  if (sum(steps.map(({ blocks }) => blocks)).gt(decimalOfInteger(FOUND_MAX))) return null
  const found: Decimal[] = []
  for (const { size, from, blocks, rounded } of steps) {
    for (let place = from, many = ONE; many.lte(blocks); many = many.plus(ONE)) {
      place = place.plus(size)
      found.push(place)
    }
    if (rounded) found.push(...bendsOfBlocks(rounded.band, blocks).map(units => rounded.floor.plus(units)))
  }
  let floor = ZERO
  for (const band of config.bands) {
    found.push(...bendsOf(band, config.blockRounding, count).flatMap(units => [units, floor.plus(units)]))
    if (band.topBound) found.push(band.topBound)
    floor = band.topBound ?? floor
  }
  return inOrder(found, end)
}

/**
 * Each band that the events reach has its part of any quantity, so its limits hold from a multiple of where they would alone. Where one
 * band prices all of it, as in TOP_TIERED, they hold from where all events are its own.
 */
function bendsByCount({ bands, blockRounding }: PriceConfig, count: Decimal): Decimal[] {
  let floor = ZERO
  return bands.flatMap(band => {
    const reached = band.topBound?.lt(count) ? band.topBound : count
    const part = reached.minus(floor)
    floor = band.topBound ?? floor
    const bends = bendsOf(band, blockRounding, part)
    const shared = part.gt(ZERO) ? bends.map(units => units.times(count).div(part).round(PLACE_DECIMALS)) : []
    return [...bends, ...shared, ...bendsOf(band, blockRounding, count)]
  })
}

function inOrder(found: readonly Decimal[], end: Decimal): Decimal[] | null {
  const inside = [...found, end].filter(place => place.gt(ZERO) && place.lte(end))
  if (inside.length > FOUND_MAX) return null
  const sorted = inside.sort((a, b) => a.cmp(b))
  return [ZERO, ...sorted.filter((place, index) => index === 0 || !place.eq(sorted[index - 1] ?? ZERO))]
}

/** Quantities of a band at which its limits start or stop to apply. */
function bendsOf(band: Band, rounding: BlockRounding, count: Decimal): Decimal[] {
  const { amount, percentage, fixedAmount, blockSize, blockOf } = band
  const bends = [band.minimumNumber, band.maximumNumber].filter(limit => limit !== null)
  const perMoney = amount && blockOf === 'MONEY' ? amount : null
  const perEvent = amount && perMoney === null ? priceOfEvents(amount, band, { rounding, count }) : ZERO
  const slopes = [
    ...(perMoney && percentage
      ? [
          {
            price: percentage.times(blockSize).plus(perMoney.times(HUNDRED)),
            blockSize: blockSize.times(HUNDRED),
            fixed: fixedAmount ?? ZERO,
          },
        ]
      : []),
    ...(amount ? [{ price: amount, blockSize, fixed: fixedAmount ?? ZERO }] : []),
    ...(percentage
      ? [
          {
            price: percentage,
            blockSize: HUNDRED,
            fixed: (fixedAmount ?? ZERO).plus(perEvent),
          },
          // The price is charged on top of the metered money itself.
          { price: percentage.plus(HUNDRED), blockSize: HUNDRED, fixed: ZERO },
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

function priceOfEvents(amount: Decimal, { blockSize }: Band, of: { rounding: BlockRounding; count: Decimal }): Decimal {
  const { rounding, count } = of
  return rounding === 'NONE'
    ? amount.times(count).div(blockSize)
    : amount.times(roundedBlocks(count, blockSize, rounding))
}

/** The same where a percentage of the money is charged beside each of so many whole blocks of it. */
function bendsOfBlocks(band: Band, most: Decimal): Decimal[] {
  const { amount, percentage, blockSize, blockOf, minimumAmount, maximumAmount } = band
  if (blockOf !== 'MONEY' || amount === null || percentage === null || percentage.eq(ZERO)) return []
  const limits = [minimumAmount, maximumAmount].filter(limit => limit !== null)
  const bends: Decimal[] = []
  // One more is begun than is whole.
  for (let blocks = ZERO; limits.length > 0 && blocks.lte(most.plus(ONE)); blocks = blocks.plus(ONE)) {
    const charged = (band.fixedAmount ?? ZERO).plus(amount.times(blocks))
    const whole = percentage.times(blocks.times(blockSize))
    for (const limit of limits) {
      const left = limit.minus(charged).times(HUNDRED)
      // Further off than a block, another number of blocks is charged.
      if (left.minus(whole).abs().lte(percentage.times(blockSize).abs())) bends.push(left.div(percentage))
    }
  }
  return bends
}

/** How many whole blocks end up to there. */
function blocksUntil({ size, from, to }: Steps, until: Decimal): Decimal {
  const blocks = (to ? min(to, until) : until).minus(from).div(size)
  return blocks.lt(ZERO) ? ZERO : blocks.round(0, 0)
}

const PARTS_MAX = 8

/** Between any two places as many more, at equal distances, as keep a curve within CURVE_PLACES_MAX. */
export function inParts(places: readonly Decimal[]): Decimal[] {
  const parts = Math.min(PARTS_MAX, Math.floor(CURVE_PLACES_MAX / places.length))
  if (parts < 2) return [...places]
  return places.flatMap((to, index) => {
    const from = places[index - 1]
    if (!from) return [to]
    const step = to.minus(from).div(decimalOfInteger(parts))
    const between = Array.from({ length: parts - 1 }, (_, part) => from.plus(step.times(decimalOfInteger(part + 1))))
    return [...between.map(place => place.round(PLACE_DECIMALS)), to]
  })
}
