// One subscription's billing: opens the invoice of the running period, closes ended ones and makes them FINAL after the
// grace. Every step is one transaction that looks at what is there, so a run may be repeated, killed, or run beside another.
import { type Actor, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { finalFault, makeFinal } from '../../invoices/changes/finalize.ts'
import { graceEnd } from '../../invoices/changes/grace.ts'
import { change, voidGonePeriod } from '../../invoices/changes/invoice-change.ts'
import { insertInvoice, type NewInvoice } from '../../invoices/repository.ts'
import { type InvoiceRow, type InvoiceStatus, UNTOUCHED } from '../../invoices/table.ts'
import { hasLines, invoiceView } from '../../invoices/view.ts'
import { lockSubscription, saveNextBilling } from '../../subscriptions/next-billing.ts'
import { loadBillingInputs } from '../terms/load-inputs.ts'
import { type BillingPlan, nextBilling, planBilling } from './billing-plan.ts'
import {
  type BillingDeps,
  type CountedInvoice,
  computeInvoice,
  type InvoiceState,
  type PriceWindow,
} from './compute-invoice.ts'
import { loadSubscriptionInvoices, type PeriodColumns, SUBSCRIPTION_BILLING } from './subscription-invoices.ts'
import { closeWith, computedOf } from './subscription-producer.ts'

export type BillingRun = {
  /** The invoices the run passed, as it left them. */
  readonly invoices: readonly InvoiceRow[]
  /** When it must run again; null when there is nothing to come. */
  readonly nextBillingAt: Instant | null
}

/** Invoices one run passes at most; the rest waits for the next run, which is due at once. */
const STEPS_MAX = 24
const SETTLE_MS = 15_000
const RETRY_MS = 60_000
const ACTOR: Actor = { id: null, requestId: null }

/**
 * Brings the invoices of a subscription to what they should be now, and says when to come back (`next_billing_at`).
 * Idempotent: run twice, or by two workers, it gives the same invoices and numbers. Throws INVALID_OPERATION when a price
 * cannot be billed, RESOURCE_NOT_FOUND when the tenant has no such subscription.
 */
export async function runBilling(deps: BillingDeps, tenant: Tenant, subscriptionId: string): Promise<BillingRun> {
  const now = deps.database.clock.now()
  const plan = await readTenant(deps.database, tenant, async uow =>
    planBilling(await loadBillingInputs(uow, subscriptionId), await loadSubscriptionInvoices(uow, subscriptionId), now),
  )
  const complete = !plan.closes || (await deps.usage.settle(SETTLE_MS))
  const passed: InvoiceRow[] = []
  for (const key of plan.keys.slice(0, STEPS_MAX)) {
    await deps.failpoint?.('billing.before-invoice')
    const target = { subscriptionId, key }
    const closing = (state: InvoiceState): boolean => complete && mayClose(state, deps.database.clock.now())
    const row = await computeInvoice(deps, { tenant, actor: ACTOR, target, mayClose: closing }, (uow, state, build) =>
      advance(uow, { state, build, complete }),
    )
    if (row) passed.push(row)
  }
  return { invoices: passed, nextBillingAt: await scheduleNext(deps, tenant, { subscriptionId, complete }) }
}

type Step = {
  readonly state: InvoiceState
  readonly build: PriceWindow
  /** Usage up to now can be read; without it nothing closes. */
  readonly complete: boolean
}

/** Whether the end of the grace has come, or has for an invoice that is made now. */
function mayClose({ row, window, inputs }: InvoiceState, now: Instant): boolean {
  if (!window || window.cutoffAt > now) return false
  if (row?.status !== 'DRAFT') return graceEnd(inputs.platform, window.cutoffAt) <= now
  return !row.on_hold && row.finalize_at !== null && at(row.finalize_at) <= now
}

/** Moves one invoice as far as it may go now. Null when there is, rightly, none. */
async function advance(uow: Uow, step: Step): Promise<InvoiceRow | null> {
  const { row, window, inputs } = step.state
  if (row && row.status !== 'OPEN' && row.status !== 'DRAFT') return row
  if (!window) return row ? await voidGonePeriod(uow, row) : null
  if (inputs.subscription.status !== 'ACTIVE' && inputs.subscription.status !== 'CANCELLED') return row
  const ended = window.cutoffAt <= uow.now
  if (ended && !step.complete) return row
  const counted = step.build(window, null)
  const { columns, positions } = counted
  const saved = await saveComputed(uow, step, counted)
  const due =
    saved.status === 'DRAFT' && !saved.on_hold && saved.finalize_at !== null && at(saved.finalize_at) <= uow.now
  // Without positions its time came only now, and the next run closes it.
  if (!due || positions === null || finalFault(columns) !== null) return saved
  // An invoice that bills nothing takes no number; it is kept, so that its period is not billed again.
  if (!hasLines(columns.content)) {
    await closeWith(uow, { invoiceId: saved.id, state: step.state, counted })
    return await change(uow, saved, { status: 'ARCHIVED', finalize_at: null })
  }
  // Priced again only where the date of the invoice is the moment it goes FINAL.
  const last = columns.invoice_date === null ? step.build(window, uow.now) : counted
  const final = await makeFinal(uow, saved, computedOf(step.state, last))
  await closeWith(uow, { invoiceId: saved.id, state: step.state, counted: last })
  return final
}

async function saveComputed(uow: Uow, { state }: Step, { columns, lines }: CountedInvoice): Promise<InvoiceRow> {
  const { row, inputs, inputsHash } = state
  const status: InvoiceStatus = at(columns.cutoff_at) <= uow.now ? 'DRAFT' : 'OPEN'
  if (row) {
    const finalizeAt =
      status === 'DRAFT' && row.status === 'OPEN' && !row.on_hold
        ? closingTime(state, uow.now, columns)
        : row.finalize_at
    const values = { ...columns, inputs_hash: inputsHash, status, finalize_at: status === 'OPEN' ? null : finalizeAt }
    return await change(uow, row, values, lines)
  }
  const onHold = inputs.subscription.init_invoice_on_hold
  const values: NewInvoice = {
    ...columns,
    inputs_hash: inputsHash,
    invoice_number: null,
    status,
    producer: SUBSCRIPTION_BILLING,
    type: 'STANDARD',
    billing_type: 'DEFAULT',
    customer_id: inputs.customer.id,
    billing_entity_id: inputs.billing_entity.id,
    pricing_plan_subscription_id: inputs.subscription.id,
    on_hold: onHold,
    payment_status: 'UNPAID',
    ...UNTOUCHED,
    finalize_at: status === 'DRAFT' && !onHold ? closingTime(state, uow.now, columns) : null,
    updated_to_final_at: null,
    to_be_reprocessed_at: null,
  }
  const created = await insertInvoice(uow, values, lines)
  await emit(uow, { type: 'INVOICE.CREATED', objectId: created.id, data: invoiceView(created), previous: null })
  return created
}

/** The grace runs from the end of the period, or from the creation of the invoice when that is later. */
function closingTime({ row, inputs }: InvoiceState, now: Instant, { cutoff_at }: PeriodColumns): string {
  const created = row ? at(row.created_at) : now
  return formatInstant(graceEnd(inputs.platform, instantOf(Math.max(at(cutoff_at), created))))
}

type Left = { readonly subscriptionId: string; readonly complete: boolean }

async function scheduleNext(deps: BillingDeps, tenant: Tenant, left: Left): Promise<Instant | null> {
  return await inTenant(deps.database, tenant, ACTOR, async uow => {
    await lockSubscription(uow, left.subscriptionId)
    const inputs = await loadBillingInputs(uow, left.subscriptionId)
    const rows = await loadSubscriptionInvoices(uow, left.subscriptionId)
    const plan = planBilling(inputs, rows, uow.now)
    const nextBillingAt = comeBack(left.complete, plan, uow.now) ?? nextBilling(rows, plan.nextOpensAt, uow.now)
    await saveNextBilling(uow, left.subscriptionId, nextBillingAt === null ? null : formatInstant(nextBillingAt))
    return nextBillingAt
  })
}

/** When to come back because this run could not do all that is due; null when it could. */
function comeBack(complete: boolean, plan: BillingPlan, now: Instant): Instant | null {
  if (!complete) return instantOf(now + RETRY_MS)
  return plan.moving > 0 ? now : null
}
