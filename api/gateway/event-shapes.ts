// The shapes of event ingestion for the API description. The gateway, which answers these calls, checks every field itself.
import Type, { type TSchema } from 'typebox'
import { SelectorShape } from '../resource/selector.ts'
import { Amount, DecimalText, Optional, Shape, Timestamp } from '../resource/shapes.ts'

export const IngestQuery = Shape({
  meter_validation: Optional(
    Type.Enum(['STATIC', 'DYNAMIC'], {
      description:
        'STATIC, the default: meter, values and properties must exist. DYNAMIC makes those that do not; not at ingest_url.',
    }),
  ),
  cost_prediction: Optional(
    Type.Enum(['true', 'false'], { description: 'true: the answer says what each event costs. Not at ingest_url.' }),
  ),
})

const Reference = Type.String({ minLength: 1, maxLength: 255 })

const MeterValue = Shape({
  id: Optional(Type.String()),
  reference: Optional(Reference),
  number: Optional(DecimalText),
  amount: Optional(Amount),
})
const MeterProperty = Shape({ id: Optional(Type.String()), reference: Optional(Reference), value: Type.String() })

const ofNew = 'With meter_validation=DYNAMIC: what to make of it when there is none. Ignored when there is.'
const dynamic = (...types: string[]) => ({
  dynamic_validation_settings: Optional(
    Shape({ type: Optional(Type.Enum(types)), required: Optional(Type.Boolean()) }, { description: ofNew }),
  ),
})
const SentValue = Shape({ ...MeterValue.properties, ...dynamic('NUMBER', 'AMOUNT') })
const SentProperty = Shape({ ...MeterProperty.properties, ...dynamic('NUMBER', 'ENUM', 'STRING') })

/** Which of the customer's subscriptions is meant; at most one of the three. */
const Subscription = {
  pricing_plan_subscription_id: Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'The subscription may be created later.' }),
  ),
  pricing_plan_subscription_reference: Optional(Reference),
  pricing_plan_subscription_selector: Optional(SelectorShape),
}

/** What one event is made of. */
const MeterDataCreate = Type.Object(
  {
    reference: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Identifies the event for ever: sent again, it is answered the same and not counted again.',
    }),
    customer_reference: Optional(
      Type.String({ description: 'This or customer_id. The customer may be created later.' }),
    ),
    customer_id: Optional(Type.String()),
    meter_reference: Optional(Type.String({ description: 'This or meter_id. The meter must be ACTIVE.' })),
    meter_id: Optional(Type.String()),
    ...Subscription,
    timestamp: Optional(Timestamp),
    meter_values: Type.Array(SentValue),
    meter_properties: Optional(Type.Array(SentProperty)),
  },
  { additionalProperties: false, title: 'MeterDataCreate' },
)

/** An event as it is answered. */
const MeterData = <P extends TSchema>(costPrediction: P) =>
  Type.Object(
    {
      object_type: Type.Literal('METER_DATA'),
      id: Type.String(),
      reference: Reference,
      type: Type.Literal('INGEST'),
      customer_id: Optional(Type.String()),
      customer_reference: Optional(Type.String()),
      meter_id: Type.String(),
      meter_reference: Type.String(),
      ...Subscription,
      timestamp: Timestamp,
      created_at: Timestamp,
      meter_values: Type.Array(MeterValue),
      meter_properties: Type.Array(MeterProperty),
      cost_prediction: Optional(costPrediction),
    },
    { title: 'MeterData' },
  )

const BatchOf = <T extends TSchema>(item: T) =>
  Type.Union([Type.Array(item), Type.Object({ meter_datas: Type.Array(item) })])

/** What calls with one event and with several take and answer; `costPrediction` is the shape of a prediction. */
export function ingestShapes(costPrediction: TSchema) {
  const answered = MeterData(costPrediction)
  return {
    SINGLE: { summary: 'Send one usage event.', body: MeterDataCreate, response: { 201: answered } },
    BATCH: {
      summary: 'Send up to 50 usage events, as a list or in `meter_datas`; answered in the same form.',
      body: BatchOf(MeterDataCreate),
      response: { 201: BatchOf(answered) },
    },
  }
}
