// Reads FINAL invoices with what they were priced from and what they billed, for many customers in a few statements.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { ConditionNamesInput } from '../../catalog/conditions/load-names.ts'
import { closedNames } from '../late/closed-usage.ts'
import { pinOf } from '../pinned/pinned.ts'
import { type KnownCatalogs, loadCatalogs } from '../pinned/store-pinned.ts'
import type { BilledInvoice, BilledLine } from './compare.ts'
import type { ClosedInvoice } from './simulate-invoice.ts'

/** A FINAL invoice and what it was priced from; without `closed`, that was not stored. */
export type FinalInvoice = {
  readonly id: string
  readonly subscriptionId: string
  readonly currency: string
  readonly periodStart: string
  readonly periodEnd: string
  readonly billed: BilledInvoice
  readonly closed: ClosedInvoice | null
}

export type FinalInvoices = {
  /** In the order in which they were closed. */
  readonly invoices: readonly FinalInvoice[]
  /** What conditions named when they were closed, by hash. */
  readonly names: ReadonlyMap<string, ConditionNamesInput>
}

type InvoiceRow = {
  readonly id: string
  readonly subscription_id: string
  readonly currency: string
  readonly period_start: string
  readonly period_end: string
  readonly amount: string
  readonly positions: number[] | null
  readonly customer_keys: string[] | null
  readonly names_hash: string | null
  readonly catalog_hash: string | null
  readonly inputs: string | null
  readonly request: string | null
}
type LineRow = {
  readonly invoice_id: string
  readonly kind: BilledLine['kind']
  readonly product_item_id: BilledLine['product_item_id']
  readonly amount_excluding_tax: string
}

export async function loadFinalInvoices(
  uow: ReadUow,
  ids: readonly string[],
  catalogs: KnownCatalogs,
): Promise<FinalInvoices> {
  if (ids.length === 0) return { invoices: [], names: new Map() }
  const { platformId, environment } = uow.tenant
  const time = (column: string) => sql`to_char(${sql.raw(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
  const { rows } = await uow.tx.execute<InvoiceRow>(sql`
    select v.id, v.pricing_plan_subscription_id as subscription_id, v.billing_currency as currency,
      ${time('v.period_start')} as period_start, ${time('v.period_end')} as period_end,
      v.amount_excluding_tax::text as amount, c.positions, c.customer_keys, c.names_hash, p.catalog_hash, p.inputs, p.request
    from invoices v
    left join closed_usage c on c.platform_id = v.platform_id and c.environment = v.environment and c.invoice_id = v.id
    left join pinned_inputs p on p.platform_id = v.platform_id and p.environment = v.environment and p.invoice_id = v.id
    where v.platform_id = ${platformId} and v.environment = ${environment} and v.id = any(${sql.param(ids)})
    order by c.seq, v.cutoff_at, v.id`)
  const lines = await uow.tx.execute<LineRow>(sql`
    select invoice_id, kind, product_item_id, amount_excluding_tax::text from invoice_lines
    where platform_id = ${platformId} and environment = ${environment} and invoice_id = any(${sql.param(ids)})
    order by invoice_id, line_order`)
  const linesOf = groupBy(lines.rows, line => line.invoice_id)
  await loadCatalogs(uow, { hashes: rows.flatMap(row => row.catalog_hash ?? []), into: catalogs })
  const invoices = rows.map(
    (row): FinalInvoice => ({
      id: row.id,
      subscriptionId: row.subscription_id,
      currency: row.currency,
      periodStart: row.period_start,
      periodEnd: row.period_end,
      billed: { amount_excluding_tax: row.amount, lines: linesOf.get(row.id) ?? [] },
      closed: closedOf(row, catalogs),
    }),
  )
  const hashes = invoices.flatMap(({ closed }) => closed?.request.late.map(({ namesHash }) => namesHash) ?? [])
  return { invoices, names: await closedNames(uow, hashes) }
}

function closedOf(row: InvoiceRow, catalogs: KnownCatalogs): ClosedInvoice | null {
  const { inputs, request, positions, customer_keys: customerKeys } = row
  const catalog = catalogs.get(row.catalog_hash ?? '')
  if (!catalog || inputs === null || request === null || positions === null || customerKeys === null) return null
  return {
    ...pinOf({ catalog, inputs, request }),
    invoiceId: row.id,
    positions,
    customerKeys,
    namesHash: row.names_hash,
  }
}
