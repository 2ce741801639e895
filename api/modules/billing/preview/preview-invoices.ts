// POST /v1/invoices/preview: the invoices that a subscription will have, computed like real ones. Nothing is saved.

import { localDateOf } from '../../../../shared/billing/periods.ts'
import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import { missing } from '../../invoices/document/load-parties.ts'
import { zoneOfParties } from '../../invoices/document/parties.ts'
import { readPurse } from '../../invoices/funds.ts'
import type { NewInvoice } from '../../invoices/repository.ts'
import type { InvoiceView } from '../../invoices/schema.ts'
import { isOpenEnded, UNTOUCHED } from '../../invoices/table.ts'
import { requireAnswers } from '../../invoices/tax-answers/with-answers.ts'
import { invoiceView } from '../../invoices/view.ts'
import { paidByBalances } from '../../invoices/wallet-uses.ts'
import { type ClosedUsage, closedForNext } from '../late/closed-usage.ts'
import { findLateCharges } from '../late/late-charges.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { loadChargedAhead } from '../refunds/load-refunds.ts'
import { type ChargedAhead, refundsIn, refundTimes } from '../refunds/refunds.ts'
import { fundsRequest } from '../run/advance-invoices.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { type PricedInvoice, priceInvoice } from '../run/price-invoice.ts'
import {
  keyOfRow,
  keyOfWindow,
  loadInvoicesOf,
  SUBSCRIPTION_BILLING,
  type SubscriptionInvoice,
} from '../run/subscription-invoices.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { loadManyInputs } from '../terms/load-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { activeSpan } from '../terms/windows.ts'
import { type ReadUsage, readUsage } from '../usage/usage-reader.ts'
import { type CandidateWindow, type PreviewWindow, previewWindows } from './preview-windows.ts'

export type PreviewRequest = {
  readonly pricing_plan_subscription_id: string
  readonly start_at?: string
  readonly invoices_per_schedule?: number
}
export type Preview = {
  readonly invoice: InvoicePreview
  readonly first_invoice: InvoicePreview
  readonly invoice_infos: readonly {
    readonly pricing_plan_schedule_id: string
    readonly invoices: readonly InvoicePreview[]
  }[]
}
export type InvoicePreview = Omit<InvoiceView, 'id' | 'created_at' | 'updated_at'>

/** Everything that the next invoices of a subscription are computed from, but usage. */
export type PreviewState = {
  readonly inputs: BillingInputs
  readonly rows: readonly SubscriptionInvoice[]
  readonly purse: Awaited<ReturnType<typeof readPurse>>
  readonly closed: readonly ClosedUsage[]
  readonly ahead: readonly ChargedAhead[]
}

/** Throws RESOURCE_NOT_FOUND when the tenant has no such subscription. */
async function loadPreviewState(uow: ReadUow, subscriptionId: string): Promise<PreviewState> {
  const state = (await loadPreviewStates(uow, [subscriptionId])).get(subscriptionId)
  if (!state) throw missing('PRICING_PLAN_SUBSCRIPTION', subscriptionId)
  return state
}

/**
 * The same for many subscriptions, in nearly as few statements as for one; a subscription that the tenant does not have is absent. They
 * share one purse.
 */
export async function loadPreviewStates(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<Map<string, PreviewState>> {
  const all = await loadManyInputs(uow, subscriptionIds)
  const [any] = all.values()
  if (!any) return new Map()
  const ids = [...all.keys()]
  const invoices = await loadInvoicesOf(uow, ids)
  const invoiceIds = [...invoices.values()]
    .flat()
    .filter(isOpenEnded)
    .map(({ id }) => id)
  const customerIds = [...all.values()].map(({ customer }) => customer.id)
  const purse = await readPurse(uow, { customerIds, invoiceIds })
  const closed = groupBy(await closedForNext(uow, any.platform.late_event_policy, ids), each => each.subscription_id)
  const states = new Map<string, PreviewState>()
  for (const [id, inputs] of all) {
    const ahead = await loadChargedAhead(uow, inputs)
    states.set(id, { inputs, rows: invoices.get(id) ?? [], purse, closed: closed.get(id) ?? [], ahead })
  }
  return states
}

/**
 * The next invoices of each schedule from `start_at` on. The default is now, or the start of a subscription that is
 * DRAFT. Throws INVALID_OPERATION when there is none, and LacksTaxAnswer when the tax engine has not said what tax applies.
 */
export async function previewInvoices(deps: BillingDeps, tenant: Tenant, request: PreviewRequest): Promise<Preview> {
  const { pricing_plan_subscription_id: id } = request
  const state = await readTenant(deps.database, tenant, uow => loadPreviewState(uow, id))
  const { inputs } = state
  const now = deps.database.clock.now()
  const isDraft = inputs.subscription.status === 'DRAFT'
  const from = request.start_at ? at(request.start_at) : isDraft ? (activeSpan(inputs)?.start ?? now) : now
  const priced = await pricePreviews(deps, tenant, state, { from, perSchedule: request.invoices_per_schedule ?? 1 })
  requireAnswers(
    priced.map(({ invoice }) => invoice.columns.content),
    localDateOf(now, zoneOfParties(inputs)),
  )
  const all = priced.map(({ choice, invoice }) => ({ choice, view: previewView(inputs, invoice, { tenant, now }) }))
  const [first] = all
  if (!first) {
    throw new AppError(
      'INVALID_OPERATION',
      'The subscription has no invoice from then on: it needs a schedule that has not ended.',
      {
        field: 'pricing_plan_subscription_id',
      },
    )
  }
  const infos = inputs.schedules.map(schedule => ({
    pricing_plan_schedule_id: schedule.id,
    invoices: all.filter(({ choice }) => choice.schedules.has(schedule.id)).map(({ view }) => view),
  }))
  return { invoice: first.view, first_invoice: first.view, invoice_infos: infos }
}

type PricedPreview = { readonly choice: PreviewWindow; readonly invoice: PricedInvoice }

/** The next invoices of each schedule from a time on, in order; none when nothing is billed any more. */
async function pricePreviews(
  deps: BillingDeps,
  tenant: Tenant,
  state: PreviewState,
  { from, perSchedule }: { readonly from: Instant; readonly perSchedule: number },
): Promise<PricedPreview[]> {
  const { inputs, rows, purse } = state
  const chosen = previewWindows({ inputs, terms: resolveTerms(inputs), rows, from, perSchedule })
  const read = await readPreviews(
    deps,
    tenant,
    chosen.map(choice => ({ state, choice })),
  )
  // One after the other: what wallets pay of one invoice is not available to later ones.
  return read.map(each => {
    const { choice } = each
    const invoice = pricePreview(each)
    purse.take(
      { ...fundsOf(each), invoiceId: invoiceIdOf(each) ?? keyOfWindow(choice.window) },
      invoice.columns.content,
    )
    return { choice, invoice }
  })
}

/** An invoice to preview. */
export type ChosenPreview = { readonly state: PreviewState; readonly choice: CandidateWindow }
type ReadPreview = ChosenPreview & { readonly late: readonly LateCharge[]; readonly usage: ReadUsage }

/** Reads what the invoices bill, of one subscription or many: the usage of all in one query. In their order. */
export async function readPreviews<T extends ChosenPreview>(
  deps: BillingDeps,
  tenant: Tenant,
  chosen: readonly T[],
): Promise<(T & ReadPreview)[]> {
  // At most one invoice of a subscription bills late usage.
  const withLate = await Promise.all(
    chosen.map(async each => {
      const { inputs, closed } = each.state
      const { takesLate, window } = each.choice
      const of = { tenant, inputs, terms: resolveTerms(inputs), closed, key: keyOfWindow(window) }
      return { ...each, late: takesLate && closed.length > 0 ? await findLateCharges(deps, of) : [] }
    }),
  )
  return await Promise.all(
    withLate.map(async each => {
      const charges = [...each.choice.charges, ...each.late.map(({ charge }) => charge)]
      return { ...each, usage: await readUsage(deps, { tenant, inputs: each.state.inputs, charges }) }
    }),
  )
}

/** The invoice, as if no other were to be paid before it. */
export function pricePreview(read: ReadPreview): PricedInvoice {
  const { choice, late, usage } = read
  const { inputs, ahead, purse } = read.state
  return priceInvoice(inputs, {
    terms: resolveTerms(inputs),
    window: choice.window,
    billed: choice.billed,
    ...usage,
    late,
    refunds: refundsIn(choice.window, refundTimes(inputs), ahead),
    ...purse.payers(fundsOf(read)),
    finalizedAt: null,
  })
}

/** The invoice that stands for the period already; null when there is none. */
const invoiceIdOf = ({ state, choice }: ChosenPreview): string | null =>
  state.rows.find(row => isOpenEnded(row) && keyOfRow(row) === keyOfWindow(choice.window))?.id ?? null

const fundsOf = (of: ChosenPreview) =>
  fundsRequest(of.state.inputs, { window: of.choice.window, invoiceId: invoiceIdOf(of) })

/** An invoice of these inputs that is not saved. */
export function previewView(
  inputs: BillingInputs,
  { columns }: PricedInvoice,
  { tenant, now }: { readonly tenant: Tenant; readonly now: Instant },
): InvoicePreview {
  const { customer, billing_entity, subscription } = inputs
  return unsavedView(
    {
      ...columns,
      invoice_number: null,
      status: at(columns.cutoff_at) <= now ? 'DRAFT' : 'OPEN',
      producer: SUBSCRIPTION_BILLING,
      type: 'STANDARD',
      billing_type: billingTypeOf(inputs),
      customer_id: idOf('cust', customer.id),
      billing_entity_id: idOf('bill', billing_entity.id),
      pricing_plan_subscription_id: idOf('ppsu', subscription.id),
      on_hold: subscription.init_invoice_on_hold,
      payment_status: 'UNPAID',
      ...UNTOUCHED,
      wallet_amount: plain(paidByBalances(columns.content)),
      inputs_hash: '',
      finalize_at: null,
      updated_to_final_at: null,
      to_be_reprocessed_at: null,
    },
    { tenant, now },
  )
}

/** An invoice as it would be shown, of columns that are not saved. */
export function unsavedView(
  columns: NewInvoice,
  { tenant, now }: { readonly tenant: Tenant; readonly now: Instant },
): InvoicePreview {
  const time = formatInstant(now)
  const {
    id: _id,
    created_at: _created,
    updated_at: _updated,
    ...view
  } = invoiceView(
    {
      ...columns,
      platform_id: tenant.platformId,
      environment: tenant.environment,
      id: 'invo_',
      created_at: time,
      updated_at: time,
      custom_fields: [],
    },
    now,
  )
  return view
}
