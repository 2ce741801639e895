// The curve of a price: straight pieces between the quantities where it steps or bends, exact, so that a chart can draw
// them as they are.
import { type Decimal, decimal, decimalOfInteger, HUNDRED, max, min, ONE, sum, ZERO } from '../decimal.ts'
import { type BlockRounding, roundedBlocks } from './block-rounding.ts'
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
/** Some of the places that are looked at are found twice, or turn out to be none. */
const FOUND_MAX = 3 * CURVE_PLACES_MAX
const HALF = decimal('0.5')
const TWO = decimal('2')

/** Default end of the curve: one and a half times the last bound, or ten blocks; no further than its steps can be told apart. */
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

/**
 * What the price charges for every quantity from 0 to `end`, with `count` events where money is metered. Null when the
 * price steps at more than CURVE_PLACES_MAX places.
 */
export function priceCurve(config: PriceConfig, of: CurveOf): CurvePiece[] | null {
  const drawing = drawCurve(config, of)
  for (;;) {
    const { done, value } = drawing.next()
    if (done) return value
  }
}

/** Of 200 tiers, so many take some 10 ms. */
const PLACES_A_TURN = 20

/** The same for a caller that has other work: it pauses at the first place, and after every few more. */
export function* drawCurve(
  config: PriceConfig,
  { end, money, count = ZERO }: CurveOf,
): Generator<undefined, CurvePiece[] | null> {
  const places = placesOf(config, { end, money, count })
  if (places === null) return null
  const events = isByEvents(config) ? count : ZERO
  const at: At = quantity => {
    const volume: Volume = money ? amountVolume(quantity, config.currency, events) : numberVolume(quantity, events)
    const { total, charges } = rate(config, volume)
    return { charge: total.quantity, charges }
  }
  const pieces: CurvePiece[] = []
  for (const [index, to] of places.entries()) {
    if (index % PLACES_A_TURN === 0) yield
    const from = places[index - 1]
    if (!from) continue
    const { charges, first, end } = inside(config, [from, to], at)
    const before = pieces.at(-1)?.to.charge ?? at(from).charge
    const own = {
      from: { quantity: from, charge: first },
      to: { quantity: to, charge: end },
      steps: !isSame(first, before),
      bands: charges.map(({ bandIndex }) => bandIndex),
      bounds: [...new Set(charges.flatMap(({ priceBound }) => priceBound ?? []))],
    }
    const last = pieces.at(-1)
    if (last && isOneLine(last, own)) pieces[pieces.length - 1] = { ...last, to: own.to }
    else pieces.push(own)
  }
  return pieces
}

/** Whether the number of events says anything about the charge. Without them, tiers that are used up are charged only once. */
const isByEvents = ({ bands, placedBy }: PriceConfig): boolean =>
  placedBy === 'COUNT' || bands.some(({ amount, blockOf }) => amount !== null && blockOf !== 'MONEY')

type At = (quantity: Decimal) => { readonly charge: Decimal; readonly charges: readonly BandCharge[] }

/** How a piece begins and ends. The charge is linear in between, so either follows from two places of it. */
function inside({ blockRounding }: PriceConfig, [from, to]: readonly [Decimal, Decimal], at: At) {
  const middle = from.plus(to).times(HALF)
  const { charge, charges } = at(middle)
  // A part that is rounded down costs a block once it is whole, so the end of the piece is charged like the next one.
  const endsBefore = blockRounding === 'DOWN' || blockRounding === 'HALF_UP'
  const half = endsBefore
    ? at(middle.plus(to).times(HALF)).charge.minus(charge).times(TWO)
    : at(to).charge.minus(charge)
  return { charges, first: charge.minus(half), end: charge.plus(half) }
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
function placesOf(config: PriceConfig, { end, money, count = ZERO }: CurveOf): Decimal[] | null {
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
