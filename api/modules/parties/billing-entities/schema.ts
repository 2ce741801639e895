// Wire shapes of a billing entity. A field that is not here is refused by name.
import Type from 'typebox'
import { Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'

export const TaxSettings = Shape(
  {
    apply_local_vat_for_missing_tax_id: Optional(Nullable(Type.Boolean())),
    provider: Optional(Nullable(OneOf('BUILT_IN', 'EXTERNAL'))),
  },
  { title: 'BillingEntityTaxSettings' },
)
