// Wire shape for creating a one-off invoice (semantics 5.6).
import Type, { type Static } from 'typebox'
import { CustomFieldValues } from '../../../resource/custom-fields/schema.ts'
import {
  Currency,
  DecimalText,
  IdText,
  Name,
  Nullable,
  OneOf,
  Optional,
  Period,
  Reference,
  Shape,
  Timestamp,
} from '../../../resource/shapes.ts'
import { AddedLineBody } from '../added-lines/schema.ts'

const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
const NOTES_MAX = 20
const NOTE_LENGTH_MAX = 2_000

/** Notes that users write on an invoice. */
export const Notes = Type.Array(Type.String({ minLength: 1, maxLength: NOTE_LENGTH_MAX }), { maxItems: NOTES_MAX })

const DueDate = Shape({ type: OneOf('PERIOD_AFTER_INVOICE_DATE', 'END_OF_THE_MONTH'), period: Given(Period) })
const LINES_MAX = 200

export const OneOffInvoiceBody = Shape(
  {
    customer_id: Given(IdText('customer')),
    customer_reference: Given(Reference),
    billing_entity_id: Given(IdText('billing entity')),
    billing_currency: Given(Currency),
    invoice_date: Given(Timestamp),
    delivery_date: Given(Timestamp),
    due_date_configuration: Given(DueDate),
    purchase_order_number: Given(Name),
    sales_tax_percentage: Given(DecimalText),
    on_hold: Given(Type.Boolean()),
    notes: Given(Notes),
    custom_fields: Given(CustomFieldValues),
    lines: Type.Array(AddedLineBody, { minItems: 1, maxItems: LINES_MAX }),
  },
  { title: 'OneOffInvoiceCreate' },
)
export type OneOffInvoiceBody = Static<typeof OneOffInvoiceBody>

/** Terms of a one-off invoice that other invoices take from their subscription. */
export type OneOffTerms = {
  readonly billing_currency: string
  /** Null when it is the day on which it becomes FINAL. */
  readonly invoice_date: string | null
  readonly delivery_date: string | null
  readonly due_date_configuration: Static<typeof DueDate>
  readonly purchase_order_number: string | null
  readonly sales_tax_percentage: string | null
}
