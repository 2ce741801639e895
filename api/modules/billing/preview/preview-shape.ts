// The wire shape of an invoice that does not exist yet.
import Type from 'typebox'
import { InvoiceView } from '../../invoices/schema.ts'

const { id: _id, created_at: _created, updated_at: _updated, ...previewed } = InvoiceView.properties
export const InvoicePreview = Type.Object(previewed, { title: 'InvoicePreview' })
