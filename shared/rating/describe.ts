// Describes in words how a charge came about, one fragment for each piece, for the description in price details.
import { ONE, plain } from '../decimal.ts'
import type { BandCharge, Piece } from './price.ts'

const BOUND_NAMES = {
  MINIMUM_NUMBER: 'minimum number',
  MAXIMUM_NUMBER: 'maximum number',
  MINIMUM_AMOUNT: 'minimum amount',
  MAXIMUM_AMOUNT: 'maximum amount',
} as const

/** One term in words: `2 × 0.1 EUR`, `3450 ÷ 1000 × 0.015 EUR`, `1.4 % of 3000 EUR`, `12 events × 0.25 EUR`. */
export function describePiece(piece: Piece, currency: string): string {
  switch (piece.kind) {
    case 'FEE':
      return `fixed ${plain(piece.quantity)} ${currency}`
    case 'FEES':
      return `${plain(piece.times)} × fixed ${plain(piece.fee)} ${currency}`
    case 'UNITS':
      return `${plain(piece.units)}${piece.blockSize.eq(ONE) ? '' : ` ÷ ${plain(piece.blockSize)}`} × ${plain(piece.price)} ${currency}`
    case 'BLOCKS':
      return `${plain(piece.blocks)} blocks of ${plain(piece.blockSize)} × ${plain(piece.price)} ${currency}`
    case 'PASSED':
      return `${plain(piece.quantity)} ${currency} as metered`
    case 'PERCENTAGE':
      return `${plain(piece.percentage)} % of ${plain(piece.base)} ${currency}`
    case 'EVENTS':
      return `${plain(piece.events)} events${piece.blockSize.eq(ONE) ? '' : ` ÷ ${plain(piece.blockSize)}`} × ${plain(piece.price)} ${currency}`
    case 'BOUND':
      return `${piece.times ? `${plain(piece.times)} × ` : ''}${BOUND_NAMES[piece.bound]} ${plain(piece.limit)} ${currency}`
  }
}

/** By the pieces of a charge, which have one currency: a line and its sub lines say the same of them. */
const described = new WeakMap<BandCharge['pieces'], { readonly currency: string; readonly text: string }>()

/** A charge in words: its terms, and the limit that replaced their sum: `2 × 0.1 EUR → minimum amount 10 EUR`. */
export function describeCharge({ pieces }: BandCharge, currency: string): string {
  const known = described.get(pieces)
  if (known?.currency === currency) return known.text
  const text = pieces
    .map(
      (piece, index) => `${index === 0 ? '' : piece.kind === 'BOUND' ? ' → ' : ' + '}${describePiece(piece, currency)}`,
    )
    .join('')
  described.set(pieces, { currency, text })
  return text
}
