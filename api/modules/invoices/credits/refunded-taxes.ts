// The taxes of the refunds on an invoice: each has that of the fee that it gives back (semantics 5.5). A copy keeps them.
import { sql } from 'drizzle-orm'
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import { type StoredTax, storedTax } from '../added-lines/carried-tax.ts'
import { type StoredSummaries, taxCarried } from '../document/tax/charged-tax.ts'

type FeeRow = {
  readonly line_id: string
  /** What the line carries as a copy of a refund; null for a refund itself. */
  readonly carried: StoredTax | null
  readonly tax_category: TaxCategory | null
  readonly net: string | null
  readonly tax: string | null
  readonly summaries: StoredSummaries | null
}

/** By the id of the refund; what is no refund is absent. */
export async function loadRefundedTaxes(uow: Uow, invoiceId: Id<'invo'>): Promise<ReadonlyMap<string, StoredTax>> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<FeeRow>(sql`
    select l.line_id, a.line -> 'carried_tax' as carried, f.tax_category, f.amount_excluding_tax::text as net, f.tax_amount::text as tax,
      v.content -> 'tax_categories' as summaries
    from invoice_lines l
    left join invoice_added_lines a on a.platform_id = l.platform_id and a.environment = l.environment
      and a.invoice_id = l.invoice_id and a.id = l.source ->> 'added_line'
    left join invoices v on v.platform_id = l.platform_id and v.environment = l.environment
      and v.id = l.source ->> 'refund_of_invoice_id'
    left join invoice_lines f on f.platform_id = v.platform_id and f.environment = v.environment and f.invoice_id = v.id
      and l.source ->> 'key' = 'refund ' || v.id || ' ' || (f.source ->> 'key')
    where l.platform_id = ${platformId} and l.environment = ${environment} and l.invoice_id = ${invoiceId}
      and (f.line_id is not null or a.line ? 'carried_tax')`)
  return new Map(
    rows.flatMap(({ line_id, carried, tax_category, net, tax, summaries }) => {
      if (carried) return [[line_id, carried] as const]
      if (!tax_category || net === null || tax === null) return []
      const fee = taxCarried({ taxCategory: tax_category, net: decimal(net), tax: decimal(tax) }, summaries ?? [])
      return fee.tax ? [[line_id, storedTax(fee.tax)] as const] : []
    }),
  )
}
