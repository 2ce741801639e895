// The new invoice of a correction: the original priced again by its pinned inputs, with a date of its own. Pure.
import { addDays, daysBetween, localDateOf, startOfLocalDay, zoneOf } from '../../../../../shared/billing/local-days.ts'
import type { Decimal } from '../../../../../shared/decimal.ts'
import { at, formatInstant, type Instant } from '../../../../../shared/time.ts'
import type { LineValues } from '../../../invoices/lines/table.ts'
import type { InvoiceColumns } from '../../../invoices/table.ts'
import type { ClosedCharge } from '../closed-usage.ts'

/** The name of the producer of these invoices, as stored with them. */
export const REBILL_BILLING = 'REBILL'

/** The original holds the billing period. */
const NO_PERIOD = { period_start: null, period_end: null, advance_only: null, cutoff_at: null, usage_from: null }

/**
 * The columns of the new invoice. It is taxed as the original was, and dated on the day it becomes FINAL; it is due as
 * many days after its date as the original was. `finalizedAt` is null until it becomes FINAL.
 */
export function rebillColumns(
  { columns }: { readonly columns: InvoiceColumns },
  finalizedAt: Instant | null,
): InvoiceColumns {
  if (finalizedAt === null) return { ...columns, ...NO_PERIOD, invoice_date: null, due_date: null }
  const zone = zoneOf(columns.timezone)
  if (zone === null || columns.invoice_date === null || columns.due_date === null)
    throw new Error('the original was FINAL and had dates')
  const local = (instant: string) => localDateOf(at(instant), zone)
  const day = localDateOf(finalizedAt, zone)
  const days = daysBetween(local(columns.invoice_date), local(columns.due_date))
  const textOf = (date: typeof day): string => formatInstant(startOfLocalDay(date, zone))
  return { ...columns, ...NO_PERIOD, invoice_date: textOf(day), due_date: textOf(addDays(day, days)) }
}

type Amounts = Pick<LineValues, 'line_id' | 'amount_excluding_tax' | 'amount_including_tax'>

type Uses = ReadonlyMap<string, { readonly quantity: Decimal }>

/** Whether wallets pay two documents by different amounts. What credits pay has no amount on its line. */
export const differInWalletUse = (one: Uses, other: Uses): boolean =>
  one.size !== other.size || [...one].some(([key, { quantity }]) => !other.get(key)?.quantity.eq(quantity))

/** Whether two documents charge different amounts: on a line, or with a line that the other does not have. */
export function differInCharges(one: readonly Amounts[], other: readonly Amounts[]): boolean {
  const textOf = (lines: readonly Amounts[]): string =>
    lines
      .map(line => `${line.line_id} ${line.amount_excluding_tax} ${line.amount_including_tax}`)
      .sort()
      .join('\n')
  return textOf(one) !== textOf(other)
}

type Cost = Pick<ClosedCharge, 'unit' | 'service' | 'exact' | 'credits' | 'parts'>

/** Whether usage costs the same, for each price, time and customer, before discounts and minimums. */
export function haveSameUsageCost(one: readonly Cost[], other: readonly Cost[]): boolean {
  const textOf = (charges: readonly Cost[]): string =>
    charges
      .map(({ unit, service, exact, credits = null, parts = [] }) => {
        const shares = parts.filter(part => part.exact !== '0').map(part => `${part.customer_id} ${part.exact}`)
        return JSON.stringify([unit, service, exact, credits, shares.sort()])
      })
      .sort()
      .join('\n')
  return textOf(one) === textOf(other)
}
