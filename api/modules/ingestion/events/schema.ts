// The wire shapes of single events.
import Type from 'typebox'
import { LIMIT_DEFAULT, PageQuery } from '../../../http/pagination.ts'
import { SliceQuery } from '../../../list/slice.ts'
import { SelectorShape } from '../../../resource/selector.ts'
import { Amount, DecimalText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { LIST_DEPTH } from '../../../usage/list/list-stored-events.ts'
import { meterValueCalculationResource } from '../../catalog/meters/meter-value-calculation.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { InvoiceView } from '../../invoices/schema.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import { NOT_MATCHED_VARIANTS } from './trace/decide-billing.ts'

const Key = Optional(Type.String({ minLength: 1, maxLength: 255 }))
const Expandable = Type.String({ maxLength: 64 })
const Expand = Optional(Type.Union([Expandable, Type.Array(Expandable, { maxItems: 20 })]))
const ProcessedType = OneOf('DEFAULT', 'NOT_MATCHED', 'DUPLICATE')

export const EventParams = Shape({
  id: Type.String({ minLength: 1, maxLength: 255, description: 'The id of the event, or its reference.' }),
})
export const EventQuery = Shape({ 'expand[]': Expand })
export const EventTraceQuery = Shape({
  'expand[]': Expand,
  cost_prediction: Optional(Type.Enum(['false'], { description: 'Not supported by this release.' })),
})
export const EventListQuery = Shape({
  customer_id: Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Id or reference.' })),
  meter_id: Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Id or reference.' })),
  reference: Key,
  timestamp: Optional(Type.String({ maxLength: 100, description: 'A range [from,to]; either may be empty.' })),
  deleted: Optional(OneOf('true', 'false')),
  processed_details_type: Optional(ProcessedType),
  'expand[]': Expand,
  page: Type.Optional({
    ...PageQuery.page,
    description: `From 1. Pages reach the newest ${LIST_DEPTH} that match; cursors all.`,
  }),
  limit: Type.Optional({ ...PageQuery.limit, description: `Default ${LIMIT_DEFAULT}.` }),
  starting_after: SliceQuery.starting_after,
  ending_before: SliceQuery.ending_before,
})

export const DeleteByReferenceBody = Shape({ reference: Type.String({ minLength: 1, maxLength: 255 }) })

const ENTRIES_MAX = 100
const REASON_MAX = 1_000
const Named = { id: Optional(Nullable(Type.String())), reference: Optional(Nullable(Type.String())) }
const amendFields = {
  meter_values: Type.Array(
    Shape({ ...Named, number: Optional(Nullable(DecimalText)), amount: Optional(Nullable(Amount)) }),
    { maxItems: ENTRIES_MAX, description: 'Every value the event has from now on.' },
  ),
  meter_properties: Optional(
    Nullable(
      Type.Array(Shape({ ...Named, value: Type.String() }), {
        maxItems: ENTRIES_MAX,
        description: 'Every property the event has from now on; left out, it keeps those it has.',
      }),
    ),
  ),
  reason: Optional(
    Nullable(Type.String({ maxLength: REASON_MAX, pattern: '^[^\\u0000]*$', description: 'Kept in the history.' })),
  ),
}
export const AmendBody = Shape(amendFields)
export const AmendByReferenceBody = Shape({ reference: Type.String({ minLength: 1, maxLength: 255 }), ...amendFields })

const Processed = Type.Object({
  type: ProcessedType,
  duplicate_of_meter_data_id: Nullable(Type.String()),
  duplicate: Nullable(
    Type.Object({
      of_meter_data_id: Type.String({
        description: 'The event that counts: it has the same reference, and so this id.',
      }),
      content_differs: Type.Boolean({ description: 'Whether it says something else than the event that counts.' }),
      log_position: Type.String({ description: 'Where it stands in the log; no two records share it.' }),
    }),
  ),
  not_matched: Nullable(
    Type.Object({
      variant: Type.Enum([...NOT_MATCHED_VARIANTS]),
    }),
  ),
})

export const MeasuredValues = Type.Array(
  Type.Object({
    id: Nullable(Type.String()),
    reference: Type.String(),
    number: Nullable(DecimalText),
    amount: Nullable(Amount),
  }),
)
export const MeasuredProperties = Type.Array(
  Type.Object({ id: Nullable(Type.String()), reference: Type.String(), value: Type.String() }),
)

export const EventView = Type.Object(
  {
    object_type: Type.Literal('METER_DATA'),
    id: Type.String({ description: 'Follows from the reference; duplicates of an event share it.' }),
    reference: Type.String(),
    type: Type.Literal('INGEST'),
    customer_id: Nullable(Type.String()),
    customer_reference: Nullable(Type.String()),
    customer: Type.Optional(Nullable(customerResource.view)),
    meter_id: Nullable(Type.String()),
    meter_reference: Type.String(),
    pricing_plan_subscription_id: Nullable(Type.String({ description: 'As it was sent; as are the two after it.' })),
    pricing_plan_subscription_reference: Nullable(Type.String()),
    pricing_plan_subscription_selector: Nullable(SelectorShape),
    timestamp: Timestamp,
    created_at: Type.String({ ...Timestamp, description: 'When the gateway received it.' }),
    meter_values: MeasuredValues,
    meter_properties: MeasuredProperties,
    processed_details: Processed,
    deleted: Type.Boolean(),
  },
  { title: 'MeterDataRecord' },
)

const AmendmentView = Type.Object(
  {
    log_position: Type.String({ description: 'Where it stands in the log, which decides their order.' }),
    amended_at: Timestamp,
    user_id: Nullable(Type.String({ description: 'The user or API key that sent the amendment.' })),
    request_id: Nullable(Type.String()),
    reason: Nullable(Type.String()),
    meter_values: MeasuredValues,
    meter_properties: MeasuredProperties,
    previous_meter_values: MeasuredValues,
    previous_meter_properties: MeasuredProperties,
    applied: Type.Boolean({ description: 'False when the event had been deleted before.' }),
  },
  { title: 'MeterDataAmendment' },
)

export const EventTraceView = Type.Object(
  {
    object_type: Type.Literal('EVENT_TRACE'),
    id: Type.String(),
    meter_data_id: Type.String(),
    meter_data: EventView,
    customer_id: Nullable(Type.String()),
    customer: Type.Optional(Nullable(customerResource.view)),
    received_time: Type.String({ ...Timestamp, description: 'When the gateway received it.' }),
    ingest_time: Nullable(
      Type.String({ description: 'When the log took it; null once the log no longer holds it (14 days).' }),
    ),
    processed_time: Nullable(
      Type.String({
        description: 'When usage last took it in, or its deletion or correction; null where that was not kept yet.',
      }),
    ),
    amendments: Type.Array(AmendmentView, {
      description: 'What was corrected, first to last; meter_data has what holds now.',
    }),
    links: Type.Array(
      Type.Object({
        object_type: Type.Literal('EVENT_TRACE_LINK'),
        id: Type.String(),
        meter_value_calculation_ids: Type.Array(Type.String()),
        meter_value_calculations: Type.Optional(Type.Array(meterValueCalculationResource.view)),
        product_item_ids: Type.Array(Type.String()),
        product_items: Type.Optional(Type.Array(productItemResource.view)),
        pricing_plan_subscription_id: Type.String(),
        pricing_plan_subscription: Type.Optional(Nullable(subscriptionResource.view)),
        attributed_by: Type.Enum(['ID', 'REFERENCE', 'EVENT_SELECTOR', 'CUSTOMER_SELECTOR', 'ONLY', 'LATEST'], {
          description:
            'What decided that it is this subscription: what the event names, a selector, or there being no other.',
        }),
        pricing_item_config_id: Type.String(),
        invoice_id: Nullable(Type.String({ description: 'Null before there is one, or when several may collect it.' })),
        invoice: Type.Optional(Nullable(InvoiceView)),
        invoice_line_id: Nullable(
          Type.String({ description: 'Its line on that invoice as it is now; null before the invoice has one.' }),
        ),
      }),
      { description: 'What rates it; none when it is deleted or not matched, as meter_data then says.' },
    ),
  },
  { title: 'EventTrace' },
)
