import { type Decimal, min, ZERO } from '../../decimal.ts'
import { blocksOf } from '../block-rounding.ts'
import { AMOUNT_LIMITS, chargeBlocks, readLimits, type UnitBand } from '../charge-band.ts'
import { BandFault, charged, definePriceModel, type Placeds, placedQuantity } from '../price-model.ts'

type BlockBand = { readonly amount: Decimal; readonly blockSize: Decimal; readonly limits: UnitBand['limits'] }

/** The blocks that end at or before a band, and those that end in it too; null where it has no end. */
type Ends = { readonly before: Decimal; readonly until: Decimal | null }
const ends = new WeakMap<Placeds<BlockBand>, readonly Ends[]>()

/** By band: the same for every volume, so each bound is divided once. */
function blockEnds(bands: Placeds<BlockBand>): readonly Ends[] {
  const known = ends.get(bands)
  if (known) return known
  const within = (bound: Decimal): Decimal => bound.div(bands[0].reads.blockSize).round(0, 0)
  const found = bands.map(({ floor, top }) => ({ before: within(floor), until: top && within(top) }))
  ends.set(bands, found)
  return found
}

/**
 * TIERED_TOP_UP: whole blocks as in FLAT_TOP_UP. Each block is priced by the band that contains its end, counted from
 * the first block bought in the pricing period. All bands have one block size. Semantics 3.2.
 */
export const tieredTopUp = definePriceModel({
  bands: 'tiers',
  basis: 'units',
  perPricingPeriod: true,
  wholeBlocks: true,
  settings: ['rollover'],
  takes: ['amount', 'blockSize', ...AMOUNT_LIMITS],
  read: ({ amount, blockSize, ...limits }) => {
    if (amount === null) throw new BandFault('amount', 'A block needs its price: give amount.')
    return { amount, blockSize, limits: readLimits(limits) }
  },
  misfit: bands => {
    const [first] = bands
    const other = bands.find(({ reads }) => !reads.blockSize.eq(first.reads.blockSize))
    const message = 'All bands sell blocks of one size.'
    return other ? { index: other.index, fault: new BandFault('blockSize', message) } : null
  },
  rate: ({ bands, volume, prior, settings }) => {
    const { blockSize } = bands[0].reads
    const used = placedQuantity(volume.quantity)
    const kept = settings.rollover ? prior.rollover : ZERO
    const blocks = blocksOf(used.minus(kept), blockSize)
    const left = kept.plus(blocks.times(blockSize)).minus(used)
    const known = blockEnds(bands)
    const charges = bands.flatMap(band => {
      const { before, until } = known[band.index] ?? { before: ZERO, until: null }
      const own = (until ? min(blocks, until) : blocks).minus(before)
      // When no block was bought, the first band shows it.
      if (own.lte(ZERO) && !(band.index === 0 && blocks.eq(ZERO))) return []
      return [chargeBlocks(band, { units: own.times(blockSize), events: volume.count }, own)]
    })
    return charged(charges, settings.rollover ? left : ZERO)
  },
})
