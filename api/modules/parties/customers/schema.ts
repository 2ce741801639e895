// Wire shapes of a customer's two kinds. A field that is not here is refused by name.
import Type from 'typebox'
import { Address, Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'

const Text = Type.String({ maxLength: 255 })

export const Individual = Shape({
  name: Optional(
    Shape({
      first_name: Optional(Nullable(Text)),
      last_name: Optional(Nullable(Text)),
      infix: Optional(Nullable(Text)),
    }),
  ),
  residential_address: Optional(Nullable(Address)),
})

export const Organization = Shape({
  legal_name: Optional(Nullable(Text)),
  tax_id: Optional(Nullable(Type.String({ maxLength: 64 }))),
  registration_number: Optional(Nullable(Type.String({ maxLength: 64 }))),
  tax_exempt: Optional(Nullable(Type.Boolean())),
  tax_exempt_note: Optional(Nullable(Type.String({ maxLength: 1_000 }))),
  registered_address: Optional(Nullable(Address)),
})

/** One role a customer: billed itself, or sending events that are its parents'. */
export const Roles = Type.Array(OneOf('DEFAULT', 'PROCESSING_ONLY'), { minItems: 1, maxItems: 1 })
