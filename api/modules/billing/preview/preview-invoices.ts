// POST /v1/invoices/preview: the invoices that a subscription will have, computed like real ones. Nothing is saved.

import { localDateOf } from '../../../../shared/billing/local-days.ts'
import { HORIZON_AT } from '../../../../shared/billing/periods.ts'
import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { withNamedStatements } from '../../../../shared/database/statements/named-statements.ts'
import { plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { inTurns, othersTurn } from '../../../../shared/process/in-turns.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { findOne, notFound } from '../../../resource/store.ts'
import { openUntil } from '../../invoices/changes/grace.ts'
import { missing } from '../../invoices/document/load-parties.ts'
import { zoneOfParties } from '../../invoices/document/parties.ts'
import { UNTOUCHED } from '../../invoices/table.ts'
import { requireAnswers } from '../../invoices/tax/answers/with-answers.ts'
import { showingPeriods } from '../../invoices/view.ts'
import { paidByBalances } from '../../invoices/wallet-uses.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import { type Deducted, deductedIn } from '../pricing/deducted.ts'
import type { PricedInvoice } from '../pricing/price-invoice.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { endingOf } from '../run/open-until.ts'
import { keyOfWindow, SUBSCRIPTION_BILLING } from '../run/state/subscription-invoices.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { activeSpan, wholePeriodAt } from '../terms/windows.ts'
import type { SubscriptionPreview } from './preview-body.ts'
import { combinedPreview } from './preview-combined.ts'
import { choosingWindows, type PreviewWindow } from './preview-windows.ts'
import {
  fundsOf,
  invoiceIdOf,
  loadPreviewStates,
  type PreviewState,
  pricingPreview,
  readPreviews,
} from './price-previews.ts'
import { type InvoicePreview, unsavedView } from './unsaved-view.ts'

export type Preview = {
  readonly invoice: InvoicePreview
  readonly first_invoice: InvoicePreview
  readonly invoice_infos: readonly {
    readonly pricing_plan_schedule_id: string
    readonly invoices: readonly InvoicePreview[]
  }[]
}

/** Throws RESOURCE_NOT_FOUND when the tenant has no such subscription. */
async function loadPreviewState(uow: ReadUow, subscriptionId: string): Promise<PreviewState> {
  const state = (await loadPreviewStates(uow, [subscriptionId])).get(subscriptionId)
  if (!state) throw missing('PRICING_PLAN_SUBSCRIPTION', subscriptionId)
  return state
}

/**
 * The next invoices of each schedule from `start_at` on. The default is now, or the start of a subscription that is
 * DRAFT. Throws INVALID_OPERATION when there is none, and MissingTaxAnswer when the tax engine has not said what tax applies.
 */
export async function previewInvoices(
  deps: BillingDeps,
  tenant: Tenant,
  request: SubscriptionPreview,
): Promise<Preview> {
  const { pricing_plan_subscription_id: id } = request
  const state = await readTenant(deps.database, tenant, async uow => {
    await requireNoTemplate(uow, id)
    return await loadPreviewState(withNamedStatements(uow), id)
  })
  const { inputs } = state
  const now = deps.database.clock.now()
  const isDraft = inputs.subscription.status === 'DRAFT'
  const from = request.start_at ? at(request.start_at) : isDraft ? (activeSpan(inputs)?.start ?? now) : now
  return await previewsOf(deps, tenant, state, { from, perSchedule: request.invoices_per_schedule ?? 1 })
}

async function requireNoTemplate(uow: ReadUow, id: string): Promise<void> {
  const field = 'pricing_plan_subscription_id'
  const subscription = await findOne(uow, subscriptionResource, id)
  if (!subscription) throw notFound(subscriptionResource, id, field)
  if (subscription.type !== 'TEMPLATE') return
  throw new AppError('INVALID_FIELD', 'It is a TEMPLATE; name it in template_pricing_plan_subscription_id.', { field })
}

type Asked = {
  readonly from: Instant
  readonly perSchedule: number
  /** Whether it was made for the preview alone: nothing is asked or combined for it. */
  readonly isImagined?: true
}

/** The invoices of each schedule from a time on. Throws like `previewInvoices`. */
export async function previewsOf(
  deps: BillingDeps,
  tenant: Tenant,
  state: PreviewState,
  asked: Asked,
): Promise<Preview> {
  const { inputs } = state
  const now = deps.database.clock.now()
  const priced = await pricePreviews(deps, tenant, state, asked)
  if (!asked.isImagined)
    requireAnswers(
      priced.map(({ invoice }) => invoice.columns.content),
      localDateOf(now, zoneOfParties(inputs)),
    )
  const all: { readonly choice: PreviewWindow; readonly view: InvoicePreview }[] = []
  for (const { choice, invoice } of priced) {
    // What the view shows of its periods is then known.
    await inTurns(showingPeriods(invoice.columns.content))
    all.push({ choice, view: previewView(inputs, invoice, { tenant, now }) })
  }
  const [first] = all
  if (!first)
    throw new AppError('INVALID_OPERATION', nothingBilled(inputs, asked.from), {
      field: 'pricing_plan_subscription_id',
    })
  const infos = inputs.schedules.map(schedule => ({
    pricing_plan_schedule_id: schedule.id,
    invoices: all.filter(({ choice }) => choice.schedules.has(schedule.id)).map(({ view }) => view),
  }))
  const invoice = asked.isImagined ? null : await combinedPreview(deps, tenant, { state, choice: first.choice })
  return { invoice: invoice ?? first.view, first_invoice: first.view, invoice_infos: infos }
}

function nothingBilled(inputs: BillingInputs, from: Instant): string {
  const period = wholePeriodAt(inputs, from)
  const next = period && wholePeriodAt(inputs, period.covered.end)
  return [period, next].some(each => each && each.covered.end >= HORIZON_AT)
    ? 'What is billed from then on is for a period that ends after the year 2199, and no invoice is made for that. Choose a shorter billing_period.'
    : 'The subscription bills nothing from then on: its schedules have ended, or nothing of them is charged any more.'
}

type PricedPreview = { readonly choice: PreviewWindow; readonly invoice: PricedInvoice }

/** The next invoices of each schedule from a time on, in order; none when nothing is billed any more. */
async function pricePreviews(
  deps: BillingDeps,
  tenant: Tenant,
  state: PreviewState,
  { from, perSchedule }: { readonly from: Instant; readonly perSchedule: number },
): Promise<PricedPreview[]> {
  const { inputs, rows, funds, ahead } = state
  const chosen = await inTurns(choosingWindows({ inputs, terms: resolveTerms(inputs), rows, ahead, from, perSchedule }))
  // Charges of a year by the day were made, and what is read for them is many questions.
  await othersTurn()
  const read = await readPreviews(
    deps,
    tenant,
    chosen.map(choice => ({ state, choice })),
  )
  // One after the other: what wallets pay of one invoice is not available to later ones, and a discount of an amount is
  // deducted once.
  const deducted: Deducted[] = []
  const priced: PricedPreview[] = []
  for (const each of read) {
    const { choice } = each
    const invoice = await inTurns(pricingPreview(each, deducted))
    const invoiceId = invoiceIdOf(each) ?? keyOfWindow(choice.window)
    funds.take({ ...fundsOf(each), invoiceId }, invoice.columns.content)
    deducted.push(...deductedIn(invoiceId, invoice.lines))
    priced.push({ choice, invoice })
  }
  return priced
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
      status: openUntil(inputs.platform, endingOf(columns)) <= now ? 'DRAFT' : 'OPEN',
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
