// By which periods a price is billed and priced. Pure.
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import { type CreditsConfigInput, creditTypeOf } from '../../../../../shared/rating/credits.ts'
import { type Terms, variantFor, type WithVariants } from './variants.ts'

/** The periods of a config; null or absent for those of the schedule. */
export type Cadence = {
  readonly billing_period?: PeriodLength | null | undefined
  readonly pricing_period?: PeriodLength | null | undefined
}

/** A price in credits has the periods of the item that sells the credits (contract: Wallet rules); any other has its own. */
export function cadenceOf(
  config: Cadence & Pick<CreditsConfigInput, 'bands'>,
  {
    terms,
    sellerOf,
  }: {
    readonly terms: Terms
    /** The item that sells credits of a type to the schedule; undefined where none does. */
    readonly sellerOf: (creditTypeId: string) => WithVariants<Cadence> | undefined
  },
): Cadence {
  const creditTypeId = creditTypeOf(config)
  const seller = creditTypeId === null ? undefined : sellerOf(creditTypeId)
  return (seller && variantFor(seller, terms)?.configs[0]) ?? config
}
