// POST …/refresh of a FINAL invoice: what it shows besides its amounts (contract: Invoices and payments; semantics 5.6).

import { isDeepStrictEqual } from 'node:util'
import { localDateOf, zoneOf } from '../../../../shared/billing/local-days.ts'
import type { TaxDecided } from '../../../../shared/billing/tax/tax.ts'
import { type Actor, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at } from '../../../../shared/time.ts'
import { change, invalidMove } from '../changes/invoice-change.ts'
import { refreshInvoice } from '../changes/refresh-invoice.ts'
import { linesOfContent } from '../credits/credit-left.ts'
import { creditsOf } from '../credits/linked-invoices.ts'
import { loadCopiedFields } from '../custom-fields/copied-fields.ts'
import { loadBillingEntity, loadCustomer, loadInvoicingSettings, loadTaxRatesOf } from '../document/load-parties.ts'
import { invoiceTax } from '../document/tax/invoice-tax.ts'
import { type InvoiceDeps, producerOf } from '../producer.ts'
import { getInvoice, lockInvoice } from '../repository.ts'
import type { CopiedFieldView } from '../schema.ts'
import { isCreditNote } from '../settlement/settlement.ts'
import { type Refreshed, saveRefresh } from '../snapshot/invoice-snapshot.ts'
import type { InvoiceRow } from '../table.ts'
import { MissingTaxAnswer } from '../tax/answers/missing-answer.ts'
import { engineOf, queryAgain, withTaxAnswers } from '../tax/answers/with-answers.ts'
import { contentAfter } from './content-after.ts'
import { splitIssuedTax } from './split-issued-tax.ts'

/** The kinds of refresh that a FINAL invoice takes. How to pay is not stored with it, so documents show it as it is. */
const OF_ISSUED = ['CUSTOM_FIELD', 'PAYMENT_ACCEPTOR', 'TAX_RATES'] as const

/**
 * Refreshes an invoice: one that is not FINAL is computed again, whatever the kinds. Throws INVALID_OPERATION for one
 * that is VOID or ARCHIVED, and for kinds that a FINAL one does not take; SERVICE_UNAVAILABLE for TAX_RATES when a tax engine is to
 * decide and does not answer.
 */
export async function refreshByKinds(
  deps: InvoiceDeps,
  { tenant, actor, id }: { readonly tenant: Tenant; readonly actor: Actor; readonly id: Id<'invo'> },
  types: readonly string[],
): Promise<InvoiceRow> {
  const found = await readTenant(deps.database, tenant, uow => getInvoice(uow, idOf('invo', id)))
  if (found.status !== 'FINAL') {
    // A person who asks for rates wants those of now, also where the engine had answered.
    if (types.includes('TAX_RATES')) await queryAgain(engineOf(deps), tenant, found)
    return await refreshInvoice(deps, tenant, actor, idOf('invo', id))
  }
  return await withTaxAnswers(engineOf(deps), tenant, () =>
    inTenant(deps.database, tenant, actor, async uow => {
      await producerOf(deps, found).lock(uow, found)
      return await refreshIssued(uow, await lockInvoice(uow, id), types)
    }),
  )
}

/**
 * Takes the current custom fields of what the invoice names, and shows a partial exemption as such. Throws
 * INVALID_OPERATION for a kind that could change what was issued, and for a split that would change its tax.
 */
async function refreshIssued(uow: Uow, row: InvoiceRow, types: readonly string[]): Promise<InvoiceRow> {
  const known: readonly string[] = OF_ISSUED
  const other = types.find(type => !known.includes(type))
  if (other !== undefined || types.length === 0) {
    const message = `A FINAL invoice is not computed again, so it takes no refresh of ${other ?? 'FULL'}; only of ${OF_ISSUED.join(', ')}.`
    throw invalidMove(row, message, 'types')
  }
  let { content } = row
  const refreshes: Refreshed[] = []
  if (types.includes('CUSTOM_FIELD')) refreshes.push({ part: 'CUSTOM_FIELD', fields: await currentFields(uow, row) })
  // What a tax engine decided has its split since it was issued, by the answer that it keeps: the engine is not asked again.
  if (types.includes('TAX_RATES') && content.tax_key === undefined)
    refreshes.push({ part: 'TAX_RATES', decision: await splitOf(uow, row) })
  for (const refreshed of refreshes) {
    const after = contentAfter(content, row, [refreshed])
    // So that the invoice can be verified as it is now.
    if (!isDeepStrictEqual(after, content)) await saveRefresh(uow, row.id, refreshed)
    content = after
  }
  return await change(uow, row, { content })
}

async function currentFields(uow: Uow, { content, ...row }: InvoiceRow): Promise<CopiedFieldView[]> {
  const lines = linesOfContent(content)
  const groups = content.periods.flatMap(period => period.groups)
  // Of plans only those with fields are named on the document.
  const plans = (content.other_custom_fields ?? []).flatMap(({ resource: { type, id } }) =>
    type === 'PRICING_PLAN' ? [id] : [],
  )
  const unique = (ids: readonly string[]) => [...new Set(ids)]
  const [fields = []]: CopiedFieldView[][] = await loadCopiedFields(uow, [
    [
      { type: 'CUSTOMER', ids: [row.customer_id] },
      { type: 'BILLING_ENTITY', ids: [row.billing_entity_id] },
      { type: 'PRICING_PLAN_SUBSCRIPTION', ids: content.pricing_plan_subscription_ids },
      { type: 'PRICING_PLAN', ids: unique(plans) },
      { type: 'PRODUCT', ids: unique(groups.flatMap(({ products }) => products.map(({ id }) => id))) },
      { type: 'PRODUCT_ITEM', ids: unique(lines.flatMap(line => line.product_items.map(({ id }) => id))) },
    ],
  ])
  return fields
}

/** The decision of the tax, by which the tax can be split without changing it. */
async function splitOf(uow: Uow, row: InvoiceRow): Promise<TaxDecided> {
  const zone = zoneOf(row.timezone)
  if (zone === null || row.invoice_date === null) throw new Error(`the invoice ${row.id} is FINAL and has a date`)
  const both = {
    customer: await loadCustomer(uow, row.customer_id),
    billing_entity: await loadBillingEntity(uow, row.billing_entity_id),
  }
  const asking = { ...both, since: at(row.invoice_date) }
  const parties = {
    platform: await loadInvoicingSettings(uow),
    ...both,
    ...(await loadTaxRatesOf(uow, [asking]))(asking),
    number_fields: [],
  }
  const { decision, open } = invoiceTax(
    { parties, salesTaxPercentage: row.sales_tax_percentage, billingType: row.billing_type },
    localDateOf(at(row.invoice_date), zone),
  )
  // A credit note has the tax of its invoice.
  if (open?.as_of === null && !isCreditNote(row)) {
    const needed = { key: open.key, question: open.question, asOf: localDateOf(uow.now, zone) }
    throw new MissingTaxAnswer([needed], 'The tax engine has not said what tax applies.', 'types')
  }
  const split = splitIssuedTax({ content: row.content, currency: row.billing_currency }, decision)
  // Credit notes refer to the summaries of each line as they were.
  const isCredited = split !== row.content && (await creditsOf(uow, row.id)).length > 0
  if (split && !isCredited) return decision
  const message = isCredited
    ? 'The invoice has credit notes, so its tax stays as it was issued.'
    : 'The partial exemption of the customer would change the tax of this FINAL invoice. Credit it and bill again: POST /v1/invoices/{id}/credit_and_copy.'
  throw invalidMove(row, message, 'types')
}
