// POST /v1/invoices/charge-on-demand-pricing-items: bills what a customer buys beside its billing periods.
import { addDays, localDateOf, startOfLocalDay } from '../../../../shared/billing/local-days.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, newId } from '../../../../shared/ids.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { findOne, requireAll } from '../../../resource/store.ts'
import { wholeInvoice } from '../../invoices/answer.ts'
import { makeFinal } from '../../invoices/changes/finalize.ts'
import { insertInvoice } from '../../invoices/changes/insert-invoice.ts'
import { zoneOfParties } from '../../invoices/document/parties.ts'
import { announce } from '../../invoices/one-off/insert-one-off.ts'
import { type ComputedInvoice, storedColumns } from '../../invoices/producer.ts'
import { lockInvoice, type NewInvoice } from '../../invoices/repository.ts'
import type { InvoiceView } from '../../invoices/schema.ts'
import { lockFunds, readFunds } from '../../invoices/settlement/funds.ts'
import { type InvoiceRow, type OnDemandTerms, UNTOUCHED } from '../../invoices/table.ts'
import { requireAnswers } from '../../invoices/tax/answers/with-answers.ts'
import { lockCustomerShared } from '../../parties/customers/lock-customer.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import { type InvoicePreview, unsavedView } from '../preview/unsaved-view.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { loadBillingInputs } from '../terms/load/load-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { computeOnDemand, fundsOfOrder } from './compute-on-demand.ts'
import { ON_DEMAND_BILLING, recomputeOnDemand } from './on-demand-producer.ts'
import { chargesOfOrder, checkOrder } from './order.ts'
import type { OnDemandChargeBody } from './schema.ts'

/**
 * Bills the items as a DRAFT, or as a FINAL invoice with `finalize_immediately`; with `preview` it stores nothing and
 * gives the same invoice without an id. Throws like `checkOrder`, and INVALID_OPERATION for an invoice that cannot
 * become FINAL.
 */
export async function chargeOnDemand(uow: Uow, body: OnDemandChargeBody): Promise<InvoiceView | InvoicePreview> {
  if (body.preview) {
    const { inputs, ...priced } = await price(uow, body, { saves: false })
    requireAnswers([priced.computed.columns.content], localDateOf(uow.now, zoneOfParties(inputs)))
    return unsavedView(newInvoice(inputs, priced), { tenant: uow.tenant, now: uow.now })
  }
  return await wholeInvoice(uow, await billOnDemand(uow, body))
}

/** Bills an order in the transaction of the caller, and returns its invoice. Throws like `chargeOnDemand`. */
export async function billOnDemand(uow: Uow, body: Omit<OnDemandChargeBody, 'preview'>): Promise<InvoiceRow> {
  const { inputs, order, computed } = await price(uow, body, { saves: true })
  if (body.finalize_immediately && at(order.start_at) > uow.now)
    throw new AppError('INVALID_FIELD', 'A charge that starts later cannot become FINAL now.', { field: 'start_at' })
  const { id } = await insertInvoice(uow, newInvoice(inputs, { order, computed }), computed.lines)
  const created = await announce(uow, id)
  if (!body.finalize_immediately) return created
  const current = await recomputeOnDemand(uow, id)
  if (!current) throw new Error(`the order of ${id} was checked`)
  return await makeFinal(uow, await lockInvoice(uow, id), current)
}

type Priced = { readonly inputs: BillingInputs; readonly order: OnDemandTerms; readonly computed: ComputedInvoice }

/** Checks and prices an order; with `saves` under the locks that its invoice needs. */
async function price(uow: Uow, body: OnDemandChargeBody, { saves }: { readonly saves: boolean }): Promise<Priced> {
  const { pricing_plan_schedule_id: scheduleId } = body
  const found = await findOne(uow, scheduleResource, scheduleId)
  // Before the schedule, as in whatever changes one.
  if (found && saves) await lockSubscription(uow, found.pricing_plan_subscription_id)
  const [schedule] = await requireAll(uow, scheduleResource, [{ id: scheduleId, field: 'pricing_plan_schedule_id' }])
  if (!schedule) throw new Error('what requireAll accepts is there')
  const subscriptionId = schedule.pricing_plan_subscription_id
  const inputs = await loadBillingInputs(uow, subscriptionId)
  if (saves) await lockCustomerShared(uow, idOf('cust', inputs.customer.id))
  const order = orderOf(inputs, body, body.start_at ?? formatInstant(uow.now))
  const terms = resolveTerms(inputs)
  checkOrder({ inputs, terms, order })
  const bought = chargesOfOrder({ terms, order })
  if (bought === null) throw new Error('a checked order has its prices')
  const owners = { customerIds: [inputs.customer.id], invoiceIds: [] }
  const funds = saves ? await lockFunds(uow, owners) : await readFunds(uow, owners)
  const payers = funds.payers(fundsOfOrder(inputs, { order, invoiceId: null }))
  return {
    inputs,
    order,
    computed: computeOnDemand(inputs, { terms, order, bought, payers, added: [], finalizedAt: null }),
  }
}

/** The order as stored. What is bought is delivered on the local day of its start. */
function orderOf(inputs: BillingInputs, body: OnDemandChargeBody, startAt: string): OnDemandTerms {
  const zone = zoneOfParties(inputs)
  const day = localDateOf(at(startAt), zone)
  return {
    id: newId('oder'),
    pricing_plan_schedule_id: body.pricing_plan_schedule_id,
    start_at: formatInstant(at(startAt)),
    service_start: formatInstant(startOfLocalDay(day, zone)),
    service_end: formatInstant(startOfLocalDay(addDays(day, 1), zone)),
    items: body.pricing_items.map(({ pricing_item_id, units, flexible_amount }) => ({
      pricing_item_id,
      ...(units ? { units } : {}),
      ...(flexible_amount ? { flexible_amount } : {}),
    })),
  }
}

const newInvoice = (inputs: BillingInputs, { order, computed }: Omit<Priced, 'inputs'>): NewInvoice => ({
  ...UNTOUCHED,
  ...storedColumns(computed),
  holds_period: false,
  on_demand: order,
  invoice_number: null,
  status: 'DRAFT',
  producer: ON_DEMAND_BILLING,
  type: 'ONE_OFF',
  billing_type: billingTypeOf(inputs),
  customer_id: idOf('cust', inputs.customer.id),
  billing_entity_id: idOf('bill', inputs.billing_entity.id),
  pricing_plan_subscription_id: idOf('ppsu', inputs.subscription.id),
  on_hold: inputs.subscription.init_invoice_on_hold,
  payment_status: 'UNPAID',
  finalize_at: null,
  updated_to_final_at: null,
  to_be_reprocessed_at: null,
})
