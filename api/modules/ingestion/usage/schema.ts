// The wire shapes of usage as a resource.
import Type from 'typebox'
import { BUCKETS } from '../../../../shared/billing/buckets.ts'
import { Amount, Nullable, Optional, Shape, Timestamp, TimeZone } from '../../../resource/shapes.ts'
import { NOT_MATCHED_VARIANTS } from '../events/trace/decide-billing.ts'

/** Buckets in one answer. */
export const BUCKETS_MAX = 1_000
/** Buckets times quantities of each, over all calculations. */
export const POINTS_MAX = 10_000
/** Different values are counted bucket by bucket where there are many. */
export const UNIQUE_BUCKETS_MAX = 100
/** Properties that usage is split by. */
const GROUP_BY_MAX = 3

const named = (description: string) => Optional(Type.String({ minLength: 1, maxLength: 255, description }))
const PropertyName = Type.String({ minLength: 1, maxLength: 255 })

export const UsageQueryShape = Shape({
  meter_value_calculation_id: named('The calculation to show. Give this or `meter_id`.'),
  meter_id: named('The meter, by its id or reference: every calculation of it is shown.'),
  customer_id: named('The customer, by its id or reference: all its events count, whatever subscription they are for.'),
  pricing_plan_subscription_id: named(
    'Instead of `customer_id`: only the events that this subscription bills, also those of other customers.',
  ),
  from: Type.String({ ...Timestamp, description: 'The start, inclusive: ISO 8601 with an offset.' }),
  to: Type.String({ ...Timestamp, description: 'The end, exclusive: ISO 8601 with an offset.' }),
  bucket: Optional(
    Type.Enum([...BUCKETS], {
      description: `How time is cut, at most ${BUCKETS_MAX} buckets. Without it, \`from\` to \`to\` is one.`,
    }),
  ),
  timezone: Optional(
    Type.String({ ...TimeZone, description: 'The zone whose hours, days and months are shown. Default UTC.' }),
  ),
  'group_by[]': Optional(
    Type.Union([PropertyName, Type.Array(PropertyName, { maxItems: GROUP_BY_MAX })], {
      description: `Meter properties, by id or reference: a quantity for each combination of their values. At most ${GROUP_BY_MAX}.`,
    }),
  ),
  conditions: Optional(
    Type.String({
      maxLength: 20_000,
      description:
        'Which events count, as JSON in the form of the conditions of a product item: ' +
        '`{"meter_properties":[{"reference":"region","comparator":"EQUALS","value":"eu"}]}`.',
    }),
  ),
})

/** Minutes in one answer: a day. */
export const MINUTES_MAX = 1_440
/** Events that are decided on in one answer. */
export const VERDICTS_MAX = 10_000

export const IngestionQueryShape = Shape({
  from: Optional(
    Type.String({
      ...Timestamp,
      description: 'The first minute: ISO 8601 with an offset. Default: 60 minutes before `to`.',
    }),
  ),
  to: Optional(
    Type.String({ ...Timestamp, description: 'The end, exclusive: ISO 8601 with an offset. Default: now.' }),
  ),
})

export const IngestionView = Type.Object(
  {
    object_type: Type.Literal('USAGE_INGESTION'),
    from: Timestamp,
    to: Timestamp,
    usage_counted_until: Type.String({ ...Timestamp, description: 'Every event that was accepted before is counted.' }),
    lag_seconds: Type.Integer({ description: 'How far `usage_counted_until` is behind now.' }),
    not_matched_from: Type.String({
      ...Timestamp,
      description: `From here on \`not_matched\` is known: the last ${VERDICTS_MAX} events that were received are decided on.`,
    }),
    data: Type.Array(
      Type.Object(
        {
          minute: Type.String({ ...Timestamp, description: 'The start of the minute.' }),
          accepted: Type.Integer({ description: 'Events in requests that were answered 201, repeats included.' }),
          repeated: Type.Integer({ description: 'How many of them were repeats, and not counted again.' }),
          refused: Type.Array(
            Type.Object(
              {
                code: Type.String({ description: 'The code of the error.' }),
                requests: Type.Integer({ description: 'How many requests were refused with it.' }),
              },
              { title: 'UsageIngestionRefusal' },
            ),
            { description: 'Requests of valid API keys that the gateway refused, by code.' },
          ),
          not_matched: Nullable(
            Type.Array(
              Type.Object(
                {
                  variant: Type.Enum([...NOT_MATCHED_VARIANTS], { description: 'Why.' }),
                  events: Type.Integer({ description: 'How many events that were received in this minute.' }),
                },
                { title: 'UsageIngestionNotMatched' },
              ),
              {
                description:
                  'Events that no invoice has or will have, as things are now; null before `not_matched_from`.',
              },
            ),
          ),
        },
        { title: 'UsageIngestionMinute' },
      ),
      { description: 'Every minute, also those without events.' },
    ),
  },
  { title: 'UsageIngestion' },
)

const Quantity = Type.Object(
  {
    meter_value_calculation_id: Type.String({ description: 'The calculation that gives it.' }),
    number: Nullable(Type.String({ description: 'A decimal, not rounded; null where the meter value is an amount.' })),
    amount: Nullable(Amount),
    event_count: Type.Integer({ description: 'How many events are in it.' }),
    meter_properties: Type.Array(
      Type.Object({
        id: Type.String(),
        reference: Type.String(),
        value: Nullable(Type.String({ description: 'Null for the events without this property.' })),
      }),
      { description: 'The values of `group_by[]`, in its order.' },
    ),
  },
  { title: 'UsageQuantity' },
)

export const UsageView = Type.Object(
  {
    object_type: Type.Literal('USAGE'),
    from: Timestamp,
    to: Timestamp,
    bucket: Nullable(Type.Enum([...BUCKETS], { description: 'Null when the whole time is one bucket.' })),
    timezone: Type.String(),
    usage_counted_until: Type.String({
      ...Timestamp,
      description: 'Every event that was accepted before is counted.',
    }),
    data: Type.Array(
      Type.Object(
        {
          start: Type.String({ ...Timestamp, description: 'Inclusive.' }),
          end: Type.String({ ...Timestamp, description: 'Exclusive.' }),
          quantities: Type.Array(Quantity, { description: 'Empty when nothing was used.' }),
        },
        { title: 'UsageBucket' },
      ),
      { description: 'Every bucket in the order of time, also those without usage.' },
    ),
  },
  { title: 'Usage' },
)
