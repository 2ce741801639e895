// Wire shapes of a billing entity. A field that is not here is refused by name.
import Type, { type Static } from 'typebox'
import { Address, Description, IdText, Nullable, Optional, Shape } from '../../../resource/shapes.ts'

export const TaxIdText = Type.String({ minLength: 1, maxLength: 64 })
export const RegistrationNumber = Type.String({ minLength: 1, maxLength: 64 })

export const TaxSettings = Shape({ apply_local_vat_for_missing_tax_id: Optional(Nullable(Type.Boolean())) })

const TAX_REGISTRATIONS_MAX = 100

/** A further tax registration; its id is given on the first save and keeps it the same one when it is sent back. */
export const TaxRegistration = Shape({
  id: Optional(IdText('tax registration of this billing entity')),
  description: Optional(Nullable(Description)),
  tax_id: Optional(Nullable(TaxIdText)),
  registration_number: Optional(Nullable(RegistrationNumber)),
  registered_address: Optional(Nullable(Address)),
})
export type TaxRegistration = Static<typeof TaxRegistration>

export const TaxRegistrations = Type.Array(TaxRegistration, { maxItems: TAX_REGISTRATIONS_MAX })
