import { type Decimal, max, ONE, ZERO } from '../../decimal.ts'
import { blocksOf } from '../block-rounding.ts'
import { chargeOf, FEE_FIELDS, readFeeBand } from '../charge-band.ts'
import type { BandCharge } from '../price.ts'
import { charged, definePriceModel, type Placed, type Placeds, placedQuantity } from '../price-model.ts'

/** How much the last step holds before it is charged again: its block size, or the width of the step before it. */
function lastWidth(bands: Placeds<{ readonly blockSize: Decimal | null }>): Decimal {
  const last = bands[bands.length - 1] ?? bands[0]
  const before = bands[bands.length - 2]
  return last.reads.blockSize ?? (before ? last.floor.minus(before.floor) : ONE)
}

/**
 * STAIR_STEP_TOP_UP: charges the fee of every step that usage has reached. Beyond the last bound it charges the last
 * fee again each time the width of that step is used up. The first step contains zero, so its fee is charged without
 * usage too. When `top_up.rollover` is true the unused rest of the last step is kept for the next pricing period.
 * Semantics 3.2.
 */
export const stairStepTopUp = definePriceModel({
  bands: 'tiers',
  basis: 'lump',
  perPricingPeriod: true,
  wholeBlocks: true,
  settings: ['rollover'],
  takes: [...FEE_FIELDS, 'blockSize', 'blockOf'],
  read: ({ blockSize, blockOf, ...fee }) => ({ ...readFeeBand(fee), blockSize: blockOf === null ? null : blockSize }),
  rate: ({ bands, volume, prior, settings }) => {
    const kept = settings.rollover ? prior.rollover : ZERO
    const used = placedQuantity(volume.quantity)
    const reached = placedQuantity(used.minus(kept))
    const charges: BandCharge[] = []
    let capacity = kept
    for (const step of bands) {
      if (step.index > 0 && reached.lte(step.floor)) break
      const times = step.top === null ? max(blocksOf(reached.minus(step.floor), lastWidth(bands)), ONE) : ONE
      capacity = capacity.plus(step.top === null ? times.times(lastWidth(bands)) : step.top.minus(step.floor))
      charges.push(chargeStep(step, times, { units: used, events: volume.count }))
    }
    return charged(charges, settings.rollover ? capacity.minus(used) : ZERO)
  },
})

type Step = Placed<ReturnType<typeof readFeeBand>>

function chargeStep(step: Step, times: Decimal, use: { readonly units: Decimal; readonly events: Decimal }) {
  const { fee } = step.reads
  const piece = times.eq(ONE)
    ? ({ kind: 'FEE', quantity: fee } as const)
    : ({ kind: 'FEES', quantity: fee.times(times), fee, times } as const)
  return chargeOf(step, use, [piece])
}
