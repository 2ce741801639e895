// POST …/credit: a credit note for a FINAL invoice, in full or in part, and never for more than is left of it.
import type { Uow } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { Id } from '../../../../shared/ids.ts'
import { emit } from '../../../outbox.ts'
import { insertInvoice } from '../changes/insert-invoice.ts'
import { invalidMove } from '../changes/invoice-change.ts'
import { linesOfInvoice } from '../lines/store-lines.ts'
import type { LineValues } from '../lines/table.ts'
import { lockInvoice } from '../repository.ts'
import type { LineView } from '../schema.ts'
import { isCreditNote } from '../settlement/settlement.ts'
import { type InvoiceRow, type StoredInvoice, UNTOUCHED } from '../table.ts'
import { invoiceView } from '../view.ts'
import { amountOf } from './credit-amounts.ts'
import { type CreditDocument, type CreditTotals, columnsOfTotals, creditDocument } from './credit-document.ts'
import { leftOfLines, linesOfContent } from './credit-left.ts'
import { CREDIT_BILLING, partiesOnCredit } from './credit-producer.ts'
import { type SelectionOf, selectCredit } from './credit-selection.ts'
import { creditsOf } from './linked-invoices.ts'
import type { CreditBody, CreditTerms } from './schema.ts'

/**
 * Makes a DRAFT credit note. It reserves what it credits, so two concurrent credits never take the same. Throws
 * INVALID_OPERATION for an invoice that is not FINAL or has nothing left, INVALID_FIELD for a part that does not exist
 * or is not left.
 */
export async function creditInvoice(uow: Uow, id: Id<'invo'>, body: CreditBody): Promise<InvoiceRow> {
  const original = await lockInvoice(uow, id)
  if (original.status !== 'FINAL')
    throw invalidMove(original, `Only a FINAL invoice can be credited, and this one is ${original.status}.`)
  if (isCreditNote(original)) throw invalidMove(original, 'A credit note cannot be credited.', 'type')
  const credits = await creditsOf(uow, id)
  const credited = credits.map(({ content }) => content)
  const named = new Set(credited.flatMap(linesOfContent).map(({ id: lineId }) => lineId))
  const of: SelectionOf = {
    content: original.content,
    left: leftOfLines(original.content, credited),
    basis: original.content.pricing_amount_type,
    currency: original.billing_currency,
    inCredits: linesOfContent(original.content)
      .filter(line => isPaidInCredits(line) && !named.has(line.id))
      .map(({ id }) => id),
  }
  const chosen = selectCredit(of, body)
  const takesAll = [...of.left].every(([lineId, left]) => amountOf(left, of.basis).eq(chosen.get(lineId) ?? ZERO))
  const rest = leftInTotal(original, credits)
  const document = creditDocument({ ...of, credits: credited }, chosen, takesAll ? rest : null)
  refuseTooMuch(document, rest, original)
  refuseTaxNeverCharged(of, chosen)
  const terms: CreditTerms = {
    note: body.note ?? null,
    credit_details_source: body.credit_details_source ?? 'CURRENT',
    delivery_date: body.delivery_date ?? null,
  }
  const created = await insertInvoice(
    uow,
    {
      ...UNTOUCHED,
      ...columnsOfTotals(document.totals),
      // It belongs to no billing period.
      holds_period: false,
      own_notes: terms.note === null ? [] : [terms.note],
      original_invoice_id: original.id,
      credit: terms,
      content: { ...document.content, ...(await partiesOnCredit(uow, original, terms)) },
      inputs_hash: '',
      invoice_number: null,
      status: 'DRAFT',
      producer: CREDIT_BILLING,
      type: original.type === 'ONE_OFF' ? 'ONE_OFF_CREDIT' : 'CREDIT',
      billing_type: original.billing_type,
      customer_id: original.customer_id,
      billing_entity_id: original.billing_entity_id,
      pricing_plan_subscription_id: original.pricing_plan_subscription_id,
      period_start: null,
      period_end: null,
      advance_only: null,
      cutoff_at: null,
      usage_from: null,
      invoice_date: null,
      delivery_date: terms.delivery_date ?? original.delivery_date,
      due_date: null,
      billing_currency: original.billing_currency,
      timezone: original.timezone,
      sales_tax_percentage: original.sales_tax_percentage,
      on_hold: body.force_init_on_hold ?? false,
      payment_status: 'UNPAID',
      finalize_at: null,
      updated_to_final_at: null,
      to_be_reprocessed_at: null,
    },
    creditLines(await linesOfInvoice(uow, id), document),
  )
  await emit(uow, {
    type: 'INVOICE.CREATED',
    objectId: created.id,
    data: invoiceView(created, uow.now),
    previous: null,
  })
  return created
}

const isPaidInCredits = ({ details }: LineView): boolean =>
  (details.wallet_balances ?? []).some(
    ({ used_balance: { credits } }) => credits && !decimal(credits.quantity).eq(ZERO),
  )

function leftInTotal(original: StoredInvoice, credits: readonly StoredInvoice[]): CreditTotals {
  const left = (name: 'amount_excluding_tax' | 'tax_amount') =>
    decimal(original[name]).plus(sum(credits.map(credit => decimal(credit[name]))))
  return { net: left('amount_excluding_tax'), tax: left('tax_amount') }
}

/**
 * Crediting charges without their deductions must not return more than was ever owed, and crediting deductions without their charges
 * would charge. Only the credit note of a refund charges: it takes back all or a part of it.
 */
function refuseTooMuch({ totals }: CreditDocument, rest: CreditTotals, original: InvoiceRow): void {
  const [wanted, left] = [totals.net.plus(totals.tax), rest.net.plus(rest.tax)]
  if (left.gte(ZERO) && wanted.lt(ZERO)) {
    const message = `Crediting these deductions alone would charge ${plain(wanted.neg())} ${original.billing_currency}. Credit them together with the lines that they reduce.`
    throw new AppError('INVALID_FIELD', message, { field: 'periods' })
  }
  if (left.gte(ZERO) ? wanted.lte(left) : wanted.gte(left)) return
  const message = `It credits ${plain(wanted)} ${original.billing_currency}, and ${plain(left)} is left of the invoice. Credit discounts, and what wallets paid, with the lines that they reduce.`
  throw new AppError('INVALID_FIELD', message, { field: 'periods' })
}

/**
 * Within a tax category too: to credit a line without what a wallet paid of it would give back tax that was not charged, wherever
 * lines of another category leave the total high enough (docs/decisions/0024).
 */
function refuseTaxNeverCharged(of: SelectionOf, chosen: ReadonlyMap<string, Decimal>): void {
  const byCategory = groupBy(linesOfContent(of.content), ({ tax_categories: [tax] }) => tax?.category ?? '')
  for (const [category, lines] of byCategory) {
    const wanted = sum(lines.map(({ id }) => chosen.get(id) ?? ZERO))
    const left = sum(lines.map(({ id }) => amountOf(of.left.get(id) ?? [], of.basis)))
    if (left.gte(ZERO) ? wanted.lte(left) : wanted.gte(left)) continue
    const message = `It credits ${plain(wanted)} ${of.currency} taxed as ${category}, and ${plain(left)} is left of that. Credit discounts, and what wallets paid, with the lines that they reduce.`
    throw new AppError('INVALID_FIELD', message, { field: 'periods' })
  }
}

/** The rows of the credited lines: they refer to the same objects as those of the original, with negative amounts. */
const creditLines = (originals: readonly LineValues[], { lines }: CreditDocument): LineValues[] =>
  originals
    .filter(({ line_id }) => lines.has(line_id))
    .map((line, line_order) => {
      const { net, tax } = lines.get(line.line_id) ?? { net: ZERO, tax: ZERO }
      return {
        line_id: line.line_id,
        line_order,
        kind: line.kind,
        pricing_plan_subscription_id: line.pricing_plan_subscription_id,
        pricing_plan_schedule_id: line.pricing_plan_schedule_id,
        product_category_id: line.product_category_id,
        product_id: line.product_id,
        product_item_id: line.product_item_id,
        pricing_id: line.pricing_id,
        pricing_item_id: line.pricing_item_id,
        pricing_item_config_id: line.pricing_item_config_id,
        service_start: line.service_start,
        service_end: line.service_end,
        ...columnsOfTotals({ net, tax }),
        tax_category: line.tax_category,
        source: { credited_line: line.line_id },
      }
    })
