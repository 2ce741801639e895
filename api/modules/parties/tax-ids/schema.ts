// Wire shapes of tax ids: what a party sends, and the same with what became of the check.
import Type, { type Static } from 'typebox'
import { Address, Description, IdText, Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'

export const TAX_ID_TYPES = [
  'GENERIC_TAX_ID',
  'AU_GST',
  'CA_GST_HST',
  'CA_PST',
  'CA_PST_BC',
  'CA_PST_MB',
  'CA_PST_SK',
  'CA_QST',
] as const
export type TaxIdType = (typeof TAX_ID_TYPES)[number]
export const TaxIdTypeShape = OneOf(...TAX_ID_TYPES)

export const TaxIdText = Type.String({ minLength: 1, maxLength: 64, pattern: '\\S' })
export const RegistrationNumber = Type.String({ minLength: 1, maxLength: 64 })

const TAX_IDS_MAX = 20
const TAX_REGISTRATIONS_MAX = 100

/** What is known of a tax id, since when and from whom. UNKNOWN: its form is right, or no rule for it is known. */
export const TaxIdValidation = Shape(
  {
    id: Type.String(),
    validation_date: Type.String(),
    source: OneOf('FORMAT', 'VIES'),
    valid: OneOf('VALID', 'NOT_VALID', 'UNKNOWN'),
    message: Type.String(),
  },
  { title: 'TaxIdValidation' },
)
export type TaxIdValidation = Static<typeof TaxIdValidation>

/** Taken so that what was read can be sent back; what is saved is always the service's own. */
const result = { tax_id_validation_result: Optional(Nullable(TaxIdValidation)) }

export const TaxIds = Type.Array(
  Shape(
    {
      id: TaxIdText,
      type: TaxIdTypeShape,
      display_name: Optional(Nullable(Type.String({ minLength: 1, maxLength: 255 }))),
      ...result,
    },
    { title: 'TaxId' },
  ),
  { maxItems: TAX_IDS_MAX },
)
export type TaxIds = Static<typeof TaxIds>

/** A company's one tax id, and those with a type. */
export const taxIdMembers = { tax_id: Optional(Nullable(TaxIdText)), ...result, tax_ids: Optional(Nullable(TaxIds)) }

/** A further tax registration; its id is given on the first save and keeps it the same one when it is sent back. */
export const TaxRegistration = Shape(
  {
    id: Optional(IdText('tax registration')),
    description: Optional(Nullable(Description)),
    ...taxIdMembers,
    registration_number: Optional(Nullable(RegistrationNumber)),
    registered_address: Optional(Nullable(Address)),
  },
  { title: 'TaxRegistration' },
)
export type TaxRegistration = Static<typeof TaxRegistration>

export const TaxRegistrations = Type.Array(TaxRegistration, { maxItems: TAX_REGISTRATIONS_MAX })
