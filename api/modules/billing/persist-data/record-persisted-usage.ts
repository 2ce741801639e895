// POST /v1/ingest/persist-data: persists the state of a price's calculation at a moment (docs/decisions/0015).
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { formatInstant, parseInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { findOne, lockOne, notFound } from '../../../resource/store.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { wakeBilling } from '../../subscriptions/billing-time/next-billing.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Subscription } from '../../subscriptions/table.ts'
import { periodAt } from '../charges/charges.ts'
import { findByReference, insertPersistedUsage } from '../persisted-usage/repository.ts'
import type { PersistData } from '../persisted-usage/table.ts'
import { loadBillingInputs } from '../terms/load/load-inputs.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { momentOf, refuseUnsupported } from './check-fields.ts'
import { type Moment, namedPrice } from './named-price.ts'
import { refuseBilledState } from './refuse-billed-state.ts'
import type { PersistDataBody } from './schema.ts'

/**
 * Stores the state and returns its view. As with events, a repeated reference returns what was stored under it and
 * changes nothing. From its moment on the price counts on top of the state; when several have the same moment, the last
 * one applies. The billing of the subscription runs again at once. Throws INVALID_FIELD, RESOURCE_NOT_FOUND or
 * INVALID_OPERATION with the field. Emits PERSIST_DATA.CREATED.
 */
export async function recordPersistedUsage(uow: Uow, body: PersistDataBody): Promise<Row> {
  const known = body.reference ? await findByReference(uow, body.reference) : null
  if (known) return await viewOf(uow, known)
  refuseUnsupported(body)
  const moment = momentOf(body, uow.now)
  const subscription = await lockSubscriptionOf(uow, body)
  const inputs = await loadBillingInputs(uow, subscription.id)
  const term = namedPrice(inputs, body, moment)
  const end = endOf(body, { term, moment })
  await refuseBilledState(uow, { subscriptionId: subscription.id, term, moment })
  const row = await insertPersistedUsage(uow, {
    reference: body.reference ?? null,
    customer_id: idOf('cust', body.customer_id),
    pricing_plan_subscription_id: idOf('ppsu', body.pricing_plan_subscription_id),
    pricing_plan_schedule_id: idOf('ppsc', term.schedule.id),
    pricing_id: idOf('prcg', body.pricing_id),
    pricing_item_id: idOf('prii', body.pricing_item_id),
    pricing_item_config_id: idOf('pico', body.pricing_item_config_id),
    start_at: formatInstant(moment.at),
    end_at: end,
    persist_usage: plain(decimal(body.persist_usage)),
  })
  if (!row) {
    const first = body.reference ? await findByReference(uow, body.reference) : null
    if (!first) throw new Error('an insert met a reference that is not there')
    return await viewOf(uow, first)
  }
  const view = await viewOf(uow, row)
  await emit(uow, { type: 'PERSIST_DATA.CREATED', objectId: row.id, data: view, previous: null })
  await wakeBilling(uow, subscription)
  return view
}

/**
 * The lock puts the persisted states of a subscription in one order, and keeps its invoices from being closed
 * meanwhile.
 */
async function lockSubscriptionOf(uow: Uow, body: PersistDataBody): Promise<Subscription> {
  const { customer_id, customer_reference, pricing_plan_subscription_id: id } = body
  const customer = await findOne(uow, customerResource, customer_id)
  if (!customer || customer.id !== customer_id) throw notFound(customerResource, customer_id, 'customer_id')
  requireSame(customer_reference, customer.reference, 'customer_reference')
  const subscription = await lockOne(uow, subscriptionResource, id)
  if (!subscription || subscription.id !== id) throw notFound(subscriptionResource, id, 'pricing_plan_subscription_id')
  if (subscription.customer_id !== customer_id) {
    const message = 'The subscription is of another customer than customer_id.'
    throw new AppError('INVALID_FIELD', message, { field: 'pricing_plan_subscription_id' })
  }
  const reference = body.pricing_plan_subscription_reference
  requireSame(reference, subscription.reference, 'pricing_plan_subscription_reference')
  if (subscription.status === 'ACTIVE') return subscription
  const message = `The subscription is ${subscription.status}; only an ACTIVE subscription carries a state over.`
  throw new AppError('INVALID_OPERATION', message, {
    field: 'pricing_plan_subscription_id',
    resourceId: id,
    resourceType: subscriptionResource.objectType,
  })
}

function requireSame(given: string | null | undefined, reference: string | null, field: string): void {
  if (given === null || given === undefined || given === reference) return
  const message = `${field} does not name what ${field.replace('reference', 'id')} names; send one of them, or both of the same.`
  throw new AppError('INVALID_FIELD', message, { field })
}

/** The end that a body gives. It adds nothing; it only confirms that the sender has the same billing periods. */
function endOf(
  { period }: PersistDataBody,
  { term, moment }: { readonly term: PriceTerm; readonly moment: Moment },
): string | null {
  const given = period?.end_at ?? null
  if (given === null) return null
  const covered = periodAt(term, moment.at)?.covered
  if (covered?.start === moment.at && covered.end === parseInstant(given)) return given
  const own = covered ? `, which here is ${formatInstant(covered.start)} to ${formatInstant(covered.end)}` : ''
  const message = `A period with an end is one whole billing period of the price${own}. Leave end_at out to set a state for any other moment.`
  throw new AppError('INVALID_FIELD', message, { field: 'period.end_at' })
}

async function viewOf(uow: ReadUow, row: PersistData): Promise<Row> {
  const {
    start_at,
    end_at,
    pricing_plan_schedule_id: _schedule,
    platform_id: _platform,
    seq: _seq,
    environment: _env,
    ...rest
  } = row
  const customer = await findOne(uow, customerResource, row.customer_id)
  const subscription = await findOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  return {
    object_type: 'PERSIST_DATA',
    ...rest,
    customer_reference: customer?.['reference'] ?? null,
    pricing_plan_subscription_reference: subscription?.['reference'] ?? null,
    timestamp: start_at,
    period: { start_at, end_at },
  }
}
