// Finds the price of a persisted state by the ids in the request, from the subscription down to the price
// configuration. The first id that does not fit is refused, with its field.
import { isWithin } from '../../../../shared/billing/periods.ts'
import { isPersistable, PERSISTABLE } from '../../../../shared/billing/persisted-usage.ts'
import { AppError, type ErrorCode } from '../../../../shared/errors.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import { allConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import type { BillingInputs, ItemInput, PricingInput, ScheduleInput } from '../terms/billing-inputs.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import { soldVersions } from '../terms/sold-pricings.ts'
import { termAt } from '../terms/term-at.ts'
import { activeSpan, billingZoneOf } from '../terms/windows.ts'

export type NamedPrice = {
  readonly pricing_id: string
  readonly pricing_item_id: string
  readonly pricing_item_config_id: string
}
/** The moment of a state, and the field that gave it. */
export type Moment = { readonly at: Instant; readonly field: string }

const refuse = (code: ErrorCode, field: string, message: string): AppError => new AppError(code, message, { field })

/**
 * The price with its subscription, schedule and item. Throws INVALID_FIELD or RESOURCE_NOT_FOUND with the field that
 * names no price in force at the moment, or a price whose usage is not carried over or whose state is not one number.
 */
export function namedPrice(inputs: BillingInputs, names: NamedPrice, moment: Moment): PriceTerm {
  const schedule = scheduleAt(inputs, moment)
  const pricing = pricingOf(inputs, names.pricing_id, { schedule, moment })
  const item = pricing.items.find(({ id }) => id === names.pricing_item_id)
  if (!item) throw missing('pricing_item_id', names.pricing_item_id, `the pricing ${pricing.id}`)
  const config = allConfigs(item).find(({ id }) => id === names.pricing_item_config_id)
  if (!config) throw missing('pricing_item_config_id', names.pricing_item_config_id, `the pricing item ${item.id}`)
  const terms = resolveTerms(inputs).filter(each => each.schedule.id === schedule.id && each.config.id === config.id)
  const term = termAt(terms, moment.at)
  if (!term) throw notSold(pricing, { schedule, moment })
  return checkCarriedOn(term, item)
}

/** A price of the version that the schedule does not sell then. */
function notSold(
  { id }: PricingInput,
  { schedule, moment }: { readonly schedule: ScheduleInput; readonly moment: Moment },
): AppError {
  const time = formatInstant(moment.at)
  const message = schedule.trial
    ? `The schedule in force at ${time} is a TRIAL, which charges nothing, so no state is kept.`
    : `The pricing ${id} is an ADDON that the schedule does not have enabled at ${time}; enable it then, or give another moment.`
  return refuse('INVALID_FIELD', schedule.trial ? moment.field : 'pricing_id', message)
}

function scheduleAt(inputs: BillingInputs, { at: moment, field }: Moment): ScheduleInput {
  const span = activeSpan(inputs)
  const isActive = span !== null && isWithin(span, moment)
  const schedule = inputs.schedules.find(
    ({ start_at, end_at }) => at(start_at) <= moment && (end_at === null || moment < at(end_at)),
  )
  if (isActive && schedule) return schedule
  const message = `No plan of the subscription is in force at ${formatInstant(moment)}; give a moment inside one of its schedules.`
  throw refuse('INVALID_FIELD', field, message)
}

function pricingOf(
  inputs: BillingInputs,
  id: string,
  { schedule, moment }: { readonly schedule: ScheduleInput; readonly moment: Moment },
): PricingInput {
  const pricing = inputs.pricings.find(each => each.id === id)
  const version = versionOf(inputs, { schedule, moment })
  const time = formatInstant(moment.at)
  const isWithoutPlan = version === schedule.own_version_id
  const seller = isWithoutPlan ? `the schedule ${schedule.id}` : `the plan version ${version}`
  if (!pricing) throw missing('pricing_id', id, `${seller}, which is in force at ${time}`)
  if ([version, schedule.own_version_id].includes(pricing.pricing_plan_version_id)) return pricing
  const message = `Another schedule of the subscription sells this pricing; at ${time} ${seller} is in force.`
  throw refuse('INVALID_FIELD', 'pricing_id', message)
}

/** The version that prices the schedule then: on a rate card, from the start of the local day on which it comes into force. */
const versionOf = (
  inputs: BillingInputs,
  { schedule, moment }: { readonly schedule: ScheduleInput; readonly moment: Moment },
): string =>
  soldVersions(schedule, billingZoneOf(inputs)).find(({ span }) => isWithin(span, moment.at))
    ?.pricing_plan_version_id ?? schedule.pricing_plan_version_id

/** The error is the same whether the object belongs to another tenant or does not exist. */
const missing = (field: string, id: string, of: string): AppError =>
  refuse('RESOURCE_NOT_FOUND', field, `There is no ${JSON.stringify(id)} in ${of}.`)

function checkCarriedOn(term: PriceTerm, item: ItemInput): PriceTerm {
  const { calculation, config, productItem } = term
  if (!calculation) {
    const message = `The item prices ${productItem.name}, which is not metered: it has no state.`
    throw refuse('INVALID_FIELD', 'pricing_item_id', message)
  }
  if (!calculation.persist) {
    const message = `The calculation ${calculation.reference} of the item ${item.id} starts again every period; only a calculation with persist has a state to set.`
    throw refuse('INVALID_FIELD', 'pricing_item_id', message)
  }
  if (!isPersistable(calculation.calculation_type)) {
    const lacks =
      calculation.calculation_type === 'UNIQUE'
        ? 'distinct values cannot be counted on without the values themselves'
        : 'a mean cannot be carried on without the number of values it is of'
    const message = `The state of ${calculation.calculation_type} cannot be set: ${lacks}. It can be set for ${PERSISTABLE.join(', ')}.`
    throw refuse('INVALID_FIELD', 'pricing_item_id', message)
  }
  if (term.split) {
    const message =
      'The price is split by the values of properties, and one state does not show how much belongs to each value.'
    throw refuse('INVALID_FIELD', 'pricing_item_config_id', message)
  }
  if (findPriceModel(config.pricing_type)?.basis === 'nothing') {
    const message = 'This price charges nothing, so no state of it is kept.'
    throw refuse('INVALID_FIELD', 'pricing_item_config_id', message)
  }
  return term
}
