// What is ordered on demand, checked against the prices of its schedule (contract: Units on one-off items). Pure.
import { isWithin } from '../../../../shared/billing/periods.ts'
import { type Decimal, decimal, roundHalfUp, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { currencyExponent } from '../../../../shared/money.ts'
import { flexibleFault } from '../../../../shared/rating/flexible-amount.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { at, contains, formatInstant } from '../../../../shared/time.ts'
import type { OnDemandItem, OnDemandTerms } from '../../invoices/table.ts'
import type { Charge } from '../charges/charge.ts'
import { onDemandCharge } from '../charges/charges.ts'
import { priceOf } from '../rating/charge-volume.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { isOnDemand, type PriceTerm } from '../terms/price-terms.ts'
import { termAt } from '../terms/term-at.ts'

type Of = { readonly inputs: BillingInputs; readonly terms: readonly PriceTerm[]; readonly order: OnDemandTerms }

const PLACE = 'pricing_items'
const refused = (field: string, message: string) => new AppError('INVALID_FIELD', message, { field })

/**
 * Throws with the field when the order cannot be charged: INVALID_OPERATION for a subscription or schedule that is not
 * in force, RESOURCE_NOT_FOUND for an item that the schedule does not price, and MISSING_FIELD or INVALID_FIELD for
 * what is ordered of it.
 */
export function checkOrder(of: Of): void {
  checkSchedule(of)
  const { order, terms } = of
  for (const [index, item] of order.items.entries()) {
    const field = `${PLACE}.${index}`
    if (order.items.findIndex(other => other.pricing_item_id === item.pricing_item_id) < index)
      throw refused(`${field}.pricing_item_id`, 'The item is ordered twice; order it once.')
    const own = pricesOf({ order, terms }, item)
    if (own.length === 0)
      throw new AppError('RESOURCE_NOT_FOUND', `The schedule prices no item ${JSON.stringify(item.pricing_item_id)}.`, {
        field: `${field}.pricing_item_id`,
      })
    const term = soldTerm(own, order)
    if (!term)
      throw refused(
        `${field}.pricing_item_id`,
        'The item is billed by the billing periods. Only an item with on_demand can be charged on demand.',
      )
    checkTime(term, order)
    checkNumber(term, item, field)
  }
}

/** The charges of an order; null when its schedule no longer has one of the items. */
export function chargesOfOrder({ terms, order }: Pick<Of, 'terms' | 'order'>): readonly Charge[] | null {
  const time = { start: at(order.service_start), end: at(order.service_end) }
  const charges = order.items.map(item => {
    const term = soldTerm(pricesOf({ order, terms }, item), order)
    return term ? onDemandCharge(term, { orderId: order.id, time, number: numberOf(item) }) : null
  })
  return charges.every(charge => charge !== null) ? charges : null
}

const pricesOf = ({ order, terms }: Pick<Of, 'terms' | 'order'>, { pricing_item_id }: OnDemandItem): PriceTerm[] =>
  terms.filter(({ schedule, item }) => schedule.id === order.pricing_plan_schedule_id && item.id === pricing_item_id)

/** The on-demand price among these: an ADDON has one for each time in which it is enabled, and that of the order counts. */
function soldTerm(own: readonly PriceTerm[], { start_at }: OnDemandTerms): PriceTerm | undefined {
  const onDemand = own.filter(isOnDemand)
  return termAt(onDemand, at(start_at)) ?? onDemand[0]
}

const numberOf = ({ units, flexible_amount: chosen }: OnDemandItem): Decimal | null =>
  units?.number ? decimal(units.number) : chosen ? decimal(chosen.quantity) : null

function checkSchedule({ inputs: { subscription, schedules }, order }: Of): void {
  const id = order.pricing_plan_schedule_id
  const refuse = (message: string): never => {
    throw new AppError('INVALID_OPERATION', message, {
      field: 'pricing_plan_schedule_id',
      resourceId: id,
      resourceType: 'PRICING_PLAN_SCHEDULE',
    })
  }
  if (subscription.status !== 'ACTIVE')
    refuse(`The subscription is ${subscription.status}; only an ACTIVE one can be charged on demand.`)
  const schedule = schedules.find(each => each.id === id)
  if (!schedule) refuse('The schedule is not active; activate it first.')
  if (schedule?.trial) refuse('The schedule is a TRIAL, which charges nothing; name the schedule after it.')
}

/** Whether the schedule is in force at that time, and the subscription is not paused then. */
function checkTime({ calendar, schedule }: PriceTerm, { start_at }: OnDemandTerms): void {
  const time = at(start_at)
  const span = calendar?.span
  if (!span || !isWithin(span, time)) {
    const until = span?.end ? ` to ${formatInstant(span.end)}` : ''
    const from = span ? formatInstant(span.start) : schedule.start_at
    throw refused('start_at', `The schedule is in force from ${from}${until}; start_at must lie in that time.`)
  }
  if (calendar.pauses.some(pause => contains(pause, time)))
    throw refused('start_at', 'The subscription is paused at that time; resume it, or give another time.')
}

/** What must be said of an item depends on how it is priced: FLAT by units, FLEXIBLE by an amount, FIXED by nothing. */
function checkNumber(term: PriceTerm, { units, flexible_amount: chosen }: OnDemandItem, field: string): void {
  const { pricing_type: type } = term.config
  const basis = findPriceModel(type)?.basis
  const missing = (name: string, message: string) =>
    new AppError('MISSING_FIELD', message, { field: `${field}.${name}` })
  for (const name of ['amount', 'count'] as const)
    if (units?.[name]) throw refused(`${field}.units.${name}`, 'Units are a number; use number.')
  if (units && !units.number) throw missing('units.number', 'Say how many units.')
  if (units?.number && decimal(units.number).lte(ZERO))
    throw refused(`${field}.units.number`, 'Units must be above zero.')
  if (units && basis !== 'units')
    throw refused(`${field}.units`, `A ${type} price is not sold by units; leave them out.`)
  if (chosen && basis !== 'chosen')
    throw refused(
      `${field}.flexible_amount`,
      `The customer does not choose the amount of a ${type} price; leave flexible_amount out.`,
    )
  if (basis === 'units' && !units) throw missing('units', 'The item is priced by units; say how many in units.number.')
  const price = priceOf(term)
  if (basis !== 'chosen') return
  if (!chosen) throw missing('flexible_amount', 'The customer chooses the amount; give it in flexible_amount.')
  if (chosen.currency !== price.currency)
    throw refused(
      `${field}.flexible_amount.currency`,
      `The item is priced in ${price.currency}; choose an amount in that.`,
    )
  const quantity = decimal(chosen.quantity)
  const places = currencyExponent(price.currency)
  const fault = !roundHalfUp(quantity, places).eq(quantity)
    ? `An amount in ${price.currency} has at most ${places} decimals.`
    : flexibleFault(price, quantity)
  if (fault !== null) throw refused(`${field}.flexible_amount.quantity`, fault)
}
