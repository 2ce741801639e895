// How much usage of a charge is billable: after included volume, and on top of blocks that were bought before. Pure.
import type { IncludedVolumeDetails } from '../../../../shared/rating/included/included-volume.ts'
import { applyIncludedOverTime } from '../../../../shared/rating/included/included-windows.ts'
import type { Volume } from '../../../../shared/rating/price.ts'
import { NO_PRIOR, type Prior } from '../../../../shared/rating/price-model.ts'
import { type PriceConfig, rate } from '../../../../shared/rating/rate.ts'
import type { Interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import { type UsageStep, usageSteps } from '../charges/usage-steps.ts'

/** Usage of a pricing period up to a moment. */
export type PricedUsage = {
  readonly metered: Volume
  /** What remains after included volume. */
  readonly billable: Volume
  /** The included volume; null when the price includes none. */
  readonly included: IncludedVolumeDetails | null
}
export type ChargeUsage = PricedUsage & {
  /** What earlier invoices billed for the same pricing period; null when there is none. */
  readonly before: PricedUsage | null
  /** What the previous pricing periods left. */
  readonly prior: Prior
}
/** What was metered in an interval. */
export type VolumeOf = (interval: Interval) => Volume

const less = (a: Volume, b: Pick<Volume, 'quantity' | 'count'>): Volume => ({
  ...a,
  quantity: a.quantity.minus(b.quantity),
  count: a.count.minus(b.count),
})

/** What a metered charge rates. `own`, when given, replaces what was metered in its own time. */
export function chargeUsage(config: PriceConfig, charge: Charge, volumeOf: VolumeOf, own?: Volume): ChargeUsage {
  const steps = usageSteps(charge)
  const volumes = steps.map(({ usage }, index) => (own && index === steps.length - 1 ? own : volumeOf(usage)))
  const priced = config.included ? lessIncluded(steps, volumes, config.included) : volumes.map(plainly)
  const last = priced.at(-1)
  if (!last) throw new Error(`the metered charge ${charge.key} has no usage`)
  const { metered, billable, included } = last
  const before = billedBefore(charge, { steps, priced, volumeOf })
  return { metered, billable, included, before, prior: priorOf(config, steps, priced) }
}

const plainly = (metered: Volume): PricedUsage => ({ metered, billable: metered, included: null })

type Priced = { readonly steps: readonly UsageStep[]; readonly priced: readonly PricedUsage[] }

function billedBefore(
  { billedUsage }: Charge,
  { steps, priced, volumeOf }: Priced & { readonly volumeOf: VolumeOf },
): PricedUsage | null {
  if (billedUsage === null) return null
  const own = steps.at(-1)?.pricingPeriod
  const place = steps.findIndex(
    ({ pricingPeriod, usage }, index) =>
      index < steps.length - 1 && pricingPeriod === own && usage.end === billedUsage.end,
  )
  return priced[place] ?? plainly(volumeOf(billedUsage))
}

/** Each step uses included volume for what it adds to its pricing period. */
function lessIncluded(
  steps: readonly UsageStep[],
  volumes: readonly Volume[],
  terms: NonNullable<PriceConfig['included']>,
): PricedUsage[] {
  const added = steps.map(({ pricingPeriod, billingPeriod, share, granted }, index) => {
    const [volume, before] = [volumes[index], steps[index - 1]?.pricingPeriod === pricingPeriod && volumes[index - 1]]
    if (!volume) throw new Error('a step has its volume')
    return {
      volume: before ? less(volume, before) : volume,
      pricingPeriod: String(pricingPeriod),
      billingPeriod: String(billingPeriod),
      share,
      granted,
    }
  })
  const priced: PricedUsage[] = []
  for (const [index, { details }] of applyIncludedOverTime(added, terms).entries()) {
    const metered = volumes[index]
    const before = steps[index - 1]?.pricingPeriod === steps[index]?.pricingPeriod ? priced[index - 1] : undefined
    if (!metered) throw new Error('a step has its volume')
    // Usage of the pricing period that was free before this step stays free.
    const rest = before ? less(metered, less(before.metered, before.billable)) : metered
    priced.push({ metered, billable: less(rest, details.used), included: details })
  }
  return priced
}

/** The previous pricing periods, each rated on top of what the one before it left. */
const priorOf = (config: PriceConfig, steps: readonly UsageStep[], priced: readonly PricedUsage[]): Prior =>
  steps.reduce<Prior>((prior, { pricingPeriod }, index) => {
    const isLast = steps[index + 1]?.pricingPeriod !== pricingPeriod
    const own = pricingPeriod === steps.at(-1)?.pricingPeriod
    const usage = priced[index]
    return isLast && !own && usage ? rate(config, usage.billable, { prior }) : prior
  }, NO_PRIOR)
