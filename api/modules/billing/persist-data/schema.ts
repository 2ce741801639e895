// The wire shapes of persisted states (reference shapes: PersistData).
import Type, { type Static } from 'typebox'
import { SelectorShape } from '../../../resource/selector.ts'
import { DecimalText, IdText, Nullable, Optional, Reference, Shape, Timestamp } from '../../../resource/shapes.ts'

const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
const described = <T extends Type.TSchema>(schema: T, description: string): T => ({ ...schema, description })

export const PersistDataBody = Shape({
  reference: Given(
    described(
      Reference,
      'Identifies the state for ever: a repeated reference changes nothing and returns what was stored. Generated when left out.',
    ),
  ),
  customer_id: IdText('customer'),
  customer_reference: Given(Reference),
  pricing_plan_subscription_id: IdText('subscription'),
  pricing_plan_subscription_reference: Given(Reference),
  pricing_plan_subscription_selector: Given(SelectorShape),
  pricing_id: IdText('pricing'),
  pricing_item_id: IdText('pricing item'),
  pricing_item_config_id: IdText('pricing item config'),
  persist_usage: described(
    DecimalText,
    'The state of the calculation at the moment: a number or, for metered money, an amount in the currency of the prices.',
  ),
  timestamp: Given(described(Timestamp, 'The moment; now when neither it nor period.start_at is given.')),
  period: Given(
    Shape({
      start_at: Given(described(Timestamp, 'Another name for the moment.')),
      end_at: Given(
        described(
          Timestamp,
          'The end of the billing period of the price that starts at the moment; the state stays in force after it.',
        ),
      ),
      ratio: Given(DecimalText),
    }),
  ),
  included_volume: Given(Type.Object({}, { additionalProperties: true })),
  persist_included_volume: Given(DecimalText),
  persist_charged_volume: Given(Type.Boolean()),
  persist_rollover_volume: Given(Type.Boolean()),
  set_rollover_volume: Given(Type.Boolean()),
  reprocess_id: Given(Type.String({ maxLength: 64 })),
  is_last_reprocess_item: Given(Type.Boolean()),
})
export type PersistDataBody = Static<typeof PersistDataBody>

export const PersistDataView = Type.Object(
  {
    object_type: Type.Literal('PERSIST_DATA'),
    id: Type.String(),
    created_at: Timestamp,
    reference: Type.String(),
    customer_id: Type.String(),
    customer_reference: Nullable(Type.String()),
    pricing_plan_subscription_id: Type.String(),
    pricing_plan_subscription_reference: Nullable(Type.String()),
    pricing_id: Type.String(),
    pricing_item_id: Type.String(),
    pricing_item_config_id: Type.String(),
    persist_usage: DecimalText,
    timestamp: Timestamp,
    period: Type.Object({ start_at: Timestamp, end_at: Nullable(Timestamp) }),
  },
  { title: 'PersistData' },
)
