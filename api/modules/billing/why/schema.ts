// Response shapes of the routes that explain the figures of an invoice.
import Type, { type Static } from 'typebox'
import { STEP_NAMES } from '../../../../shared/billing/steps/line.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { Amount, Nullable, OneOf, Optional, SentAsStored, Shape, TaxCategory } from '../../../resource/shapes.ts'
import { ItemConditions } from '../../catalog/conditions/schema.ts'
import { PricingBand } from '../../catalog/pricing-plans/schema.ts'

const Text = Type.String()
const Money = Amount
const TextOrNull = Type.Union([Text, Type.Null()])

const Step = Type.Object(
  {
    step: OneOf(
      'USAGE',
      'INCLUDED_VOLUME',
      'BAND',
      'PRICE',
      'PREVIOUSLY_BILLED',
      'PRICING_PERIOD',
      'PRORATION',
      'DEDUCTION',
      'ROUNDING',
      ...STEP_NAMES,
      'LINE',
    ),
    description: Text,
    /** The quantity after the step. */
    quantity: Optional(Text),
    /** What the step adds, exactly. */
    change: Optional(Money),
    /** The amount of the line after the step, exactly. */
    amount: Optional(Money),
    /** The path of the clause in its schedule. */
    clause: Optional(Text),
    /** The other line: the one that the step made, or, for a line that a clause made, the one that it changed. */
    line_id: Optional(Text),
  },
  { title: 'InvoiceLineStep' },
)

const Usage = Type.Object(
  {
    calculation_id: Text,
    calculation_reference: Text,
    calculation_type: Text,
    meter_reference: Text,
    meter_value_reference: TextOrNull,
    meter_property_reference: TextOrNull,
    conditions: Type.Union([SentAsStored({}, ItemConditions), Type.Null()]),
    start_at: Text,
    end_at: Text,
    quantity: Text,
    number_of_events: Text,
    /**
     * For each partition of the log, the position up to which events were counted; null while the invoice is not
     * closed.
     */
    log_positions: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
  },
  { title: 'InvoiceLineUsage' },
)

const Price = Type.Object(
  {
    pricing_plan_id: Nullable(Text),
    pricing_plan_version_id: Nullable(Text),
    pricing_plan_schedule_id: Text,
    pricing_id: Text,
    pricing_item_id: Text,
    pricing_item_config_id: Text,
    /** Whether the schedule has this price instead of that of the plan. */
    is_overridden: Type.Boolean(),
    pricing_type: Text,
    pricing_currency: Text,
    billing_period: Type.Object({ type: Text, value: Type.Integer() }),
    pricing_period: Type.Object({ type: Text, value: Type.Integer() }),
    bands: Type.Array(PricingBand),
  },
  { title: 'InvoiceLinePrice' },
)

const Tax = Type.Object(
  {
    category: TaxCategory,
    name: Text,
    percentage: Text,
    base_amount: Money,
    tax_amount: Money,
    treatment: Text,
    rule: Text,
    country: TextOrNull,
    source: TextOrNull,
  },
  { title: 'InvoiceLineTax' },
)

export const LineExplanation = Type.Object(
  {
    object_type: Type.Literal('INVOICE_LINE_EXPLANATION'),
    invoice_id: Text,
    invoice_line_id: Text,
    description: Text,
    amount_excluding_tax: Money,
    amount_including_tax: Money,
    /**
     * False when the amount would be different now: events were changed after the invoice became FINAL, or it waits to
     * be computed again.
     */
    is_current: Type.Boolean(),
    usage: Type.Union([Usage, Type.Null()]),
    price: Type.Union([Price, Type.Null()]),
    steps: Type.Array(Step),
    taxes: Type.Array(Tax),
  },
  { title: 'InvoiceLineExplanation' },
)
export type LineExplanation = Static<typeof LineExplanation>
export type StepView = Static<typeof Step>

export const Verification = Type.Object(
  {
    object_type: Type.Literal('INVOICE_VERIFICATION'),
    invoice_id: Text,
    invoice_number: TextOrNull,
    verified_at: Text,
    /** Whether the document is the same, byte for byte. */
    identical: Type.Boolean(),
    issued_sha256: Text,
    computed_sha256: Text,
    number_of_differences: Type.Integer(),
    differences: Type.Array(
      Type.Object({ field: Text, issued: TextOrNull, computed: TextOrNull }, { title: 'InvoiceDifference' }),
    ),
    /** Rules that changed since the invoice was issued and explain a difference. */
    rule_changes: Type.Array(Text),
    /** Events that the invoice counted and that were changed since. */
    changed_events: Type.Array(
      Type.Object({ reference: Text, change: OneOf('AMENDED', 'DELETED') }, { title: 'ChangedEvent' }),
    ),
  },
  { title: 'InvoiceVerification' },
)

export const LineEvent = Type.Object(
  {
    object_type: Type.Literal('INVOICE_LINE_EVENT'),
    id: Text,
    reference: Text,
    timestamp: Text,
    /** The customer key that the event carries. */
    customer_key: Text,
    meter_reference: Text,
    meter_values: Type.Array(
      Type.Object(
        { reference: Text, number: Optional(Text), amount: Optional(Money) },
        { title: 'InvoiceLineEventValue' },
      ),
    ),
    meter_properties: Type.Array(Type.Object({ reference: Text, value: Text }, { title: 'InvoiceLineEventProperty' })),
    content_hash: Text,
    /** Whether an earlier invoice billed it: the price is rated over a time that several invoices share. */
    previously_billed: Type.Boolean(),
    /** What happened to the event after the invoice counted it; its content is then the current one. */
    change: Optional(OneOf('AMENDED', 'DELETED')),
  },
  { title: 'InvoiceLineEvent' },
)
export const LineEventQuery = Shape({
  limit: PageQuery.limit,
  starting_after: Type.Optional(
    Type.String({ maxLength: 64, description: 'Id of the last event read: what follows it in time.' }),
  ),
})

export const Receipt = Type.Object(
  {
    object_type: Type.Literal('USAGE_RECEIPT'),
    invoice_id: Text,
    created_at: Text,
    root: Text,
    number_of_events: Type.Integer(),
    /** Proof that the event with the given reference is in the receipt; absent when no reference is given. */
    proof: Optional(
      Type.Object(
        {
          reference: Text,
          content_hash: Text,
          index: Type.Integer(),
          hashes: Type.Array(Text),
        },
        { title: 'UsageReceiptProof' },
      ),
    ),
  },
  { title: 'UsageReceipt' },
)
export const ReceiptQuery = Shape({
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'The reference of an event.' })),
})
