// The sub lines of a rated charge. A shared usage line has one per customer, and they sum to the line; any other line
// has one per band.
import type { Decimal } from '../../../../shared/decimal.ts'
import type { MoneyView, SubLineView } from '../../invoices/schema.ts'
import { conversionSubLines } from '../rating/credit-details.ts'
import { subLines } from '../rating/price-details.ts'
import type { RatedCharge } from '../rating/rate-charge.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { isMetered } from '../terms/price-terms.ts'
import type { PartsOfCharges } from './customer-parts.ts'
import { customerSubLines } from './customer-sub-lines.ts'

type Sharing = {
  /** Null when lines are not shared among customers. */
  readonly parts: PartsOfCharges | null
  readonly show: (quantity: Decimal) => MoneyView
}

/** None when the line already says everything. */
export function subLinesOf(
  inputs: Pick<BillingInputs, 'customer' | 'sub_line_customers'>,
  rated: RatedCharge,
  { parts, show }: Sharing,
): readonly SubLineView[] | null {
  // The bands of a price in credits are no amounts of money.
  if (rated.credits) return conversionSubLines(rated, rated.credits)
  if (parts === null || !isMetered(rated.charge)) return subLines(rated)
  const own = parts.get(rated.charge.key) ?? []
  return own.length === 0 ? null : customerSubLines(inputs, rated, { parts: own, show })
}
