// The wire shape of an invoice that does not exist yet.
import Type from 'typebox'
import { Optional } from '../../../resource/shapes.ts'
import { InvoiceView } from '../../invoices/schema.ts'

const { id: _id, created_at: _created, updated_at: _updated, ...previewed } = InvoiceView.properties
const { id, ...ofCustomer } = previewed.customer.properties

// A customer who is imagined has no id.
const customer = Type.Object(
  { ...ofCustomer, id: Optional(id) },
  { additionalProperties: true, title: 'InvoicePreviewCustomer' },
)
const fields = { ...previewed, customer_id: Optional(previewed.customer_id), customer }
export const InvoicePreview = Type.Object(fields, { title: 'InvoicePreview' })
