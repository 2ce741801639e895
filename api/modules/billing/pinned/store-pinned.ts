// Stores and reads what FINAL invoices were priced from.
import { sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { type Pin, pinOf, textsOf } from './pinned.ts'
import { pinnedInputs } from './table.ts'

/**
 * Stores these pins in the transaction in which their invoices become FINAL; always two statements, whatever their
 * number.
 */
export async function savePins(uow: Uow, pins: readonly Pin[]): Promise<void> {
  if (pins.length === 0) return
  const all = pins.map(pin => ({ invoice_id: pin.invoiceId, ...textsOf(pin) }))
  const { platformId, environment } = uow.tenant
  // In a fixed order, so that two transactions never deadlock.
  const catalogs = [...new Map(all.map(each => [each.catalogHash, each.catalog]))].sort(([a], [b]) => (a < b ? -1 : 1))
  await uow.tx.execute(sql`
    insert into pinned_catalogs (platform_id, environment, hash, content)
    select ${platformId}, ${environment}::environment, hash, content
    from unnest(${sql.param(catalogs.map(([hash]) => hash))}::text[], ${sql.param(catalogs.map(([, text]) => text))}::text[])
      as c(hash, content)
    on conflict do nothing`)
  await insertMany(
    uow,
    pinnedInputs,
    all.map(({ invoice_id, catalogHash, inputs, request }) => ({
      invoice_id,
      catalog_hash: catalogHash,
      inputs,
      request,
      has_receipt: false,
    })),
  )
}

/**
 * What an invoice was priced from; null for an invoice that is not FINAL, that became FINAL before pins were stored, or
 * that belongs to no subscription.
 */
export async function loadPin(uow: ReadUow, invoiceId: string): Promise<Omit<Pin, 'invoiceId'> | null> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ catalog: string; inputs: string; request: string }>(sql`
    select c.content as catalog, p.inputs, p.request from pinned_inputs p
    join pinned_catalogs c on c.platform_id = p.platform_id and c.environment = p.environment and c.hash = p.catalog_hash
    where p.platform_id = ${platformId} and p.environment = ${environment} and p.invoice_id = ${invoiceId}`)
  const [row] = rows
  return row ? pinOf(row) : null
}
