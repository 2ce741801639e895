// From a stored invoice to what the API returns.
import { localDateOf } from '../../../shared/billing/local-days.ts'
import { plain } from '../../../shared/decimal.ts'
import { amount, moneyView, toMoney } from '../../../shared/money.ts'
import { inOneGo, type PausingWork } from '../../../shared/pausing-work.ts'
import type { Instant } from '../../../shared/time.ts'
import { couponsOf } from './clauses/coupons-of.ts'
import { zoneNamed } from './document/invoice-dates.ts'
import { isAnswered } from './document/tax/engine-question.ts'
import { showingTaxes, withTaxes } from './document/tax/shown-taxes.ts'
import { shownPeriods } from './lines/shown-shares.ts'
import { isPaymentOverdue } from './overdue/payment-overdue.ts'
import type { InvoiceView, LinkedInvoice, MoneyView } from './schema.ts'
import { isPaid, settlementOf } from './settlement/settlement.ts'
import type { InvoiceRow, ShownInvoice } from './table.ts'

export type InvoiceParts = { readonly periods: boolean; readonly lines: boolean }
export const WHOLE_INVOICE: InvoiceParts = { periods: true, lines: true }
export const WITHOUT_PERIODS: InvoiceParts = { periods: false, lines: false }

/**
 * The view of an invoice at this time, with or without its periods and their lines; without them, they need not have been read.
 * `links` are its linked documents; without any, the fields are left out.
 */
export function invoiceView(
  row: ShownInvoice,
  now: Instant,
  parts: InvoiceParts = WHOLE_INVOICE,
  links: readonly LinkedInvoice[] = [],
): InvoiceView {
  const money = (quantity: string): MoneyView => moneyView(toMoney(amount(quantity, row.billing_currency)))
  const { paid, open, closed, refundable } = settlementOf(row)
  const { content } = row
  // What is not to be issued is paid by nothing.
  const isIssued = row.status !== 'VOID' && row.status !== 'ARCHIVED'
  const view = {
    object_type: 'INVOICE' as const,
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    platform_id: row.platform_id,
    invoice_number: row.invoice_number,
    status: row.status,
    type: row.type,
    billing_type: row.billing_type,
    customer_id: row.customer_id,
    billing_entity_id: row.billing_entity_id,
    pricing_plan_subscription_id: row.pricing_plan_subscription_id,
    period_start: row.period_start,
    period_end: row.period_end,
    invoice_date: row.invoice_date,
    delivery_date: row.delivery_date,
    due_date: row.due_date,
    finalize_at: row.finalize_at,
    updated_to_final_at: row.updated_to_final_at,
    usage_counted_until: row.usage_counted_until,
    to_be_reprocessed: row.to_be_reprocessed_at !== null,
    to_be_reprocessed_at: row.to_be_reprocessed_at,
    billing_currency: row.billing_currency,
    timezone: row.timezone,
    sales_tax_percentage: row.sales_tax_percentage,
    on_hold: row.on_hold,
    paid: isPaid(row.payment_status),
    payment_status: row.payment_status,
    payment_overdue: isPaymentOverdue(row, open, now),
    invoice_amount_excluding_tax: money(row.amount_excluding_tax),
    invoice_amount_including_tax: money(row.amount_including_tax),
    paid_invoice_amount: money(plain(paid)),
    open_invoice_amount: money(plain(open)),
    closed_invoice_amount: money(plain(closed)),
    refundable_amount: money(plain(refundable)),
    ...(row.combined_into_id === null ? {} : { combined_into_invoice_id: row.combined_into_id }),
    ...(row.credit === null || row.original_invoice_id === null
      ? {}
      : {
          credit: {
            original_invoice_id: row.original_invoice_id,
            ...originalInfo(links),
            credit_details_source: row.credit.credit_details_source,
            ...(row.credit.note === null ? {} : { note: row.credit.note }),
          },
        }),
    ...(links.length > 0 ? { linked_invoices: [...links], linked_invoices_ids: links.map(({ id }) => id) } : {}),
    custom_fields: [...row.custom_fields],
    other_custom_fields: [],
  }
  const shown = addContent(view, content)
  return Object.assign(shown, {
    notes: [...content.notes, ...row.own_notes],
    ...withFaults(row, now),
    ...(content.wallet_balances && isIssued ? { wallet_balances: content.wallet_balances } : {}),
    ...(parts.periods ? couponsOf(content) : {}),
    ...(parts.periods ? { periods: parts.lines ? wholePeriods(content) : withTaxes(content).map(withoutLines) } : {}),
  })
}

/** Members of the content that are not shown, or not as they are. */
const SHOWN_OTHERWISE: ReadonlySet<string> = new Set(['periods', 'wallet_balances', 'tax_question', 'tax_key'])
type ShownContent = Omit<Content, 'periods' | 'wallet_balances' | 'tax_question' | 'tax_key'>

/** Adds what is shown of the content as it is. A page has thousands of members, which are written once instead of copied three times. */
function addContent<View extends object>(view: View, content: Content): View & ShownContent {
  const shown = view as Record<string, unknown>
  for (const name of Object.keys(content)) if (!SHOWN_OTHERWISE.has(name)) shown[name] = content[name as keyof Content]
  return view as View & ShownContent
}

type Content = InvoiceRow['content']
type Whole = Pick<Content, 'periods' | 'tax_categories' | 'processing_only_customers'>

const shownOf = new WeakMap<Content['periods'], Whole>()

/**
 * The periods with everything that they show besides what is stored. Of the same content they are the same object: a change of an
 * invoice is stored by what differs between two views of it, and what both share is neither written out nor compared.
 */
export const wholePeriods = (content: Whole): Content['periods'] => inOneGo(showingPeriods(content))

/** The same, with pauses. */
export function* showingPeriods(content: Whole): PausingWork<Content['periods']> {
  const { periods, tax_categories, processing_only_customers } = content
  const known = shownOf.get(periods)
  if (known?.tax_categories === tax_categories && known.processing_only_customers === processing_only_customers)
    return known.periods
  const taxed = yield* showingTaxes(content)
  const made = yield* shownPeriods({ ...content, periods: taxed })
  const others = processing_only_customers ? { processing_only_customers } : {}
  shownOf.set(periods, { periods: made, tax_categories, ...others })
  return made
}

/** Which invoice a credit note credits, where its links were read. */
const originalInfo = (links: readonly LinkedInvoice[]) => {
  const original = links.find(({ link_type }) => link_type === 'ORIGINAL')
  return original ? { original_invoice_info: { id: original.id, invoice_number: original.invoice_number } } : {}
}

/** What keeps it from being what it should, besides what its content says. */
function withFaults(row: ShownInvoice, now: Instant): Pick<InvoiceView, 'validation_result'> {
  const { content, correction_fault, combine_fault } = row
  const faults = [correction_fault, combine_fault, taxFault(row, now)].filter(text => text !== null)
  return { validation_result: [...content.validation_result, ...faults.map(warningOf)] }
}

/** What it waits for from its date on, when the tax engine is asked once more. Without any answer its content has an ERROR. */
function taxFault({ content: { tax_question: open }, status, timezone }: ShownInvoice, now: Instant): string | null {
  if (!open || open.as_of === null || (status !== 'OPEN' && status !== 'DRAFT')) return null
  const today = localDateOf(now, zoneNamed(timezone))
  if (today < open.question.date || isAnswered(open, today)) return null
  const waits = `The tax engine is asked once more about the tax of ${open.question.date}; until it answers, the invoice cannot become FINAL.`
  return open.fault === undefined ? waits : `${waits} ${open.fault}`
}

const warningOf = (details: string) => ({ status: 'WARNING' as const, details })

const withoutLines = (period: InvoiceRow['content']['periods'][number]) => ({
  ...period,
  groups: period.groups.map(({ lines: _lines, ...group }) => group),
})

/** Whether the invoice charges anything at all. */
export const hasLines = ({ periods }: InvoiceRow['content']): boolean =>
  periods.some(period => period.groups.length > 0)
