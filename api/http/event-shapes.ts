// The shapes of event ingestion for the API description. The gateway, which answers these calls, checks every field itself.
import Type from 'typebox'
import { Amount, DecimalText, Optional, Shape, Timestamp } from '../resource/shapes.ts'

const Reference = Type.String({ minLength: 1, maxLength: 255 })

const MeterValue = Shape({
  id: Optional(Type.String()),
  reference: Optional(Reference),
  number: Optional(DecimalText),
  amount: Optional(Amount),
})
const MeterProperty = Shape({ id: Optional(Type.String()), reference: Optional(Reference), value: Type.String() })

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
    timestamp: Optional(Timestamp),
    meter_values: Type.Array(MeterValue),
    meter_properties: Optional(Type.Array(MeterProperty)),
  },
  { additionalProperties: false, title: 'MeterDataCreate' },
)

/** An event as it is answered. */
const MeterData = Type.Object(
  {
    object_type: Type.Literal('METER_DATA'),
    id: Type.String(),
    reference: Reference,
    type: Type.Literal('INGEST'),
    customer_id: Optional(Type.String()),
    customer_reference: Optional(Type.String()),
    meter_id: Type.String(),
    meter_reference: Type.String(),
    timestamp: Timestamp,
    created_at: Timestamp,
    meter_values: Type.Array(MeterValue),
    meter_properties: Type.Array(MeterProperty),
  },
  { title: 'MeterData' },
)

const BatchOf = (item: typeof MeterData | typeof MeterDataCreate) =>
  Type.Union([Type.Array(item), Type.Object({ meter_datas: Type.Array(item) })])

export const SINGLE = { summary: 'Send one usage event.', body: MeterDataCreate, response: { 201: MeterData } }
export const BATCH = {
  summary: 'Send up to 50 usage events, as a list or in `meter_datas`; answered in the same form.',
  body: BatchOf(MeterDataCreate),
  response: { 201: BatchOf(MeterData) },
}
