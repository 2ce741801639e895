// The limits of a simulation: what makes it FAILED. Pure.
import { type Decimal, decimal } from '../../../../shared/decimal.ts'
import { changePercentage, isAbove } from './compare.ts'
import type { SimulationResult } from './schema.ts'

type Breach = SimulationResult['breaches'][number]

/** The totals of one currency, and the customers that are above the limit of an increase. */
export type CurrencyTotals = {
  readonly currency: string
  readonly amount: Decimal
  readonly difference: Decimal
  readonly customersAbove: number
  /** The customer with the highest increase among them. */
  readonly highest: string | null
}

type Limits = {
  readonly max_revenue_change: string | null
  readonly max_customer_increase: string | null
  /** How many customers could not be rated. */
  readonly failed: number
}

/** The limits that do not hold. With any limit, every customer must have been rated. */
export function breachesOf(totals: readonly CurrencyTotals[], limits: Limits): Breach[] {
  const { max_revenue_change: change, max_customer_increase: increase, failed } = limits
  const breaches: Breach[] = []
  if (change === null && increase === null) return breaches
  for (const { currency, amount, difference, customersAbove, highest } of totals) {
    if (change !== null && isAbove(decimal(change), amount, difference.abs())) {
      const percentage = changePercentage(amount, difference)
      const by = percentage === null ? 'from nothing' : `by ${percentage} percent`
      const message = `The revenue in ${currency} would change ${by}; at most ${change} percent are allowed.`
      breaches.push({ limit: 'max_revenue_change', message })
    }
    if (increase !== null && customersAbove > 0) {
      const message = `${customersAbove} ${customersAbove === 1 ? 'customer' : 'customers'} in ${currency} would pay over ${increase} percent more, ${highest} most of all.`
      breaches.push({ limit: 'max_customer_increase', message })
    }
  }
  if (failed > 0) {
    const message = `${failed} customers could not be rated by the version; their messages say why.`
    breaches.push({ limit: 'number_of_failed', message })
  }
  return breaches
}
