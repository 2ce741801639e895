// An invoice that is not stored, as it would be shown.
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import type { NewInvoice } from '../../invoices/repository.ts'
import type { InvoiceView } from '../../invoices/schema.ts'
import { invoiceView } from '../../invoices/view.ts'

export type InvoicePreview = Omit<InvoiceView, 'id' | 'created_at' | 'updated_at' | 'customer_id'> & {
  /** Absent for a customer who is imagined. */
  readonly customer_id?: string
}

/** An invoice as it would be shown, of columns that are not saved. */
export function unsavedView(
  columns: NewInvoice,
  { tenant, now }: { readonly tenant: Tenant; readonly now: Instant },
): InvoicePreview {
  const time = formatInstant(now)
  const {
    id: _id,
    created_at: _created,
    updated_at: _updated,
    ...view
  } = invoiceView(
    {
      ...columns,
      platform_id: tenant.platformId,
      environment: tenant.environment,
      id: 'invo_',
      created_at: time,
      updated_at: time,
      custom_fields: [],
    },
    now,
  )
  return view
}
