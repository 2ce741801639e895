// The wire shapes of a preview: invoices that do not exist yet.
import Type from 'typebox'
import { Optional, SentAsStored } from '../../../resource/shapes.ts'
import { ImaginedCustomer } from '../../invoices/document/party-shapes.ts'
import { InvoiceView } from '../../invoices/schema.ts'

const { id: _id, created_at: _created, updated_at: _updated, ...previewed } = InvoiceView.properties
const { id, ...ofCustomer } = previewed.customer.properties

// A customer who is imagined has no id.
const customer = SentAsStored({ ...ofCustomer, id: Optional(id) }, ImaginedCustomer)
const fields = { ...previewed, customer_id: Optional(previewed.customer_id), customer }
export const InvoicePreview = Type.Object(fields, { title: 'InvoicePreview' })

export const PreviewAnswer = Type.Object({
  invoice: InvoicePreview,
  first_invoice: InvoicePreview,
  invoice_infos: Type.Array(
    Type.Object({ pricing_plan_schedule_id: Type.String(), invoices: Type.Array(InvoicePreview) }),
  ),
})

/** Of its members, those that have thousands of lines where a year is priced by the day. */
export const LARGE_MEMBERS = ['invoice', 'first_invoice', 'invoice_infos', 'invoices', 'periods', 'groups', 'lines']
