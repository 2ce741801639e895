// Wire shapes of credits (semantics 5.6).
import Type, { type Static } from 'typebox'
import { Amount, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'

const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
const Order = Type.Integer({ minimum: 0 })
const MANY = { minItems: 1, maxItems: 500 }
const Source = OneOf('CURRENT', 'ORIGINAL')

const CreditLine = Shape({ line_order: Order, amount: Given(Amount) })
const CreditGroup = Shape({ group_order: Order, amount: Given(Amount), lines: Optional(Type.Array(CreditLine, MANY)) })
const CreditPeriod = Shape({
  period_order: Order,
  amount: Given(Amount),
  groups: Optional(Type.Array(CreditGroup, MANY)),
})

export const CreditBody = Shape(
  {
    note: Given(Type.String({ minLength: 1, maxLength: 2_000 })),
    periods: Optional(Type.Array(CreditPeriod, MANY)),
    groups: Optional(Type.Array(CreditGroup, MANY)),
    force_init_on_hold: Given(Type.Boolean()),
    delivery_date: Given(Timestamp),
    credit_details_source: Given(Source),
  },
  { title: 'InvoiceCreditRequest' },
)
export type CreditBody = Static<typeof CreditBody>

export const CreditAndCopyBody = Shape(
  {
    update_new_invoice_to_final: Given(Type.Boolean()),
    update_credit_invoice_to_final: Given(Type.Boolean()),
    credit_details_source: Given(Source),
  },
  { title: 'InvoiceCreditAndCopy' },
)
export type CreditAndCopyBody = Static<typeof CreditAndCopyBody>

export const CreditAndCopyAnswer = Type.Object(
  { original_invoice_id: Type.String(), credit_invoice_id: Type.String(), new_invoice_id: Type.String() },
  { title: 'InvoiceCreditAndCopyResult' },
)

/** The members that only a credit note has. */
export type CreditTerms = {
  readonly note: string | null
  /** Which names and addresses it shows: the current ones, or those of the original. */
  readonly credit_details_source: Static<typeof Source>
  readonly delivery_date: string | null
}
