// POST /v1/invoices/preview: the invoices that a subscription will have, computed like real ones. Nothing is saved.
import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import { readPurse } from '../../invoices/funds.ts'
import type { NewInvoice } from '../../invoices/repository.ts'
import type { InvoiceView } from '../../invoices/schema.ts'
import { isOpenEnded, UNTOUCHED } from '../../invoices/table.ts'
import { invoiceView } from '../../invoices/view.ts'
import { paidByBalances } from '../../invoices/wallet-uses.ts'
import { type ClosedUsage, closedForNext } from '../late/closed-usage.ts'
import { findLateCharges } from '../late/late-charges.ts'
import { loadChargedAhead } from '../refunds/load-refunds.ts'
import { type ChargedAhead, refundsIn, refundTimes } from '../refunds/refunds.ts'
import { fundsRequest } from '../run/advance-invoices.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { type PricedInvoice, priceInvoice } from '../run/price-invoice.ts'
import {
  keyOfRow,
  keyOfWindow,
  loadSubscriptionInvoices,
  SUBSCRIPTION_BILLING,
  type SubscriptionInvoice,
} from '../run/subscription-invoices.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { loadBillingInputs } from '../terms/load-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { activeSpan } from '../terms/windows.ts'
import { readUsage } from '../usage/usage-reader.ts'
import { type PreviewWindow, previewWindows } from './preview-windows.ts'

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
export async function loadPreviewState(uow: ReadUow, subscriptionId: string): Promise<PreviewState> {
  const inputs = await loadBillingInputs(uow, subscriptionId)
  const rows = await loadSubscriptionInvoices(uow, subscriptionId)
  const invoiceIds = rows.filter(isOpenEnded).map(({ id }) => id)
  return {
    inputs,
    rows,
    purse: await readPurse(uow, { customerIds: [inputs.customer.id], invoiceIds }),
    closed: await closedForNext(uow, inputs.platform.late_event_policy, [inputs.subscription.id]),
    ahead: await loadChargedAhead(uow, inputs),
  }
}

/**
 * The next invoices of each schedule from `start_at` on. The default is now, or the start of a subscription that is
 * DRAFT. Throws INVALID_OPERATION when there is none.
 */
export async function previewInvoices(deps: BillingDeps, tenant: Tenant, request: PreviewRequest): Promise<Preview> {
  const { pricing_plan_subscription_id: id } = request
  const state = await readTenant(deps.database, tenant, uow => loadPreviewState(uow, id))
  const { inputs } = state
  const now = deps.database.clock.now()
  const isDraft = inputs.subscription.status === 'DRAFT'
  const from = request.start_at ? at(request.start_at) : isDraft ? (activeSpan(inputs)?.start ?? now) : now
  const priced = await pricePreviews(deps, tenant, state, { from, perSchedule: request.invoices_per_schedule ?? 1 })
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

export type PricedPreview = { readonly choice: PreviewWindow; readonly invoice: PricedInvoice }

/** The next invoices of each schedule from a time on, in order; none when nothing is billed any more. */
export async function pricePreviews(
  deps: BillingDeps,
  tenant: Tenant,
  { inputs, rows, closed, ahead, purse }: PreviewState,
  { from, perSchedule }: { readonly from: Instant; readonly perSchedule: number },
): Promise<PricedPreview[]> {
  const times = refundTimes(inputs)
  const terms = resolveTerms(inputs)
  const chosen = previewWindows({ inputs, terms, rows, from, perSchedule })
  // Late usage goes on at most one of them. The usage of all is read at once.
  const withLate = await Promise.all(
    chosen.map(async choice => {
      const key = keyOfWindow(choice.window)
      return {
        choice,
        late: choice.takesLate ? await findLateCharges(deps, { tenant, inputs, terms, closed, key }) : [],
      }
    }),
  )
  const read = await Promise.all(
    withLate.map(async ({ choice, late }) => {
      const charges = [...choice.charges, ...late.map(({ charge }) => charge)]
      return { choice, late, usage: await readUsage(deps.usage, { tenant, inputs, charges }) }
    }),
  )
  // One after the other: what wallets pay of one invoice is not available to later ones.
  return read.map(({ choice, late, usage }) => {
    const { window, billed } = choice
    const key = keyOfWindow(window)
    const invoiceId = rows.find(row => isOpenEnded(row) && keyOfRow(row) === key)?.id ?? null
    const funds = fundsRequest(inputs, { window, invoiceId })
    const refunds = refundsIn(window, times, ahead)
    const invoice = priceInvoice(inputs, {
      terms,
      window,
      billed,
      ...usage,
      late,
      refunds,
      ...purse.payers(funds),
      finalizedAt: null,
    })
    purse.take({ ...funds, invoiceId: invoiceId ?? key }, invoice.columns.content)
    return { choice, invoice }
  })
}

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
