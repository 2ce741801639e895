// What an invoice was and what it would have been, line by line. Amounts are before tax and before wallets: what a
// wallet pays is revenue as well. Pure.
import { type Decimal, decimal, HUNDRED, plain, roundHalfUp, sum, ZERO } from '../../../../shared/decimal.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import type { LineValues } from '../../invoices/lines/table.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import type { SimulatedInvoice } from './schema.ts'
import type { Outcome } from './table.ts'

export type BilledLine = Pick<LineValues, 'kind' | 'product_item_id' | 'amount_excluding_tax'>
/** An invoice as far as it is compared. */
export type BilledInvoice = { readonly amount_excluding_tax: string; readonly lines: readonly BilledLine[] }

/** The revenue of an invoice: its amount before tax, including what wallets paid of it. */
export const revenueOf = ({ amount_excluding_tax, lines }: BilledInvoice): Decimal =>
  decimal(amount_excluding_tax).minus(
    sum(lines.filter(({ kind }) => kind === 'WALLET').map(line => decimal(line.amount_excluding_tax))),
  )

/** The figures of a comparison, in one currency. */
export const differenceView = (before: Decimal, after: Decimal, currency: string) => {
  const view = (quantity: Decimal) => amountView(amount(quantity, currency))
  return { amount: view(before), simulated_amount: view(after), difference: view(after.minus(before)) }
}

type Of = Pick<SimulatedInvoice, 'invoice_id' | 'period_start' | 'period_end'> & {
  readonly currency: string
  readonly inputs: Pick<BillingInputs, 'product_items'>
}

export function compareInvoices(billed: BilledInvoice, simulated: BilledInvoice, of: Of): SimulatedInvoice {
  const { currency, inputs, ...named } = of
  const keyOf = ({ kind, product_item_id }: BilledLine): string => `${kind} ${product_item_id ?? ''}`
  const [before, after] = [billed, simulated].map(({ lines }) =>
    groupBy(
      lines.filter(({ kind }) => kind !== 'WALLET'),
      keyOf,
    ),
  )
  const total = (lines: readonly BilledLine[] = []): Decimal =>
    sum(lines.map(line => decimal(line.amount_excluding_tax)))
  const keys = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])
  const names = new Map(inputs.product_items.map(({ id, name }) => [id, name]))
  return {
    ...named,
    ...differenceView(revenueOf(billed), revenueOf(simulated), currency),
    lines: [...keys].flatMap(key => {
      const [then, now] = [before?.get(key), after?.get(key)]
      const [line] = then ?? now ?? []
      if (!line) return []
      return [
        {
          type: line.kind,
          product_item_id: line.product_item_id,
          name: line.product_item_id === null ? null : (names.get(line.product_item_id) ?? null),
          ...differenceView(total(then), total(now), currency),
        },
      ]
    }),
  }
}

/** Who pays less wins. */
export const outcomeOf = (difference: Decimal): Outcome =>
  difference.eq(ZERO) ? 'UNCHANGED' : difference.lt(ZERO) ? 'WINNER' : 'LOSER'

const PERCENTAGE_PLACES = 4

/** The difference in percent of the amount, for people; null when nothing was billed and something would have been. */
export function changePercentage(before: Decimal, difference: Decimal): string | null {
  if (difference.eq(ZERO)) return '0'
  return before.eq(ZERO) ? null : plain(roundHalfUp(difference.times(HUNDRED).div(before.abs()), PERCENTAGE_PLACES))
}

/** Whether a difference is more than so many percent of the amount; any difference is, where nothing was billed. */
export const isAbove = (limit: Decimal, before: Decimal, difference: Decimal): boolean =>
  difference.times(HUNDRED).gt(limit.times(before.abs()))
