// Which prices can round their blocks, so that no block is in two bands and every block is of usage that was counted.
import { ZERO } from '../../decimal.ts'
import { blocksOf } from '../block-rounding.ts'
import type { Band, BoundOf, Metric } from '../price.ts'
import type { PriceModel, Settings } from '../price-model.ts'
import { Fault } from './band-reader.ts'

type Price = {
  readonly model: PriceModel
  readonly bands: readonly Band[]
  readonly metric: Metric
  readonly placedBy: BoundOf
}

/** Throws Fault. */
export function checkBlockRounding({ blockRounding }: Settings, { model, bands, metric, placedBy }: Price): void {
  if (blockRounding === 'NONE') return
  if (bands.every(({ amount }) => amount === null)) {
    throw new Fault('block_rounding', 'No band has an amount for a block, so there is nothing to round; leave it out.')
  }
  if (!model.slices || bands.length === 1) return
  if (placedBy === 'COUNT' || (metric === 'AMOUNT' && bands.some(isByEvents))) {
    const message = 'Each tier takes a part of all events here, which is no number of whole blocks; leave it out.'
    throw new Fault('block_rounding', message)
  }
  let floor = ZERO
  for (const [index, { amount, blockSize, topBound }] of bands.entries()) {
    const width = topBound?.minus(floor) ?? ZERO
    if (amount !== null && !blocksOf(width, blockSize).times(blockSize).eq(width)) {
      const message = 'A tier whose blocks are rounded holds a whole number of them, so that no block is in two tiers.'
      throw new Fault(`bands.${index}.tier_top_bound`, message)
    }
    floor = topBound ?? floor
  }
}

const isByEvents = ({ amount, blockOf }: Band): boolean => amount !== null && blockOf !== 'MONEY'
