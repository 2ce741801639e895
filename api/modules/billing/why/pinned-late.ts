// The late usage of a FINAL invoice, as charges again. Pure.
import { type ConditionNamesInput, namesAsOf } from '../../catalog/conditions/load-names.ts'
import { type LateCharge, type LateUnit, lateCharge, termOf } from '../late/late-usage.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'

type Pinned = {
  readonly inputs: BillingInputs
  readonly terms: readonly PriceTerm[]
  /** What conditions named when invoices were closed, by hash. */
  readonly names: ReadonlyMap<string, ConditionNamesInput>
  /** Of the invoice. */
  readonly key: string
}

/** These units as the invoice billed them; each by the names of the invoice that first billed it. */
export const pinnedLate = (units: readonly LateUnit[], { inputs, terms, names, key }: Pinned): LateCharge[] =>
  units.map(unit => {
    const then = unit.namesHash === null ? undefined : names.get(unit.namesHash)
    const condition_names = then && namesAsOf(inputs.condition_names, then)
    const term = termOf(condition_names ? resolveTerms({ ...inputs, condition_names }) : terms, unit)
    if (!term) throw new Error(`the inputs have no price of ${unit.unit}`)
    return lateCharge(term, unit, key)
  })
