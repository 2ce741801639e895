// A parsed JSON body to events, or the one refusal of the whole body. Pure: the same body, meters and time give the same
// answer. Nothing of the body is passed on as it came; every text is checked and copied into fresh objects.
import { AHEAD_MS_MAX, whyNoEventTime } from '../../../shared/contracts/event-time.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Instant } from '../../../shared/time.ts'
import type { JsonScan } from '../../http/scan-json.ts'
import type { Meter, MeterSet } from './meter.ts'
import { type MeasuredValue, readMeterProperties, readMeterValues } from './parse-entries.ts'
import { readSubscription, SUBSCRIPTION_FIELDS } from './parse-subscription.ts'
import { type JsonObject, Reading, readObject, readReference } from './reading.ts'

export type UsageEvent = {
  readonly reference: string
  readonly customerField: 'customer_id' | 'customer_reference'
  readonly customerKey: string
  readonly meter: Meter
  readonly timestampMs: Instant
  /** By place in meter.values; null where the event has none. */
  readonly values: readonly (MeasuredValue | null)[]
  /** By place in meter.properties; null where the event has none. */
  readonly properties: readonly (string | null)[]
  /** Which subscription it asks for, as `subscriptionKey` writes it; '' when it asks for none. */
  readonly subscription: string
}

export type Parsed =
  | { readonly kind: 'events'; readonly events: readonly UsageEvent[]; readonly wrapped: boolean }
  /** `unknownMeter`: the fault may be that the meter is newer than our copy of the meters. */
  | { readonly kind: 'reject'; readonly error: AppError; readonly unknownMeter: boolean }

export type ParseContext = {
  readonly scan: JsonScan
  readonly meters: MeterSet
  readonly now: Instant
  readonly batchMax: number
  readonly readTimestamp: (text: string) => Instant | null
}

const BATCH_FIELDS = new Set(['meter_datas'])
const EVENT_FIELDS = new Set([
  'reference',
  'customer_id',
  'customer_reference',
  'meter_id',
  'meter_reference',
  'timestamp',
  'meter_values',
  'meter_properties',
  ...SUBSCRIPTION_FIELDS,
])

/** One event. Never throws. */
export const parseSingle = (body: unknown, context: ParseContext): Parsed =>
  settle(context, reading => {
    if (Array.isArray(body))
      return reading.refuse(
        'INVALID_REQUEST',
        '',
        'Expected one event, and not a list: send lists to /v1/events/ingest-list.',
      )
    return { kind: 'events', events: [readEvent(body, reading)], wrapped: false }
  })

/** A batch: a bare array, or an object with `meter_datas`. Never throws. */
export const parseBatch = (body: unknown, context: ParseContext): Parsed =>
  settle(context, reading => {
    const wrapped = !Array.isArray(body)
    const list = wrapped ? readBatch(body, reading) : body
    if (!Array.isArray(list)) return reading.refuse('MISSING_FIELD', 'meter_datas', BATCH_FORM)
    if (list.length === 0 || list.length > context.batchMax) {
      const field = wrapped ? 'meter_datas' : ''
      return reading.refuse(
        'INVALID_REQUEST',
        field,
        `${list.length} events were sent; a request carries 1 to ${context.batchMax}.`,
      )
    }
    const events: UsageEvent[] = []
    for (let index = 0; index < list.length; index += 1) {
      reading.eventPath = wrapped ? `meter_datas.${index}.` : `${index}.`
      events.push(readEvent(list[index], reading))
    }
    reading.eventPath = ''
    return { kind: 'events', events, wrapped }
  })

const BATCH_FORM = 'Expected a list of events: an array, or {"meter_datas": [...]}.'

/** What an object has as its events. Whoever sends other members alone means another form of a batch, or one event. */
function readBatch(body: unknown, reading: Reading): unknown {
  const names = typeof body === 'object' && body !== null ? Object.keys(body) : []
  const [first] = names
  if (first !== undefined && !names.includes('meter_datas')) return reading.refuse('INVALID_FIELD', first, BATCH_FORM)
  return readObject(body, BATCH_FIELDS, reading)['meter_datas']
}

class UnknownMeter extends AppError {}

function settle(context: ParseContext, read: (reading: Reading) => Parsed): Parsed {
  const reading = new Reading(context)
  try {
    const parsed = read(reading)
    if (reading.keys !== context.scan.keys) {
      throw new AppError('BAD_REQUEST', 'The body gives a field twice in one object.')
    }
    return parsed
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { kind: 'reject', error, unknownMeter: error instanceof UnknownMeter }
  }
}

function readEvent(value: unknown, reading: Reading): UsageEvent {
  const body = readObject(value, EVENT_FIELDS, reading)
  const reference = readReference(body['reference'], 'reference', reading)
  if (reference === null)
    return reading.refuse('MISSING_REFERENCE', 'reference', 'reference is required: it identifies the event for ever.')
  const customerId = readReference(body['customer_id'], 'customer_id', reading)
  const customerReference = readReference(body['customer_reference'], 'customer_reference', reading)
  if (customerId !== null && customerReference !== null) {
    return reading.refuse('INVALID_FIELD', 'customer_id', 'Give customer_id or customer_reference, not both.')
  }
  const customerKey = customerId ?? customerReference
  if (customerKey === null) {
    return reading.refuse('MISSING_FIELD', 'customer_reference', 'customer_reference or customer_id is required.')
  }
  const meter = readMeter(body, reading)
  return {
    reference,
    customerField: customerId === null ? 'customer_reference' : 'customer_id',
    customerKey,
    meter,
    timestampMs: readTimestamp(body['timestamp'], reading),
    values: readMeterValues(body['meter_values'], meter, reading),
    properties: readMeterProperties(body['meter_properties'], meter, reading),
    subscription: readSubscription(body, reading),
  }
}

function readMeter(body: JsonObject, reading: Reading): Meter {
  const id = readReference(body['meter_id'], 'meter_id', reading)
  const reference = readReference(body['meter_reference'], 'meter_reference', reading)
  if (id === null && reference === null) {
    return reading.refuse('MISSING_FIELD', 'meter_reference', 'meter_reference or meter_id is required.')
  }
  const field = reference === null ? 'meter_id' : 'meter_reference'
  const meter = reference === null ? reading.meters.byId.get(id ?? '') : reading.meters.byReference.get(reference)
  if (!meter) {
    throw new UnknownMeter('RESOURCE_NOT_FOUND', `There is no active meter ${JSON.stringify(reference ?? id)}.`, {
      field: reading.path(field),
      status: 400,
      resourceType: 'METER',
    })
  }
  if (id !== null && meter.id !== id) {
    return reading.refuse('INVALID_FIELD', 'meter_id', 'meter_id and meter_reference name different meters.')
  }
  return meter
}

function readTimestamp(value: unknown, reading: Reading): Instant {
  if (value === undefined || value === null) return reading.now
  const instant = typeof value === 'string' ? reading.readTimestamp(value) : null
  if (instant !== null && instant <= reading.now + AHEAD_MS_MAX) return instant
  return reading.refuse('INVALID_FIELD', 'timestamp', whyNoEventTime(value))
}
