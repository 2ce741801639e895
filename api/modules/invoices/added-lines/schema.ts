// Wire shape of a line that a user adds to an invoice (semantics 5.6).

import Type, { type Static } from 'typebox'
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import { isByUnits, isLumpSum, SUPPORTED_PRICING_TYPES } from '../../../../shared/rating/rate.ts'
import {
  Amount,
  DecimalText,
  IdText,
  Name,
  Nullable,
  OneOf,
  Optional,
  Shape,
  Timestamp,
} from '../../../resource/shapes.ts'
import { PricingBand } from '../../catalog/pricing-plans/schema.ts'
import type { StoredTax } from './carried-tax.ts'

const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))

/** Which clauses of the subscription apply to a line (contract: Other fields named by the interface). */
export const APPLICABLE_CLAUSES = ['discount.totals'] as const

export const AddedLineBody = Shape(
  {
    product_item_id: Given(IdText('product item')),
    product_item_type: Given(OneOf('REVENUE', 'DEDUCTION')),
    pricing_name: Given(Name),
    start_at: Given(Timestamp),
    end_at: Given(Timestamp),
    pricing_type: OneOf(...SUPPORTED_PRICING_TYPES.filter(type => isByUnits(type) || isLumpSum(type))),
    pricing_band: PricingBand,
    volume: Given(Shape({ number: Given(DecimalText), amount: Given(Amount) })),
    pricing_plan_subscription_id: Given(IdText('pricing plan subscription')),
    applicable_for_clauses: Given(Type.Array(OneOf(...APPLICABLE_CLAUSES), { maxItems: 1 })),
  },
  { title: 'OneOffInvoiceLine' },
)
export type AddedLineBody = Static<typeof AddedLineBody>

/** A line as stored: with its time, and without omitted members. */
export type StoredLine = Omit<AddedLineBody, 'start_at' | 'end_at'> & {
  readonly start_at: string
  readonly end_at: string
  /** For a copied line: the tax category of the original. */
  readonly tax_category?: TaxCategory
  /** For a copied refund: the tax of the fee that it gives back. */
  readonly carried_tax?: StoredTax
}
