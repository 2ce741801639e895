// POST /v1/events/calculate, and the predictions of events that are ingested with cost_prediction=true.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { eventId } from '../../../../shared/contracts/usage-event.ts'
import { readTenant } from '../../../../shared/database/database.ts'
import { plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { createShortMemory } from '../../../../shared/memory/short-memory.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { PredictCosts } from '../../../gateway/forward-ingest.ts'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { SelectorShape } from '../../../resource/selector.ts'
import { Nullable, Timestamp } from '../../../resource/shapes.ts'
import type { Meter } from '../../catalog/meters/table.ts'
import { loadEntries } from '../events/load-entries.ts'
import type { MeterEntries } from '../events/read-measures.ts'
import { MeasuredProperties, MeasuredValues } from '../events/schema.ts'
import { createPredictor, type PredictDeps, type Prediction, type Predictor } from './predict.ts'
import { CalculateBody, type EventInput, meterOf, type PredictedEvent, readEvent } from './read-event.ts'
import { CostPrediction, predictionView } from './schema.ts'

const MeterDataCalculation = Type.Object(
  {
    object_type: Type.Literal('METER_DATA'),
    id: Type.String(),
    reference: Type.String(),
    type: Type.Literal('CALCULATION', { description: 'It is not stored, and counts nowhere.' }),
    customer_id: Nullable(Type.String()),
    customer_reference: Nullable(Type.String()),
    meter_id: Type.String(),
    meter_reference: Type.String(),
    pricing_plan_subscription_id: Nullable(Type.String()),
    pricing_plan_subscription_reference: Nullable(Type.String()),
    pricing_plan_subscription_selector: Nullable(SelectorShape),
    timestamp: Timestamp,
    created_at: Timestamp,
    meter_values: MeasuredValues,
    meter_properties: MeasuredProperties,
    cost_prediction: CostPrediction,
  },
  { title: 'MeterDataCalculation' },
)

type Listed = { readonly meter: Meter; readonly entries: MeterEntries }
type Deps = RouteDeps & PredictDeps
export type Predictions = { readonly ofEvents: PredictCosts; calculate(app: FastifyInstance): void }

const METER_MS = 1_000

/** Both ways to a prediction, which share what was read a moment ago. */
export function predictions(deps: Deps): Predictions {
  const predictor = createPredictor(deps)
  const meters = createShortMemory<Listed | null>(deps.database.clock, { ms: METER_MS })
  const listed = (tenant: Tenant, name: string): Promise<Listed | null> =>
    meters(JSON.stringify([tenant.platformId, tenant.environment, name]), () =>
      readTenant(deps.database, tenant, uow => loadEntries(uow, name)),
    )
  return {
    ofEvents: predictCosts(deps, predictor, listed),
    calculate: app =>
      actionRoute(app, deps, {
        permission: 'METER_DATA.CREATE',
        tag: 'events',
        summary: 'Say what an event would cost, without storing it.',
        method: 'POST',
        status: 201,
        url: '/v1/events/calculate',
        body: CalculateBody,
        response: MeterDataCalculation,
        handle: async ({ tenant }, { body }) => {
          const now = deps.database.clock.now()
          const name = meterOf(body)
          const found = await listed(tenant, name)
          if (found?.meter.status !== 'ACTIVE') throw noMeter(body, name)
          const event = readEvent(body, { tenant, meter: found.entries, now })
          const [prediction] = await predictor.predict(tenant, [event])
          if (!prediction) throw new Error('an event has its prediction')
          return { ...calculationView(body, event, found), cost_prediction: predictionView(prediction, now) }
        },
      }),
  }
}

const noMeter = ({ meter_reference }: EventInput, name: string): AppError =>
  new AppError('RESOURCE_NOT_FOUND', `There is no ACTIVE meter ${JSON.stringify(name)}; create or activate it first.`, {
    field: meter_reference == null ? 'meter_id' : 'meter_reference',
  })

function calculationView(body: EventInput, { key, usage }: PredictedEvent, { meter, entries }: Listed): object {
  const idOf = (list: readonly { id: string; reference: string }[], reference: string): string | null =>
    list.find(entry => entry.reference === reference)?.id ?? null
  return {
    object_type: 'METER_DATA',
    id: eventId(key.idHash),
    reference: body.reference,
    type: 'CALCULATION',
    customer_id: body.customer_id ?? null,
    customer_reference: body.customer_reference ?? null,
    meter_id: meter.id,
    meter_reference: meter.reference,
    pricing_plan_subscription_id: body.pricing_plan_subscription_id ?? null,
    pricing_plan_subscription_reference: body.pricing_plan_subscription_reference ?? null,
    pricing_plan_subscription_selector: body.pricing_plan_subscription_selector ?? null,
    timestamp: formatInstant(key.timestamp),
    created_at: formatInstant(key.receivedAt),
    meter_values: [...usage.values].map(([reference, { quantity, currency }]) => ({
      id: idOf(entries.values, reference),
      reference,
      number: currency === null ? plain(quantity) : null,
      amount: currency === null ? null : { quantity: plain(quantity), currency },
    })),
    meter_properties: Object.entries(key.properties).map(([reference, value]) => ({
      id: idOf(entries.properties, reference),
      reference,
      value,
    })),
  }
}

const isEvent = Compile(CalculateBody)

/** The events of a body in any of its forms; null for what the gateway will refuse. */
function eventsOf(body: Buffer): EventInput[] | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch {
    return null // The gateway's refusal says so.
  }
  const list = listOf(parsed)
  const events = list.map(withoutSettings)
  return events.every((event): event is EventInput => isEvent.Check(event)) ? events : null
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The events of a body, or of an answer, which has the form of its body. */
function listOf(body: unknown): unknown[] {
  if (Array.isArray(body)) return body
  return isObject(body) && Array.isArray(body['meter_datas']) ? body['meter_datas'] : [body]
}

/** What DYNAMIC validation says of a value is not the event's. */
function withoutSettings(event: unknown): unknown {
  if (!isObject(event)) return event
  const plainly = (list: unknown): unknown =>
    Array.isArray(list)
      ? list.map(entry => (isObject(entry) ? { ...entry, dynamic_validation_settings: undefined } : entry))
      : list
  return JSON.parse(
    JSON.stringify({
      ...event,
      meter_values: plainly(event['meter_values']),
      meter_properties: plainly(event['meter_properties']),
    }),
  )
}

const predictCosts =
  (deps: Deps, predictor: Predictor, listed: (tenant: Tenant, name: string) => Promise<Listed | null>): PredictCosts =>
  async (tenant, body) => {
    const inputs = eventsOf(body)
    if (inputs === null) return answer => answer
    const now = deps.database.clock.now()
    const events: PredictedEvent[] = []
    let found: readonly Prediction[]
    try {
      for (const input of inputs) {
        const meter = await listed(tenant, meterOf(input))
        // What DYNAMIC validation is about to define has no price.
        if (meter) events.push(readEvent(input, { tenant, meter: meter.entries, now }))
      }
      found = await predictor.predict(tenant, events)
    } catch (error) {
      // Events are taken whether or not they can be predicted.
      if (!(error instanceof AppError)) throw error
      const { message } = error
      return answer => withPredictions(answer, () => predictionView({ response: 'FAILED', message }, now))
    }
    const byReference = (index: number): Prediction => {
      const place = events.findIndex(({ reference }) => reference === inputs[index]?.reference)
      const own = events.length === inputs.length ? found[index] : found[place]
      return own ?? { response: 'NOT_MATCHED', message: 'NO_PRICING' }
    }
    return answer => {
      predictor.stored(events)
      return withPredictions(answer, index => predictionView(byReference(index), now))
    }
  }

function withPredictions(answer: Buffer, of: (index: number) => object): Buffer {
  const parsed: unknown = JSON.parse(answer.toString('utf8'))
  for (const [index, event] of listOf(parsed).entries()) if (isObject(event)) event['cost_prediction'] = of(index)
  return Buffer.from(JSON.stringify(parsed))
}
