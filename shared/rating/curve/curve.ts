// The curve of a price: straight pieces between the quantities where it steps or bends, exact, so that a chart can draw
// them as they are. One price is no line between such quantities: there the ends of the pieces are exact (`isBent`).
import { type Decimal, decimal, ZERO } from '../../decimal.ts'
import type { BlockRounding } from '../block-rounding.ts'
import { amountVolume, type BandCharge, numberVolume, type PriceBound, type Volume } from '../price.ts'
import { findPriceModel, type PriceConfig, rate } from '../rate.ts'
import { type CurveOf, inParts, placesOf } from './curve-places.ts'

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

const HALF = decimal('0.5')
const TWO = decimal('2')

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
  const found = placesOf(config, { end, money, count })
  if (found === null) return null
  const bent = isBent(config, { money, count })
  const places = bent ? inParts(found) : found
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
    const { charges, first, end } = bent ? atEnds(config, [from, to], at) : inside(config, [from, to], at)
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

/**
 * Whether tiers of money share the events. Each has a part of them as large as its part of the money, and that part is no linear function of
 * the money: seven events at 1.00 up to 10 and at 5.00 beyond cost 7 x 10 / q x 1.00 + 7 x (q - 10) / q x 5.00.
 */
const isBent = (config: PriceConfig, { money, count }: { readonly money: boolean; readonly count: Decimal }): boolean =>
  money &&
  count.gt(ZERO) &&
  config.placedBy !== 'COUNT' &&
  config.bands.length > 1 &&
  findPriceModel(config.pricingType)?.slices === true &&
  isByEvents(config)

/** So far inside of a piece its charge is that of its end, to SAME_DECIMALS. */
const NEARLY = decimal('1e-25')

/** How a piece begins and ends where it is no line: what is charged just beside its ends. */
function atEnds({ blockRounding }: PriceConfig, [from, to]: readonly [Decimal, Decimal], at: At) {
  const near = (quantity: Decimal): Decimal => at(quantity).charge.round(SAME_DECIMALS)
  return {
    charges: at(from.plus(to).times(HALF)).charges,
    first: near(from.plus(NEARLY)),
    end: near(endsBefore(blockRounding) ? to.minus(NEARLY) : to),
  }
}

/** A part that is rounded down costs a block once it is whole, so the end of the piece is charged like the next one. */
const endsBefore = (rounding: BlockRounding): boolean => rounding === 'DOWN' || rounding === 'HALF_UP'

type At = (quantity: Decimal) => { readonly charge: Decimal; readonly charges: readonly BandCharge[] }

/** How a piece begins and ends. The charge is linear in between, so either follows from two places of it. */
function inside({ blockRounding }: PriceConfig, [from, to]: readonly [Decimal, Decimal], at: At) {
  const middle = from.plus(to).times(HALF)
  const { charge, charges } = at(middle)
  const half = endsBefore(blockRounding)
    ? at(middle.plus(to).times(HALF)).charge.minus(charge).times(TWO)
    : at(to).charge.minus(charge)
  return { charges, first: charge.minus(half), end: charge.plus(half) }
}

const rise = ({ from, to }: CurvePiece): readonly [Decimal, Decimal] => [
  to.charge.minus(from.charge),
  to.quantity.minus(from.quantity),
]

/** A charge of tiers that share usage is a quotient, as is a place where a limit begins: a decimal holds either only nearly. */
const SAME_DECIMALS = 20
const isSame = (a: Decimal, b: Decimal): boolean => a.minus(b).round(SAME_DECIMALS).eq(ZERO)

function isOneLine(a: CurvePiece, b: CurvePiece): boolean {
  if (b.steps || a.bands.join() !== b.bands.join() || a.bounds.join() !== b.bounds.join()) return false
  const [[up, over], [nextUp, nextOver]] = [rise(a), rise(b)]
  return isSame(up.times(nextOver), nextUp.times(over))
}
