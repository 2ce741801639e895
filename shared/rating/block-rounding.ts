// Whole blocks: how many of them usage takes, and what becomes of a part of one.
import { type Decimal, decimal, ONE, ZERO } from '../decimal.ts'

/** NONE: a part costs its share. UP: a whole block. DOWN: nothing. HALF_UP: a whole block from its half on. */
export const BLOCK_ROUNDINGS = ['NONE', 'UP', 'DOWN', 'HALF_UP'] as const
export type BlockRounding = (typeof BLOCK_ROUNDINGS)[number]

const TWO = decimal('2')

/** How many blocks are used up. */
function fullBlocks(units: Decimal, blockSize: Decimal): Decimal {
  // Multiply back to check: a division without a finite decimal result keeps only 40 places.
  const whole = units.div(blockSize).round(0, 0)
  return whole.times(blockSize).gt(units) ? whole.minus(ONE) : whole
}

/** How many whole blocks cover `units`; zero blocks for zero units. */
export function blocksOf(units: Decimal, blockSize: Decimal): Decimal {
  if (units.lte(ZERO)) return ZERO
  const full = fullBlocks(units, blockSize)
  return full.times(blockSize).eq(units) ? full : full.plus(ONE)
}

/** The whole blocks that are charged. What was charged is credited alike, so a part below 0 is rounded like one above. */
export function roundedBlocks(units: Decimal, blockSize: Decimal, rounding: 'UP' | 'DOWN' | 'HALF_UP'): Decimal {
  if (units.lt(ZERO)) return ZERO.minus(roundedBlocks(ZERO.minus(units), blockSize, rounding))
  if (rounding === 'UP') return blocksOf(units, blockSize)
  const full = fullBlocks(units, blockSize)
  const rest = units.minus(full.times(blockSize))
  return rounding === 'HALF_UP' && rest.times(TWO).gte(blockSize) ? full.plus(ONE) : full
}
