// POST …/credit_and_copy: credits what is left of an invoice, and makes a copy that can be changed and issued in its
// place.
import { daysBetween, localDateOf, zoneOf } from '../../../../shared/billing/local-days.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { type Id, idOf, newId } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import type { StoredTax } from '../added-lines/carried-tax.ts'
import type { AddedLine } from '../added-lines/price-added-line.ts'
import type { StoredLine } from '../added-lines/schema.ts'
import { makeFinal } from '../changes/finalize.ts'
import { loadOneOffParties } from '../one-off/compute-one-off.ts'
import { announce, insertOneOff } from '../one-off/insert-one-off.ts'
import { recomputeOneOff } from '../one-off/one-off-producer.ts'
import type { OneOffTerms } from '../one-off/schema.ts'
import { lockInvoice } from '../repository.ts'
import type { InvoiceContent } from '../schema.ts'
import type { InvoiceRow } from '../table.ts'
import { creditInvoice } from './credit-invoice.ts'
import { recomputeCreditNote } from './credit-producer.ts'
import { loadRefundedTaxes } from './refunded-taxes.ts'
import type { CreditAndCopyBody } from './schema.ts'

type Made = { original_invoice_id: string; credit_invoice_id: string; new_invoice_id: string }

/**
 * Makes both or neither, each as a DRAFT, or FINAL at once on request. The copy has the lines of the original as added
 * lines, so that they can be changed; for billing, the original keeps the period. Throws like `creditInvoice`.
 */
export async function creditAndCopy(uow: Uow, id: Id<'invo'>, body: CreditAndCopyBody): Promise<Made> {
  const { credit_details_source } = body
  const credit = await creditInvoice(uow, idOf('invo', id), credit_details_source ? { credit_details_source } : {})
  const original = await lockInvoice(uow, id)
  const copy = await copyOf(uow, original)
  if (body.update_credit_invoice_to_final)
    await makeFinal(uow, await lockInvoice(uow, credit.id), await recomputeCreditNote(uow, credit.id))
  if (body.update_new_invoice_to_final)
    await makeFinal(uow, await lockInvoice(uow, copy.id), await recomputeOneOff(uow, copy.id))
  return { original_invoice_id: id, credit_invoice_id: credit.id, new_invoice_id: copy.id }
}

async function copyOf(uow: Uow, original: InvoiceRow): Promise<InvoiceRow> {
  const { customer_id: customerId, billing_entity_id: billingEntityId } = original
  const terms = termsOf(original)
  const { id } = await insertOneOff(uow, {
    loaded: await loadOneOffParties(uow, { customerId, billingEntityId, terms }),
    terms,
    lines: linesOf(original.content, await loadRefundedTaxes(uow, original.id)),
    type: original.type,
    originalId: original.id,
    notes: original.own_notes,
    onHold: false,
  })
  return await announce(uow, id)
}

/** The copy gets a new date, and is due as long after it as the original was. */
function termsOf({ content, ...row }: InvoiceRow): OneOffTerms {
  const zone = zoneOf(row.timezone)
  if (zone === null || row.invoice_date === null || row.due_date === null)
    throw new Error(`the invoice ${row.id} is FINAL and has dates`)
  const days = daysBetween(localDateOf(at(row.invoice_date), zone), localDateOf(at(row.due_date), zone))
  return {
    billing_currency: row.billing_currency,
    invoice_date: null,
    delivery_date: row.delivery_date,
    due_date_configuration:
      days > 0
        ? { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: days } }
        : { type: 'PERIOD_AFTER_INVOICE_DATE', period: null },
    purchase_order_number: content.purchase_order_number ?? null,
    sales_tax_percentage: row.sales_tax_percentage,
  }
}

/**
 * Every line as an added line with a fixed amount without tax: taxed again, in its original category. A refund keeps the
 * tax of its fee.
 */
const linesOf = ({ periods }: InvoiceContent, refunded: ReadonlyMap<string, StoredTax>): AddedLine[] =>
  periods.flatMap(({ start_at, end_at, groups }) =>
    groups.flatMap(({ lines }) =>
      lines.flatMap(({ amount_excluding_tax: { quantity, currency }, ...line }): AddedLine[] => {
        const amount = decimal(quantity)
        // The credit gives wallets back what they paid; the copy is paid by them as any other one-off invoice.
        if (amount.eq(ZERO) || line.type === 'WALLET') return []
        const [item] = line.product_items
        const [tax] = line.tax_categories
        const carried = refunded.get(line.id)
        const copied: StoredLine = {
          pricing_type: 'FIXED',
          pricing_name: line.description.slice(0, NAME_LENGTH_MAX),
          pricing_band: { amount: { quantity: plain(amount.abs()), currency } },
          product_item_type: amount.lt(ZERO) ? 'DEDUCTION' : 'REVENUE',
          ...(item ? { product_item_id: item.id } : {}),
          start_at,
          end_at,
          ...(tax ? { tax_category: tax.category } : {}),
          ...(carried ? { carried_tax: carried } : {}),
        }
        return [{ id: newId('inad'), line: copied, sold: null }]
      }),
    ),
  )

const NAME_LENGTH_MAX = 255
