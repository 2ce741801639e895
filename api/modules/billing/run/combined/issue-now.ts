// Issues an invoice of a subscription that combines before its grace period is over, together with those that it belongs to.
import { localDateOf } from '../../../../../shared/billing/local-days.ts'
import { inTenant, readTenant, SERVICE, type Uow } from '../../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { at, formatInstant, type Instant } from '../../../../../shared/time.ts'
import { changed, unchanged } from '../../../invoices/changes/pending-invoice.ts'
import { saveTogether } from '../../../invoices/changes/save-together.ts'
import { zoneNamed } from '../../../invoices/document/invoice-dates.ts'
import { invoiceTax } from '../../../invoices/document/tax/invoice-tax.ts'
import { getInvoice, loadInvoices, lockInvoice } from '../../../invoices/repository.ts'
import type { InvoiceRow } from '../../../invoices/table.ts'
import { requireAnswered } from '../../../invoices/tax/answers/require-answered.ts'
import { lockSubscriptions, saveNextBillings } from '../../../subscriptions/billing-time/next-billing.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { runGroup } from '../group/run-group.ts'
import { loadStates, type SubscriptionState } from '../state/subscription-state.ts'
import { combinedWith } from './match.ts'
import { siblingsOf } from './siblings.ts'

/** A run that grants something issues with the next one. */
const RUNS_MAX = 3

/**
 * Ends the grace period of this DRAFT and of those that are issued with it, and has the billing run issue them: on each other's
 * invoice where they agree. Returns the invoice as it is then; null where its subscription combines with no other, so that nothing
 * was done. Killed halfway, the next billing run issues them. Throws MissingTaxAnswer while the tax of one of them is not known: issued
 * now, the others would be without it.
 */
export async function issueWithOthers(
  deps: BillingDeps,
  { tenant, id }: { readonly tenant: Tenant; readonly id: Id<'invo'> },
): Promise<InvoiceRow | null> {
  const subscription = await inTenant(deps.database, tenant, SERVICE, uow => endGrace(uow, id))
  if (subscription === null) return null
  for (let run = 0; run < RUNS_MAX; run += 1) {
    const outcome = (await runGroup(deps, tenant, [subscription])).get(subscription)
    if (outcome?.kind === 'FAILED') throw outcome.error
    const row = await readTenant(deps.database, tenant, uow => getInvoice(uow, id))
    if (row.status !== 'DRAFT') return row
    await readTenant(deps.database, tenant, uow => requireAnswered(uow, [row]))
  }
  return null
}

/** The subscription to run; null where there is nothing to combine. */
async function endGrace(uow: Uow, id: Id<'invo'>): Promise<string | null> {
  const { pricing_plan_subscription_id: subscription, status, cutoff_at, advance_only } = await getInvoice(uow, id)
  if (subscription === null || status !== 'DRAFT') return null
  const siblings = await siblingsOf(uow, subscription)
  if (siblings.length < 2) return null
  await lockSubscriptions(uow, siblings, { skip: false })
  const states = await loadStates(uow, siblings)
  const own = wordsOf(states.get(subscription))
  const due = [...states.values()]
    .filter(state => own !== null && wordsOf(state) === own)
    .flatMap(({ rows }) => rows)
    .filter(row => row.status === 'DRAFT' && !row.on_hold)
    .filter(row => row.cutoff_at === cutoff_at && row.advance_only === advance_only)
  if (due.length < 2) return null
  const now = formatInstant(uow.now)
  for (const row of due) await lockInvoice(uow, row.id)
  const rows = await loadInvoices(
    uow,
    due.map(row => row.id),
  )
  await requireAnswered(
    uow,
    [...rows.values()].map(row => askedNow(row, states, uow.now)),
  )
  await saveTogether(
    uow,
    [...rows.values()].map(row => changed(unchanged(row), uow.now, { finalize_at: now })),
  )
  await saveNextBillings(uow, new Map(due.map(row => [row.pricing_plan_subscription_id ?? '', now])))
  return idOf('ppsu', subscription)
}

/**
 * The row with what it asks a tax engine now: an address, or who decides the tax, may have changed since it was computed, and the
 * grace period must not end before the new question is answered.
 */
function askedNow(
  row: InvoiceRow,
  states: ReadonlyMap<string, SubscriptionState>,
  now: Instant,
): Pick<InvoiceRow, 'content' | 'timezone'> {
  const inputs = states.get(row.pricing_plan_subscription_id ?? '')?.inputs
  if (!inputs) return row
  const { sales_tax_percentage: salesTaxPercentage, billing_type: billingType, invoice_date } = row
  const on = localDateOf(invoice_date === null ? now : at(invoice_date), zoneNamed(row.timezone))
  const lines = row.content.tax_categories.map(({ category: taxCategory }) => ({ taxCategory }))
  const { open } = invoiceTax({ parties: inputs, salesTaxPercentage, billingType, lines }, on)
  const { tax_question: _then, ...content } = row.content
  return { ...row, content: open ? { ...content, tax_question: open } : content }
}

const wordsOf = (state: SubscriptionState | undefined): string | null => (state ? combinedWith(state.inputs) : null)
