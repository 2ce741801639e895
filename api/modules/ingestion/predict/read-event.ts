// An event as a prediction takes it: checked by the rules of the gateway, which takes the event itself.
import Type, { type Static } from 'typebox'
import { selectorOf, subscriptionKey } from '../../../../shared/attribution/selector.ts'
import { AHEAD_MS_MAX, whyNoEventTime } from '../../../../shared/contracts/event-time.ts'
import { eventHash, partitionOf } from '../../../../shared/contracts/usage-event.ts'
import { type Decimal, decimal } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { type Instant, parseInstant } from '../../../../shared/time.ts'
import { SelectorShape } from '../../../resource/selector.ts'
import { Amount, DecimalText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import type { EventKey } from '../../../usage/stored-events.ts'
import type { NewUsage } from '../../billing/predict/add-event.ts'
import { type MeterEntries, readProperties, readValues } from '../events/read-measures.ts'

const ENTRIES_MAX = 100

const Key = Optional(Nullable(Type.String({ minLength: 1, maxLength: 255 })))
const named = { id: Key, reference: Key }

export const CalculateBody = Shape({
  reference: Type.String({ minLength: 1, maxLength: 255 }),
  customer_reference: Key,
  customer_id: Key,
  meter_reference: Key,
  meter_id: Key,
  pricing_plan_subscription_id: Key,
  pricing_plan_subscription_reference: Key,
  pricing_plan_subscription_selector: Optional(Nullable(SelectorShape)),
  timestamp: Optional(Nullable(Timestamp)),
  meter_values: Type.Array(
    Shape({ ...named, number: Optional(Nullable(DecimalText)), amount: Optional(Nullable(Amount)) }),
    { maxItems: ENTRIES_MAX },
  ),
  meter_properties: Optional(
    Nullable(Type.Array(Shape({ ...named, value: Type.String() }), { maxItems: ENTRIES_MAX })),
  ),
})
export type EventInput = Static<typeof CalculateBody>

export type PredictedEvent = {
  readonly reference: string
  readonly key: EventKey
  readonly usage: NewUsage
}

/** The meter that the event names. Throws MISSING_FIELD. */
export function meterOf({ meter_reference, meter_id }: EventInput, path = ''): string {
  const name = meter_reference ?? meter_id
  if (name != null) return name
  throw new AppError('MISSING_FIELD', 'meter_reference or meter_id is required.', { field: `${path}meter_reference` })
}

/** Throws MISSING_FIELD and INVALID_FIELD as the gateway would. */
export function readEvent(
  input: EventInput,
  { tenant, meter, now }: { readonly tenant: Tenant; readonly meter: MeterEntries; readonly now: Instant },
): PredictedEvent {
  const customerKey = input.customer_id ?? input.customer_reference
  if (customerKey == null)
    throw new AppError('MISSING_FIELD', 'customer_reference or customer_id is required.', {
      field: 'customer_reference',
    })
  const timestamp = timeOf(input.timestamp, now)
  const values = new Map(
    readValues(input.meter_values, meter).map(({ reference, quantity, currency }): [string, NewValue] => [
      reference,
      { quantity: decimal(quantity), currency: currency === '' ? null : currency },
    ]),
  )
  const properties = readProperties(input.meter_properties ?? [], meter)
  const idHash = eventHash(tenant.platformId, tenant.environment, input.reference)
  return {
    reference: input.reference,
    key: {
      idHash,
      customerKey,
      meterReference: meter.reference,
      subscription: subscriptionOf(input),
      properties,
      timestamp,
      receivedAt: now,
      // It will stand behind everything that is in the log.
      place: { partition: partitionOf(idHash, 1), seq: Number.MAX_SAFE_INTEGER, line: 1 },
      duplicate: false,
    },
    usage: { meterReference: meter.reference, timestamp, values, properties },
  }
}

type NewValue = { readonly quantity: Decimal; readonly currency: string | null }

function timeOf(text: string | null | undefined, now: Instant): Instant {
  if (text == null) return now
  const at = parseInstant(text)
  if (at !== null && at <= now + AHEAD_MS_MAX) return at
  throw new AppError('INVALID_FIELD', whyNoEventTime(text), { field: 'timestamp' })
}

const NAMES = [
  'pricing_plan_subscription_id',
  'pricing_plan_subscription_reference',
  'pricing_plan_subscription_selector',
] as const

function subscriptionOf(input: EventInput): string {
  const given = NAMES.filter(name => input[name] != null)
  const [first, second] = given
  if (second !== undefined)
    throw new AppError(
      'INVALID_FIELD',
      'An event names one subscription at most: its id, its reference or a selector.',
      {
        field: second,
      },
    )
  const { pricing_plan_subscription_id: id, pricing_plan_subscription_reference: reference } = input
  const selector = input.pricing_plan_subscription_selector
  if (first === undefined) return ''
  if (id != null) return subscriptionKey({ kind: 'ID', id })
  if (reference != null) return subscriptionKey({ kind: 'REFERENCE', reference })
  return selector == null ? '' : subscriptionKey({ kind: 'SELECTOR', selector: selectorOf(selector) })
}
