import { ZERO } from '../../decimal.ts'
import { blocksOf } from '../block-rounding.ts'
import { AMOUNT_LIMITS, chargeBlocks, readLimits } from '../charge-band.ts'
import { BandFault, charged, definePriceModel, placedQuantity } from '../price-model.ts'

/**
 * FLAT_TOP_UP: whole blocks are bought ahead of use: ceil(max(0, V − rollover) ÷ block size) × amount. When
 * `top_up.rollover` is true the rest of the last block is kept for the next pricing period, otherwise it is lost.
 * Semantics 3.2.
 */
export const flatTopUp = definePriceModel({
  bands: 'one',
  basis: 'units',
  perPricingPeriod: true,
  wholeBlocks: true,
  settings: ['rollover'],
  takes: ['amount', 'blockSize', ...AMOUNT_LIMITS],
  read: ({ amount, blockSize, ...limits }) => {
    if (amount === null) throw new BandFault('amount', 'A block needs its price: give amount.')
    return { amount, blockSize, limits: readLimits(limits) }
  },
  rate: ({ bands: [band], volume, prior, settings }) => {
    const used = placedQuantity(volume.quantity)
    const kept = settings.rollover ? prior.rollover : ZERO
    const blocks = blocksOf(used.minus(kept), band.reads.blockSize)
    const left = kept.plus(blocks.times(band.reads.blockSize)).minus(used)
    const charge = chargeBlocks(band, { units: used, events: volume.count }, blocks)
    return charged([charge], settings.rollover ? left : ZERO)
  },
})
