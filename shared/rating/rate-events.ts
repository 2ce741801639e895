// A price that applies to each event on its own (`rate_per: EVENT`): "1.4 %, at least 0.25 and at most 5.00 per payment".
import { type Decimal, decimalOfInteger, ONE, sum, ZERO } from '../decimal.ts'
import { amount } from '../money.ts'
import type { BandCharge, Piece, Volume } from './price.ts'
import { type PriceConfig, type RatedPrice, rate } from './rate.ts'

/** Events of the same size: one of them, and how many there are. */
export type EqualEvents = { readonly each: Volume; readonly times: Decimal }

/** Whether each event is priced on its own, or the usage of a pricing period together. */
export const RATE_PERS = ['PERIOD', 'EVENT'] as const
export type RatePer = (typeof RATE_PERS)[number]

/** One event with this quantity. */
export const oneEvent = (of: Volume, quantity: Decimal): Volume => ({ ...of, quantity, count: ONE })

/** So many events of one size that together have this volume; null when there are none such. */
export function eventsOfOneSize(of: Volume, times: Decimal): EqualEvents[] | null {
  if (times.eq(ZERO)) return of.quantity.eq(ZERO) ? [] : null
  const each = of.quantity.div(times)
  const areWhole = times.eq(times.round(0, 0)) && each.times(times).eq(of.quantity)
  return areWhole ? [{ each: oneEvent(of, each), times }] : null
}

/**
 * Rates each event alone and adds them up: tiers, fees and limits apply to each event. Exact, and independent of the
 * order of the events. The charges are those of each band, apart for each limit that applied. `none` is the volume of
 * no events, in the unit of the price.
 */
export function rateEvents(config: PriceConfig, events: readonly EqualEvents[], none: Volume): RatedPrice {
  const together = new Map<string, BandCharge>()
  for (const { each, times } of events) {
    for (const charge of rate(config, each).charges) {
      const key = `${charge.bandIndex} ${charge.priceBound ?? ''}`
      const known = together.get(key)
      const own = timesCharge(charge, times)
      together.set(key, known ? addCharges(known, own) : own)
    }
  }
  const charges = [...together].sort(byBandAndBound).map(([, charge]) => charge)
  return {
    pricingType: config.pricingType,
    volume: {
      ...none,
      quantity: sum(events.map(({ each, times }) => each.quantity.times(times))),
      count: sum(events.map(({ times }) => times)),
    },
    charges,
    total: amount(sum(charges.map(({ quantity }) => quantity)), config.currency),
    rollover: decimalOfInteger(0),
  }
}

function byBandAndBound([a, left]: [string, BandCharge], [b, right]: [string, BandCharge]): number {
  return left.bandIndex - right.bandIndex || (a < b ? -1 : 1)
}

const timesCharge = (charge: BandCharge, times: Decimal): BandCharge => ({
  ...charge,
  units: charge.units.times(times),
  events: times,
  pieces: charge.pieces.map(piece => timesPiece(piece, times)),
  quantity: charge.quantity.times(times),
})

function timesPiece(piece: Piece, times: Decimal): Piece {
  const quantity = piece.quantity.times(times)
  switch (piece.kind) {
    case 'FEE':
      return { kind: 'FEES', quantity, fee: piece.quantity, times }
    case 'FEES':
      return { ...piece, quantity, times: piece.times.times(times) }
    case 'UNITS':
      return { ...piece, quantity, units: piece.units.times(times) }
    case 'BLOCKS':
      return { ...piece, quantity, blocks: piece.blocks.times(times) }
    case 'PASSED':
      return { ...piece, quantity }
    case 'PERCENTAGE':
      return { ...piece, quantity, base: piece.base.times(times) }
    case 'EVENTS':
      return { ...piece, quantity, events: piece.events.times(times) }
    case 'BOUND':
      return { ...piece, quantity, times }
  }
}

/** Two charges of one band under one limit have the same terms. */
const addCharges = (a: BandCharge, b: BandCharge): BandCharge => ({
  ...a,
  units: a.units.plus(b.units),
  events: a.events.plus(b.events),
  pieces: a.pieces.map((piece, index) => addPieces(piece, b.pieces[index])),
  quantity: a.quantity.plus(b.quantity),
})

function addPieces(a: Piece, b: Piece | undefined): Piece {
  if (b === undefined || a.kind !== b.kind) throw new Error(`terms of one band differ: ${a.kind} and ${b?.kind}`)
  const quantity = a.quantity.plus(b.quantity)
  if (a.kind === 'FEES' && b.kind === 'FEES') return { ...a, quantity, times: a.times.plus(b.times) }
  if (a.kind === 'UNITS' && b.kind === 'UNITS') return { ...a, quantity, units: a.units.plus(b.units) }
  if (a.kind === 'BLOCKS' && b.kind === 'BLOCKS') return { ...a, quantity, blocks: a.blocks.plus(b.blocks) }
  if (a.kind === 'PERCENTAGE' && b.kind === 'PERCENTAGE') return { ...a, quantity, base: a.base.plus(b.base) }
  if (a.kind === 'EVENTS' && b.kind === 'EVENTS') return { ...a, quantity, events: a.events.plus(b.events) }
  if (a.kind === 'BOUND' && b.kind === 'BOUND') return { ...a, quantity, times: (a.times ?? ONE).plus(b.times ?? ONE) }
  return { ...a, quantity }
}
