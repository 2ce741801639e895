// Stores and reads what FINAL invoices were priced from.
import { sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { catalogOf, type Pin, type PinnedCatalog, pinOf, textsOf } from './pinned.ts'
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

export type LoadedPin = Omit<Pin, 'invoiceId'> & {
  /** For each partition of the log, the position up to which the invoice counted. */
  readonly positions: readonly number[]
}

/**
 * What these invoices were priced from, and up to where they counted. Without an invoice that is not FINAL, that became FINAL before
 * this was stored, or that belongs to no subscription. Catalogs that are alike are one object.
 */
export async function loadPins(uow: ReadUow, invoiceIds: readonly string[]): Promise<ReadonlyMap<string, LoadedPin>> {
  const { platformId, environment } = uow.tenant
  const own = sql`platform_id = ${platformId} and environment = ${environment}`
  const { rows } = await uow.tx.execute<Stored>(sql`
    select p.invoice_id, p.catalog_hash, p.inputs, p.request, c.positions
    from (select * from pinned_inputs where ${own} and invoice_id = any(${sql.param([...invoiceIds])})) p
    join (select * from closed_usage where ${own} and invoice_id = any(${sql.param([...invoiceIds])})) c on c.invoice_id = p.invoice_id`)
  const catalogs: KnownCatalogs = new Map()
  await loadCatalogs(uow, { hashes: rows.map(({ catalog_hash }) => catalog_hash), into: catalogs })
  return new Map(
    rows.flatMap(({ invoice_id, catalog_hash, positions, ...texts }) => {
      const catalog = catalogs.get(catalog_hash)
      return catalog ? [[invoice_id, { ...pinOf({ ...texts, catalog }), positions }] as const] : []
    }),
  )
}

type Stored = {
  readonly invoice_id: string
  readonly catalog_hash: string
  readonly inputs: string
  readonly request: string
  readonly positions: number[]
}

/** Catalogs of pins, by hash: thousands of invoices were priced from the same one, which is parsed once. */
export type KnownCatalogs = Map<string, PinnedCatalog>

/** Adds those of these hashes that are not known yet. */
export async function loadCatalogs(
  uow: ReadUow,
  { hashes, into }: { readonly hashes: readonly string[]; readonly into: KnownCatalogs },
): Promise<void> {
  const missing = [...new Set(hashes)].filter(hash => !into.has(hash))
  if (missing.length === 0) return
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ hash: string; content: string }>(sql`
    select hash, content from pinned_catalogs
    where platform_id = ${platformId} and environment = ${environment} and hash = any(${sql.param(missing)})`)
  for (const { hash, content } of rows) into.set(hash, catalogOf(content))
}
