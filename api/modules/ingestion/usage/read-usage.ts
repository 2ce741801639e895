// Usage by the hour, day or month: the quantities that invoices are computed from, through the same door.
import { type Bucket, bucketsOf } from '../../../../shared/billing/buckets.ts'
import { type Zone, zoneOf } from '../../../../shared/billing/local-days.ts'
import { type Database, type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import {
  formatInstant,
  type Instant,
  type Interval,
  instantOf,
  interval,
  parseInstant,
} from '../../../../shared/time.ts'
import { findOne, notFound } from '../../../resource/store.ts'
import type { UsageQuery } from '../../../usage/usage-query.ts'
import type { BillingInputs, CalculationInput } from '../../billing/terms/billing-inputs.ts'
import { loadBillingInputs } from '../../billing/terms/load/load-inputs.ts'
import { sendersOf, usageParts } from '../../billing/terms/usage-parts.ts'
import { type UsageReader, usageCalculationOf } from '../../billing/usage/usage-reader.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import { loadMeasured, type Measured, type UsageRequest } from './load-measured.ts'
import { BUCKETS_MAX, POINTS_MAX, UNIQUE_BUCKETS_MAX } from './schema.ts'

export type UsageDeps = { readonly database: Database; readonly usage: UsageReader }

/** Whose usage: what its events may carry, or what decides which events are a subscription's. */
type Whose = { readonly customerKeys: readonly string[] } | { readonly inputs: BillingInputs }

type Quantity = {
  readonly currency: string | null
  readonly number: string
  readonly count: number
  readonly split: readonly (string | null)[]
}

/**
 * The usage of a customer or a subscription, bucket by bucket. Exact, as for invoices. Throws INVALID_FIELD, MISSING_FIELD or
 * RESOURCE_NOT_FOUND with the name of the parameter, INVALID_OPERATION when there would be more than POINTS_MAX quantities.
 */
export async function readUsage(deps: UsageDeps, tenant: Tenant, request: UsageRequest): Promise<object> {
  const time = timeOf(request)
  const { whose, measured } = await readTenant(deps.database, tenant, async uow => {
    const found = await loadMeasured(uow, request)
    return { measured: found, whose: await whoseOf(uow, request) }
  })
  const max = bounded(time.buckets, measured)
  // Before the figures: what is counted until then is in them.
  const until = await deps.usage.upToDateUntil(deps.database.clock)
  const of = { tenant, buckets: time.buckets, measured, max }
  const read =
    'inputs' in whose ? await ofSubscription(deps.usage, of, whose.inputs) : await ofCustomer(deps.usage, of, whose)
  const { calculations, groupBy } = measured
  return {
    object_type: 'USAGE',
    from: formatInstant(time.within.start),
    to: formatInstant(time.within.end),
    bucket: request.bucket ?? null,
    timezone: request.timezone ?? 'UTC',
    usage_counted_until: formatInstant(until),
    data: time.buckets.map(({ start, end }, bucket) => ({
      start: formatInstant(start),
      end: formatInstant(end),
      quantities: calculations.flatMap((calculation, place) =>
        (read[bucket * calculations.length + place] ?? []).map(quantity => view(calculation, quantity, groupBy)),
      ),
    })),
  }
}

function view(
  { id }: CalculationInput,
  { currency, number, count, split }: Quantity,
  groupBy: Measured['groupBy'],
): object {
  return {
    meter_value_calculation_id: id,
    number: currency === null ? number : null,
    amount: currency === null ? null : { quantity: number, currency },
    event_count: count,
    meter_properties: groupBy.map((property, place) => ({
      id: property.id,
      reference: property.reference,
      value: split[place] ?? null,
    })),
  }
}

type Time = { readonly within: Interval; readonly buckets: readonly Interval[] }

function timeOf({ from, to, bucket, timezone = 'UTC' }: UsageRequest): Time {
  const [start, end] = [wholeSecond(from), wholeSecond(to)]
  const zone = zoneOf(timezone)
  if (start === null || end === null || zone === null) throw new Error('the shape of the request was checked')
  if (end <= start) {
    const message = 'to must be at least a second after from: usage is read by whole seconds.'
    throw new AppError('INVALID_FIELD', message, { field: 'to' })
  }
  const within = interval(start, end)
  return { within, buckets: bucket === undefined ? [within] : cut(within, bucket, zone) }
}

/** Answers show whole seconds, so these are what is counted. */
function wholeSecond(text: string): Instant | null {
  const at = parseInstant(text)
  return at === null ? null : instantOf(at - (at % 1_000))
}

function cut(within: Interval, bucket: Bucket, zone: Zone): Interval[] {
  const buckets = bucketsOf(within, { bucket, zone, max: BUCKETS_MAX })
  if (buckets) return buckets
  const message = `There are more than ${BUCKETS_MAX} buckets between from and to: choose a larger bucket, or less time.`
  throw new AppError('INVALID_FIELD', message, { field: 'bucket' })
}

/** How many quantities each bucket may have of each calculation. */
function bounded(buckets: readonly Interval[], { calculations }: Measured): number {
  const uniques = calculations.filter(({ calculation_type: type }) => type === 'UNIQUE').length
  const series = buckets.length * calculations.length
  if (buckets.length * uniques > UNIQUE_BUCKETS_MAX) {
    const times = uniques > 1 ? `, times the ${uniques} such calculations of the meter` : ''
    const message = `Different values (UNIQUE) are counted in at most ${UNIQUE_BUCKETS_MAX} buckets${times}: choose a larger bucket, less time, or another calculation.`
    throw new AppError('INVALID_FIELD', message, { field: 'bucket' })
  }
  if (series <= POINTS_MAX) return Math.floor(POINTS_MAX / series)
  const message = `Buckets times calculations are at most ${POINTS_MAX}: name one calculation, or choose a larger bucket.`
  throw new AppError('INVALID_FIELD', message, { field: 'bucket' })
}

async function whoseOf(uow: ReadUow, request: UsageRequest): Promise<Whose> {
  const { customer_id: customerId, pricing_plan_subscription_id: subscriptionId } = request
  const [name, other] = ['customer_id', 'pricing_plan_subscription_id']
  if (customerId !== undefined && subscriptionId !== undefined)
    throw new AppError('INVALID_FIELD', `Give ${name} or ${other}, not both.`, { field: other })
  if (customerId !== undefined) {
    const row = await findOne(uow, customerResource, customerId)
    if (!row) throw notFound(customerResource, customerId, name)
    return { customerKeys: [row.id, ...(row.reference === null ? [] : [row.reference])] }
  }
  if (subscriptionId === undefined)
    throw new AppError('MISSING_FIELD', `${name} or ${other} is required.`, { field: name })
  if (request['group_by[]'] !== undefined)
    throw new AppError('INVALID_FIELD', 'The usage of a subscription cannot be split: give customer_id.', {
      field: 'group_by[]',
    })
  const row = await findOne(uow, subscriptionResource, subscriptionId)
  if (!row || row.customer_id === null) throw notFound(subscriptionResource, subscriptionId, other)
  return { inputs: await loadBillingInputs(uow, row.id) }
}

type Of = {
  readonly tenant: Tenant
  readonly buckets: readonly Interval[]
  readonly measured: Measured
  readonly max: number
}
type Read = readonly (readonly Quantity[])[]

/** All at once: one statement, however many buckets there are. */
async function ofCustomer(
  usage: UsageReader,
  { tenant, buckets, measured, max }: Of,
  { customerKeys }: { readonly customerKeys: readonly string[] },
): Promise<Read> {
  const { calculations, groupBy, condition } = measured
  const splitBy = groupBy.map(({ reference, type }) => ({ reference, type }))
  const questions = buckets.flatMap(bucket =>
    calculations.map(
      (calculation): UsageQuery => ({
        tenant,
        customerKeys,
        meterReference: calculation.meter_reference,
        interval: bucket,
        calculation: usageCalculationOf(calculation),
        ...(condition === null ? {} : { condition }),
        ...(splitBy.length === 0 ? {} : { splitBy }),
      }),
    ),
  )
  const answers = await usage.quantities(questions, max)
  return answers.map(answer => {
    if (answer instanceof AppError) throw tooMany(max)
    return answer.map(({ number, ...rest }) => ({ ...rest, number: plain(number) }))
  })
}

const tooMany = (max: number): AppError =>
  new AppError(
    'INVALID_OPERATION',
    `A bucket has more than ${max} quantities, and an answer at most ${POINTS_MAX}: split by properties with fewer values, or ask for fewer buckets.`,
    { field: 'group_by[]' },
  )

/** As its invoices read it: by whose events they are, and what subscription each is for. */
async function ofSubscription(usage: UsageReader, of: Of, inputs: BillingInputs): Promise<Read> {
  const { tenant, buckets, measured } = of
  const { attribution, subscription } = inputs
  const { calculations, condition } = measured
  const questions = sendersOf(attribution, subscription.id).length * buckets.length * calculations.length
  if (questions > POINTS_MAX)
    throw new AppError('INVALID_FIELD', 'Too many customers send events for it; request fewer buckets.', {
      field: 'bucket',
    })
  const figures = buckets.flatMap(bucket =>
    calculations.map(async (calculation): Promise<Quantity[]> => {
      const scope = {
        subscriptionId: subscription.id,
        meterReference: calculation.meter_reference,
        interval: bucket,
      }
      const need = { key: '', calculation, condition, interval: bucket, splitBy: null }
      const found = await usage.read(tenant, usageParts(attribution, scope), need)
      return found.map(({ currency, number, count }) => ({ currency, number: plain(number), count, split: [] }))
    }),
  )
  return await Promise.all(figures)
}
