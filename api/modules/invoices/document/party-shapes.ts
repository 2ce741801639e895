// The parties as invoices show them: as they were when the invoice was computed. What earlier releases stored may have other members.
import Type from 'typebox'
import { Address, Nullable, OneOf, Optional, SentAsStored } from '../../../resource/shapes.ts'
import { TaxSettings } from '../../parties/billing-entities/schema.ts'
import { Individual, Organization } from '../../parties/customers/schema.ts'
import { TaxIds, TaxRegistrations } from '../../parties/tax-ids/schema.ts'

const Text = Type.String()
const TextOrNull = Optional(Nullable(Text))
const stored = { object_type: Text, id: Text }

const customer = {
  object_type: Type.Literal('CUSTOMER'),
  reference: TextOrNull,
  type: Optional(OneOf('ORGANIZATION', 'INDIVIDUAL')),
  timezone: TextOrNull,
  email: TextOrNull,
  locale: TextOrNull,
  individual: Optional(Nullable(Individual)),
  organization: Optional(Nullable(Organization)),
}
const Customer = Type.Object({ id: Text, ...customer }, { additionalProperties: true, title: 'InvoiceCustomer' })
const BillingEntity = Type.Object(
  {
    object_type: Type.Literal('BILLING_ENTITY'),
    id: Text,
    reference: TextOrNull,
    timezone: TextOrNull,
    legal_name: TextOrNull,
    tax_id: TextOrNull,
    tax_ids: Optional(Nullable(TaxIds)),
    registration_number: TextOrNull,
    registered_address: Optional(Nullable(Address)),
    email: TextOrNull,
    tax_settings: Optional(Nullable(TaxSettings)),
    tax_registrations: Optional(Nullable(TaxRegistrations)),
  },
  { additionalProperties: true, title: 'InvoiceBillingEntity' },
)

/** A customer as it was: of one that is only named, its names alone. */
export const CustomerSnapshot = SentAsStored(stored, Customer)
/** The billing entity as it was. */
export const BillingEntitySnapshot = SentAsStored(stored, BillingEntity)
/** What a preview shows of a customer who does not exist: there is no id. */
export const ImaginedCustomer = Type.Object(
  { id: Optional(Text), ...customer },
  { additionalProperties: true, title: 'InvoicePreviewCustomer' },
)
