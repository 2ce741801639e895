// Whether a schedule can include what it states in its prices, and when a change of that takes effect.
import { isDeepStrictEqual } from 'node:util'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, isPlainDecimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { getOne } from '../../../resource/store.ts'
import { lengthOf } from '../../catalog/pricing-plans/variants/period-length.ts'
import { termsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import { isMeasured } from '../../catalog/products/schema.ts'
import type { ClauseChange } from '../clauses/clause-entries.ts'
import { metricsOf, pricesOfVersions, type SoldPrice } from '../counts/check-counts.ts'
import { overlap, statedChanges } from '../counts/seat-spans.ts'
import { startsTooLate } from '../stated-times.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'
import type { ScheduleIncludedVolume } from './schema.ts'

const refuse = (message: string, field: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/**
 * Throws unless every volume is of a price of usage that the schedule sells, in the unit of its metric, at a time of its own, and all of
 * one price are granted again at the same times.
 */
export async function checkIncludedVolumes(uow: Uow, schedule: Schedule, stored: Schedule | null): Promise<void> {
  const { included_volumes: entries } = schedule
  if (entries.length === 0) return
  const subscription = await getOne(uow, subscriptionResource, schedule.pricing_plan_subscription_id)
  const { billing_period: ofSubscription } = subscription
  const sold = await pricesOfVersions(uow, await versionsSold(uow, schedule), {
    terms: termsOf(schedule, subscription),
    overrides: schedule.override_pricings,
  })
  const metrics = await metricsOf(uow, [...sold.values()])
  for (const [index, entry] of entries.entries()) {
    const path = `included_volumes.${index}`
    const price = sold.get(entry.pricing_item_config_id)
    if (!price) {
      const message = `The schedule sells no price ${entry.pricing_item_config_id}; name one that it sells.`
      throw new AppError('RESOURCE_NOT_FOUND', message, { field: `${path}.pricing_item_config_id` })
    }
    checkPrice(price, path)
    checkVolume(entry, { isMoney: metrics.get(price.productItemIds[0] ?? '') === 'AMOUNT', schedule, path })
    checkTimes(entry, { schedule, path, stored: stored?.included_volumes ?? [] })
    const others = entries.slice(0, index)
    const other = others.findIndex(each => overlap(each, entry, schedule))
    if (other >= 0)
      refuse(`included_volumes.${other} is of the same price at the same time; end it first.`, `${path}.start_at`)
    const reset = resetOf(entry, price)
    const differs = others.findIndex(
      each => each.pricing_item_config_id === entry.pricing_item_config_id && resetOf(each, price) !== reset,
    )
    if (differs >= 0)
      refuse(`included_volumes.${differs} has another reset_type; a price has one at all times.`, `${path}.reset_type`)
    if (reset === 'PRICING_PERIOD' && (entry.start_at || entry.end_at))
      refuseLongPeriods(price, schedule.billing_period ?? ofSubscription, path)
  }
}

const resetOf = ({ reset_type: given }: ScheduleIncludedVolume, { config }: SoldPrice): string =>
  given ?? config.default_included_volume?.reset_type ?? 'BILLING_PERIOD'

function checkPrice({ model, config }: SoldPrice, path: string): void {
  const field = `${path}.pricing_item_config_id`
  if (!isMeasured(model)) refuse(`The price is of a ${model} item; only usage that is metered can be included.`, field)
  const { perPricingPeriod, basis } = findPriceModel(config.pricing_type) ?? {}
  if (!perPricingPeriod || basis === 'nothing')
    refuse(`${config.pricing_type} charges the same whatever the usage; leave the volume out.`, field)
  if (config.rate_per === 'EVENT')
    refuse('The price is of each event on its own, so nothing is included for a period; leave the volume out.', field)
}

type Of = { readonly isMoney: boolean; readonly schedule: Schedule; readonly path: string }

/** Nothing, 0, may be included at a time: instead of what the price includes. */
function checkVolume({ number, amount, count }: ScheduleIncludedVolume, { isMoney, schedule, path }: Of): void {
  const given = Object.entries({ number, amount, count }).filter(([, value]) => (value ?? null) !== null)
  const [first] = given
  const wanted = isMoney ? 'The metric is money: give amount or count.' : 'The metric counts numbers: give number.'
  if (!first) throw new AppError('MISSING_FIELD', wanted, { field: `${path}.${isMoney ? 'amount' : 'number'}` })
  const odd = given.find(([name]) => (name === 'number') === isMoney)
  if (odd) refuse(wanted, `${path}.${odd[0]}`)
  if (amount && amount.currency !== schedule.pricing_currency)
    refuse(`The schedule is priced in ${schedule.pricing_currency}; give the amount in it.`, `${path}.amount.currency`)
  for (const [name, text] of [
    ['number', number],
    ['amount.quantity', amount?.quantity],
    ['count', count],
  ] as const)
    if (text && (!isPlainDecimal(text) || decimal(text).lt(ZERO)))
      refuse('What is included must be a decimal, 0 or more.', `${path}.${name}`)
}

type Within = Omit<Of, 'isMoney'> & { readonly stored: readonly ScheduleIncludedVolume[] }

function checkTimes(entry: ScheduleIncludedVolume, { schedule, path, stored }: Within): void {
  const { start_at, end_at } = entry
  const from = start_at ?? schedule.start_at
  if (start_at && start_at < schedule.start_at)
    refuse(`The schedule starts at ${schedule.start_at}; start it then or later.`, `${path}.start_at`)
  if (startsTooLate(entry, schedule.end_at, stored))
    refuse(`The schedule ends at ${schedule.end_at}; start it before that.`, `${path}.start_at`)
  if (end_at && end_at <= from) refuse('end_at must be after start_at.', `${path}.end_at`)
}

/** What earlier invoices charged of a pricing period is computed from what it includes, so that cannot change within it. */
function refuseLongPeriods({ config }: SoldPrice, billing: Schedule['billing_period'], path: string): void {
  const billed = config.billing_period ?? billing
  if (!config.pricing_period || !billed) return
  const [priced, invoiced] = [lengthOf(config.pricing_period), lengthOf(billed)]
  if (priced.unit === invoiced.unit && priced.value <= invoiced.value) return
  refuse(
    'A pricing period of the price is on several invoices, so what it includes holds for the whole schedule; leave start_at and end_at out.',
    `${path}.start_at`,
  )
}

/** When a change of what is included takes effect. */
export const includedVolumeChanges = (before: Schedule, after: Schedule): ClauseChange[] =>
  statedChanges(
    'included_volumes',
    { before: { ...before, entries: before.included_volumes }, after: { ...after, entries: after.included_volumes } },
    (a, b) => isDeepStrictEqual(statedIn(a), statedIn(b)),
  )

const statedIn = ({ number, amount, count, reset_type }: ScheduleIncludedVolume) => [
  number ?? null,
  amount ?? null,
  count ?? null,
  reset_type ?? null,
]
