// The one invoice that will be issued for several subscriptions of a customer that combine, as it would be if they were issued now.

import { localDateOf } from '../../../../shared/billing/local-days.ts'
import { readTenant } from '../../../../shared/database/database.ts'
import { plain } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { PausingWork } from '../../../../shared/pausing-work.ts'
import { inTurns } from '../../../../shared/process/in-turns.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { instantOf } from '../../../../shared/time.ts'
import { zoneOfParties } from '../../invoices/document/parties.ts'
import type { InvoiceColumns } from '../../invoices/table.ts'
import { isOpenEnded, UNTOUCHED } from '../../invoices/table.ts'
import { requireAnswers } from '../../invoices/tax/answers/with-answers.ts'
import { hasLines } from '../../invoices/view.ts'
import { paidByBalances } from '../../invoices/wallet-uses.ts'
import { pricingInvoice } from '../pricing/price-invoice.ts'
import { COMBINED_BILLING, type Joinable, joinIssues } from '../run/combined/issue-together.ts'
import { combinedAt, sameDocument } from '../run/combined/match.ts'
import { siblingsOf } from '../run/combined/siblings.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { openUntilOf } from '../run/open-until.ts'
import { keyOfRow, keyOfWindow } from '../run/state/subscription-invoices.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { findingWindow, type PassingBound, siblingsBound } from './preview-windows.ts'
import {
  type ChosenPreview,
  fundsOf,
  invoiceIdOf,
  loadPreviewStates,
  type PreviewState,
  previewRequest,
  type ReadPreview,
  readPreviews,
} from './price-previews.ts'
import { type InvoicePreview, unsavedView } from './unsaved-view.ts'

/**
 * The invoice that this one is issued in; null where it is issued by itself: its subscription does not combine, it is on hold, or no
 * other subscription bills something that ends with it and agrees in what a document has once.
 */
export async function combinedPreview(
  deps: BillingDeps,
  tenant: Tenant,
  { state, choice }: ChosenPreview,
): Promise<InvoicePreview | null> {
  const { inputs } = state
  const place = combinedAt(inputs, choice.window)
  if (place === null) return null
  const states = await readTenant(deps.database, tenant, async uow => {
    const ids = await siblingsOf(uow, idOf('ppsu', inputs.subscription.id))
    return ids.length < 2 ? new Map<string, PreviewState>() : await loadPreviewStates(uow, ids)
  })
  const chosen: ChosenPreview[] = []
  const bound = siblingsBound()
  for (const each of states.values())
    chosen.push(...(await inTurns(findingSameTime(each, { cutoffAt: choice.window.cutoffAt, place, bound }))))
  if (chosen.length < 2) return null
  // In the order in which a run prices them: what wallets pay of one is not there for the next.
  const priced: Part[] = []
  for (const read of await readPreviews(deps, tenant, chosen)) priced.push(await partOf(read))
  const parts = priced.filter(({ columns }) => hasLines(columns.content))
  const own = parts.find(each => each.inputs.subscription.id === inputs.subscription.id)
  if (!own) return null
  const [first, ...others] = parts
    .filter(({ columns }) => sameDocument(columns) === sameDocument(own.columns))
    .toSorted((a, b) => (a.inputs.subscription.id < b.inputs.subscription.id ? -1 : 1))
  if (!first || others.length === 0) return null
  const { joined } = joinIssues([first, ...others], own.funds)
  const stored = new Set([first, ...others].flatMap(each => each.stored ?? []))
  const { combined_invoice_ids: all = [], ...content } = joined.columns.content
  const now = deps.database.clock.now()
  requireAnswers([content], localDateOf(now, zoneOfParties(inputs)))
  return unsavedView(
    {
      ...UNTOUCHED,
      ...joined.columns,
      content: { ...content, combined_invoice_ids: all.filter(id => stored.has(id)) },
      invoice_number: null,
      status: openUntilOf(inputs, choice.window) <= now ? 'DRAFT' : 'OPEN',
      producer: COMBINED_BILLING,
      type: 'STANDARD',
      billing_type: billingTypeOf(inputs),
      customer_id: idOf('cust', inputs.customer.id),
      billing_entity_id: idOf('bill', inputs.billing_entity.id),
      pricing_plan_subscription_id: null,
      holds_period: false,
      on_hold: false,
      payment_status: 'UNPAID',
      wallet_amount: plain(paidByBalances(content)),
      inputs_hash: '',
      finalize_at: null,
      updated_to_final_at: null,
      to_be_reprocessed_at: null,
    },
    { tenant, now },
  )
}

type SameTime = { readonly cutoffAt: number; readonly place: string; readonly bound: PassingBound }

/** Its invoice that ends at the same moment, unless that is issued already or on hold. */
function* findingSameTime(state: PreviewState, { cutoffAt, place, bound }: SameTime): PausingWork<ChosenPreview[]> {
  const { inputs, rows } = state
  const searched = { inputs, terms: resolveTerms(inputs), rows, from: instantOf(cutoffAt - 1) }
  const found = yield* findingWindow(searched, ({ window }) => combinedAt(inputs, window) === place, bound)
  if (!found) return []
  const row = rows.find(each => keyOfRow(each) === keyOfWindow(found.window))
  const isHeld = row ? !isOpenEnded(row) || row.on_hold : inputs.subscription.init_invoice_on_hold
  return isHeld ? [] : [{ state, choice: found }]
}

type Part = Joinable & {
  readonly columns: InvoiceColumns
  readonly stored: string | null
  readonly funds: PreviewState['funds']
}

async function partOf(read: ReadPreview): Promise<Part> {
  const { inputs, funds } = read.state
  const request = previewRequest(read)
  const { columns } = await inTurns(pricingInvoice(inputs, request))
  const stored = invoiceIdOf(read)
  // One that is not stored needs a name of its own for the funds alone.
  const id = idOf('invo', stored ?? `invo_${inputs.subscription.id}`)
  funds.take({ ...fundsOf(read), invoiceId: id }, columns.content)
  return {
    inputs,
    request,
    funds,
    draft: { row: { id } },
    final: { row: { content: columns.content } },
    columns,
    stored,
  }
}
