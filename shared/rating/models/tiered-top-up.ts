import { type Decimal, min, ZERO } from '../../decimal.ts'
import { blocksOf } from '../block-rounding.ts'
import { AMOUNT_LIMITS, chargeBlocks, readLimits } from '../charge-band.ts'
import { BandFault, charged, definePriceModel, placedQuantity } from '../price-model.ts'

/** Whole blocks that end at or before `bound`. */
const blocksWithin = (bound: Decimal, blockSize: Decimal): Decimal => bound.div(blockSize).round(0, 0)

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
    const charges = bands.flatMap(band => {
      const before = blocksWithin(band.floor, blockSize)
      const own = (band.top === null ? blocks : min(blocks, blocksWithin(band.top, blockSize))).minus(before)
      // When no block was bought, the first band shows it.
      if (own.lte(ZERO) && !(band.index === 0 && blocks.eq(ZERO))) return []
      return [chargeBlocks(band, { units: own.times(blockSize), events: volume.count }, own)]
    })
    return charged(charges, settings.rollover ? left : ZERO)
  },
})
