// POST /v1/invoices/preview: the invoices a subscription will have, computed as the real ones are, and nothing saved.
import { readTenant } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../shared/time.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { type BuiltInvoice, buildInvoice } from './build-invoice.ts'
import { type Charge, chargesOf } from './charges.ts'
import { closedUsageOf } from './closed-usage.ts'
import type { InvoiceDeps } from './compute-invoice.ts'
import { billedElsewhere, keyOfRow, keyOfWindow } from './invoice-keys.ts'
import { findLateCharges } from './late-charges.ts'
import { loadBillingInputs } from './load-inputs.ts'
import { invoicesOfSubscription } from './repository.ts'
import type { InvoiceView } from './schema.ts'
import type { InvoiceOutline } from './table.ts'
import { readUsage } from './usage-reader.ts'
import { invoiceView } from './view.ts'
import { activeSpan, at, type InvoiceWindow, invoiceWindows } from './windows.ts'

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

/** Most invoices one preview computes. */
const PREVIEWS_MAX = 60
/** Periods looked through for invoices that ask something; a yearly item on a daily cycle is found within it. */
const WINDOWS_MAX = 400

/**
 * The next invoices of each schedule from `start_at` on: by default from now, or from the start of a subscription that is
 * DRAFT. Throws INVALID_OPERATION when there is none.
 */
export async function previewInvoices(deps: InvoiceDeps, tenant: Tenant, request: PreviewRequest): Promise<Preview> {
  const { inputs, rows, closed } = await readTenant(deps.database, tenant, async uow => ({
    inputs: await loadBillingInputs(uow, request.pricing_plan_subscription_id),
    rows: await invoicesOfSubscription(uow, request.pricing_plan_subscription_id),
    closed: await closedUsageOf(uow, request.pricing_plan_subscription_id),
  }))
  const now = deps.database.clock.now()
  const isDraft = inputs.subscription.status === 'DRAFT'
  const from = request.start_at ? at(request.start_at) : isDraft ? (activeSpan(inputs)?.start ?? now) : now
  const chosen = choose(inputs, rows, { from, perSchedule: request.invoices_per_schedule ?? 1 })
  const [first] = chosen
  if (!first) {
    throw new AppError(
      'INVALID_OPERATION',
      'The subscription has no invoice from then on: it needs a schedule that has not ended.',
      {
        field: 'pricing_plan_subscription_id',
      },
    )
  }
  const previews = new Map<Choice, InvoicePreview>()
  for (const choice of chosen) {
    const { window, billed } = choice
    const late = choice.takesLate
      ? await findLateCharges(deps, { tenant, inputs, closed, key: keyOfWindow(window) })
      : []
    const charges = [...choice.charges, ...late.map(({ charge }) => charge)]
    const read = await readUsage(deps.usage, { tenant, inputs, charges })
    const built = buildInvoice(inputs, { window, billed, ...read, late, finalisedAt: null })
    previews.set(choice, previewView(inputs, built, { tenant, now }))
  }
  const viewOf = (choice: Choice): InvoicePreview => {
    const view = previews.get(choice)
    if (!view) throw new Error('every choice was built')
    return view
  }
  const infos = inputs.schedules.map(schedule => ({
    pricing_plan_schedule_id: schedule.id,
    invoices: chosen.filter(choice => choice.schedules.has(schedule.id)).map(viewOf),
  }))
  return { invoice: viewOf(first), first_invoice: viewOf(first), invoice_infos: infos }
}

type Choice = {
  readonly window: InvoiceWindow
  readonly billed: ReadonlySet<string>
  readonly charges: readonly Charge[]
  /** Whether late usage goes on it. */
  readonly takesLate: boolean
  /** The schedules this invoice is shown under. */
  readonly schedules: ReadonlySet<string>
}

type Candidate = Omit<Choice, 'schedules'>

/** Every invoice in order with what it asks, each knowing what those before it ask in advance. */
function* candidates(inputs: BillingInputs, rows: readonly InvoiceOutline[]): Generator<Candidate, void, undefined> {
  const asked = new Set<string>()
  let takesLate = inputs.platform.late_event_policy === 'NEXT_INVOICE'
  const closed = new Set(rows.filter(row => row.status === 'FINAL' || row.status === 'ARCHIVED').map(keyOfRow))
  for (const window of invoiceWindows(inputs)) {
    const key = keyOfWindow(window)
    const billed = new Set([...asked, ...billedElsewhere(rows, { key, cutAt: window.cutAt })])
    const charges = chargesOf(inputs, window, billed)
    // What a closed invoice did not ask stays to be asked, so only what open ones will ask counts here.
    const ahead = closed.has(key) ? [] : charges.filter(charge => charge.inAdvance)
    for (const charge of ahead) asked.add(charge.key)
    yield { window, billed, charges, takesLate: takesLate && !closed.has(key) }
    if (!closed.has(key)) takesLate = false
  }
}

function choose(
  inputs: BillingInputs,
  rows: readonly InvoiceOutline[],
  { from, perSchedule }: { readonly from: Instant; readonly perSchedule: number },
): Choice[] {
  const left = new Map(inputs.schedules.map(schedule => [schedule.id, perSchedule]))
  const chosen: Choice[] = []
  let scanned = 0
  for (const candidate of candidates(inputs, rows)) {
    const { window, charges } = candidate
    dropEnded(inputs, window, left)
    if (window.cutAt < from) continue
    scanned += 1
    if (chosen.length >= PREVIEWS_MAX || scanned > WINDOWS_MAX || left.size === 0) break
    const wanted = new Set(charges.map(charge => charge.schedule.id).filter(id => left.has(id)))
    for (const id of wanted) countDown(left, id)
    if (wanted.size > 0) chosen.push({ ...candidate, schedules: wanted })
  }
  return chosen
}

/** A schedule that ended before a window opens has no more invoices. */
function dropEnded(inputs: BillingInputs, window: InvoiceWindow, left: Map<string, number>): void {
  for (const { id, end_at } of inputs.schedules) if (end_at !== null && at(end_at) <= window.opensAt) left.delete(id)
}

function countDown(left: Map<string, number>, id: string): void {
  const count = (left.get(id) ?? 0) - 1
  if (count > 0) left.set(id, count)
  else left.delete(id)
}

function previewView(
  inputs: BillingInputs,
  built: BuiltInvoice,
  { tenant, now }: { tenant: Tenant; now: Instant },
): InvoicePreview {
  const {
    id: _id,
    created_at: _created,
    updated_at: _updated,
    ...view
  } = invoiceView({
    ...built,
    platform_id: tenant.platformId,
    environment: tenant.environment,
    id: '',
    created_at: formatInstant(now),
    updated_at: formatInstant(now),
    invoice_number: null,
    status: at(built.cut_at) <= now ? 'DRAFT' : 'OPEN',
    type: 'STANDARD',
    billing_type: 'DEFAULT',
    customer_id: inputs.customer.id,
    billing_entity_id: inputs.billing_entity.id,
    pricing_plan_subscription_id: inputs.subscription.id,
    on_hold: inputs.subscription.init_invoice_on_hold,
    payment_status: 'UNPAID',
    fingerprint: '',
    finalize_at: null,
    updated_to_final_at: null,
    to_be_reprocessed_at: null,
  })
  return view
}
