// What other invoices of a subscription deducted by discounts of an amount, so that each is deducted once for a period.
import { and, asc, eq } from 'drizzle-orm'
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { at } from '../../../../../shared/time.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { invoiceLines } from '../../../invoices/lines/table.ts'
import { clauseEntries } from '../../../subscriptions/clauses/clause-entries.ts'
import { type Deducted, deductedIn } from '../../pricing/deducted.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'
import { idOfClause } from '../../terms/clauses-of-prices.ts'
import { type InvoiceWindow, periodOf } from '../../terms/windows.ts'
import { billingBefore, firstOpen, keyOfWindow, type SubscriptionInvoice } from './subscription-invoices.ts'

type Inputs = Pick<BillingInputs, 'subscription' | 'schedules' | 'pricings'>
type Billed = { readonly inputs: Inputs; readonly rows: readonly SubscriptionInvoice[] }

/**
 * The invoices of these subscriptions, each in its order, with what was deducted on those that may have charged ahead for time
 * that is not closed. One query for all of them, and none where no schedule has a discount of an amount on prices, which is nearly
 * always.
 */
export async function withDeducted(uow: ReadUow, all: readonly Billed[]): Promise<(readonly SubscriptionInvoice[])[]> {
  const ids = all.flatMap(each => (amountsOnPrices(each.inputs).size > 0 ? chargingAhead(each) : []))
  if (ids.length === 0) return all.map(({ rows }) => rows)
  const lines = await uow.tx
    .select()
    .from(invoiceLines)
    .where(and(inThisTenant(uow, invoiceLines), anyOf(invoiceLines.invoice_id, ids), eq(invoiceLines.kind, 'DISCOUNT')))
    .orderBy(asc(invoiceLines.invoice_id), asc(invoiceLines.line_order))
  const found = new Map<string, Deducted[]>()
  for (const line of lines)
    found.set(line.invoice_id, [...(found.get(line.invoice_id) ?? []), ...deductedIn(line.invoice_id, [line])])
  return all.map(({ rows }) =>
    rows.map(row => {
      const deducted = found.get(row.id) ?? []
      return deducted.length === 0 ? row : { ...row, deducted }
    }),
  )
}

/** What an invoice charges ahead begins at its cutoff or later, so only the last of those that are closed count. */
function chargingAhead({ inputs, rows }: Billed) {
  const since = firstOpen(rows)
  const from = since === null ? null : since - longerPeriods(inputs)
  return from === null ? [] : rows.filter(row => at(row.cutoff_at) >= from).map(({ id }) => id)
}

/**
 * What other invoices deducted of the amounts that the invoice of this window may deduct. An invoice that is VOID, or was
 * archived after that, deducted nothing.
 */
export function deductedBefore(
  inputs: Inputs,
  rows: readonly SubscriptionInvoice[],
  window: InvoiceWindow,
): readonly Deducted[] {
  const clauses = amountsOnPrices(inputs)
  if (clauses.size === 0) return []
  const from = periodOf(window).start - longerPeriods(inputs)
  return billingBefore(rows, { key: keyOfWindow(window), cutoffAt: window.cutoffAt })
    .filter(({ status, combined_into_id }) => (status !== 'VOID' && status !== 'ARCHIVED') || combined_into_id !== null)
    .flatMap(({ deducted = [] }) => deducted)
    .filter(({ clause, service: [start] }) => clauses.has(clause) && start >= from)
}

/** The ids of discounts of an amount that are on prices. */
const amountsOnPrices = ({ schedules }: Inputs): ReadonlySet<string> =>
  new Set(
    schedules.flatMap(schedule =>
      clauseEntries('discount', schedule).flatMap(({ level, value, path }) =>
        level !== null && value.amount ? [idOfClause(schedule.id, path)] : [],
      ),
    ),
  )

const DAY_MS = 86_400_000
const DAYS_MAX = { DAY: 1, WEEK: 7, MONTH: 31, YEAR: 366 } as const satisfies Record<PeriodLength['type'], number>
const longest = ({ type, value }: PeriodLength): number => DAYS_MAX[type] * value * DAY_MS

/**
 * The longest billing period of a price, in milliseconds, where it is longer than one that is invoiced: its usage may have
 * begun that long before the invoice that bills it. Zero where there is none.
 */
function longerPeriods({ subscription, schedules, pricings }: Inputs): number {
  const invoiced = schedules.map(({ billing_period }) => longest(billing_period ?? subscription.billing_period))
  const lengths = [
    subscription.billing_period,
    ...schedules.flatMap(({ billing_period }) => billing_period ?? []),
    ...pricings.flatMap(({ items }) =>
      items.flatMap(({ configs }) => configs.flatMap(each => each.billing_period ?? [])),
    ),
  ].map(longest)
  const most = Math.max(0, ...lengths)
  return most > Math.min(longest(subscription.billing_period), ...invoiced) ? most : 0
}
