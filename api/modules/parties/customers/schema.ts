// Wire shapes of a customer's two kinds. A field that is not here is refused by name.
import Type, { type Static } from 'typebox'
import { Address, DecimalText, Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'
import { PersonName } from '../schema.ts'
import { TaxRegistrations, taxIdMembers } from '../tax-ids/schema.ts'

const Text = Type.String({ maxLength: 255 })

export const Individual = Shape({
  name: Optional(PersonName),
  residential_address: Optional(Nullable(Address)),
})

export const Organization = Shape({
  legal_name: Optional(Nullable(Text)),
  ...taxIdMembers,
  // An empty text clears it, as it always has.
  tax_id: Optional(Nullable(Type.String({ maxLength: 64 }))),
  registration_number: Optional(Nullable(Type.String({ maxLength: 64 }))),
  tax_exempt: Optional(Nullable(Type.Boolean())),
  tax_exempt_percentage: Optional(Nullable(DecimalText)),
  tax_exempt_note: Optional(Nullable(Type.String({ maxLength: 1_000 }))),
  registered_address: Optional(Nullable(Address)),
  tax_registrations: Optional(Nullable(TaxRegistrations)),
})
export type Organization = Static<typeof Organization>

/**
 * One role a customer: billed itself; sending events that are its parents'; paying alone, without events; a supplier, invoiced in its
 * name; or billed for (a seller on a marketplace).
 */
const CustomerRoleShape = OneOf('DEFAULT', 'PROCESSING_ONLY', 'NON_PROCESSING', 'SELF_BILLING', 'SELLER')
export type CustomerRole = Static<typeof CustomerRoleShape>
export const Roles = Type.Array(CustomerRoleShape, { minItems: 1, maxItems: 1 })

export const CustomerSellerDetails = Shape({
  default_billing_entity_id: Optional(Nullable(Type.String({ minLength: 1, maxLength: 64 }))),
})
export type CustomerSellerDetails = Static<typeof CustomerSellerDetails>
