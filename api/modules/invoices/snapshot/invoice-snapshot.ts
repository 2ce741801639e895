// What is kept with a FINAL invoice so that the same document can be made again: its inputs, where it bills no period of
// a subscription, and what refreshes changed of it since.
import { and, asc, eq } from 'drizzle-orm'
import type { TaxDecided } from '../../../../shared/billing/tax/tax.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { decode, encode } from '../../../../shared/json/exact-json.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { CopiedFieldView } from '../schema.ts'
import { invoiceSnapshots as k } from './table.ts'

/** The tax decision by which a refresh split the tax, or the custom fields that it copied. */
export type Refreshed =
  | { readonly part: 'TAX_RATES'; readonly decision: TaxDecided }
  | { readonly part: 'CUSTOM_FIELD'; readonly fields: readonly CopiedFieldView[] }

/** Saves what an invoice was computed from, in the transaction in which it becomes FINAL. */
export const saveInputs = (uow: Uow, invoiceId: Id<'invo'>, inputs: unknown): Promise<void> =>
  saveInputsOfMany(uow, [{ invoiceId, inputs }])

/** The same of many invoices. */
export const saveInputsOfMany = (
  uow: Uow,
  all: readonly { readonly invoiceId: Id<'invo'>; readonly inputs: unknown }[],
): Promise<void> =>
  insertMany(
    uow,
    k,
    all.map(({ invoiceId, inputs }) => ({
      invoice_id: invoiceId,
      position: 0,
      part: 'INPUTS' as const,
      content: encode(inputs),
    })),
  )

/** Saves what a refresh changed of a FINAL invoice, whose row the caller has locked. */
export async function saveRefresh(uow: Uow, invoiceId: Id<'invo'>, refreshed: Refreshed): Promise<void> {
  const before = await partsOf(uow, invoiceId)
  const position = (before.at(-1)?.position ?? 0) + 1
  await insertMany(uow, k, [{ invoice_id: invoiceId, position, part: refreshed.part, content: encode(refreshed) }])
}

/** What was saved with a FINAL invoice. */
export type InvoiceSnapshot = {
  /** Undefined for an invoice of a subscription, and for one that became FINAL before inputs were saved. */
  readonly inputs: unknown
  /** In the order of their time. */
  readonly refreshes: readonly Refreshed[]
}

export async function loadInvoiceSnapshot(uow: ReadUow, invoiceId: Id<'invo'>): Promise<InvoiceSnapshot> {
  const parts = await partsOf(uow, invoiceId)
  const [inputs] = parts.filter(({ part }) => part === 'INPUTS')
  return {
    inputs: inputs && decode(inputs.content),
    // Written by saveRefresh.
    refreshes: parts.filter(({ part }) => part !== 'INPUTS').map(({ content }) => decode(content) as Refreshed),
  }
}

const partsOf = (uow: ReadUow, invoiceId: Id<'invo'>) =>
  uow.tx
    .select()
    .from(k)
    .where(and(inThisTenant(uow, k), eq(k.invoice_id, invoiceId)))
    .orderBy(asc(k.position))
