// Every query of invoices and their counters. Writes take the tenant's unit of work.
import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import { anyOf } from '../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../shared/errors.ts'
import { type Id, idsOf } from '../../../shared/ids.ts'
import { formatInstant } from '../../../shared/time.ts'
import { customFieldsOf } from '../../resource/custom-fields/values.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { type InvoiceOutline, type InvoiceRow, invoices, type StoredInvoice } from './table.ts'

const one = (uow: ReadUow, id: Id<'invo'>) => and(inThisTenant(uow, invoices), eq(invoices.id, id))

export async function findInvoice(uow: ReadUow, id: Id<'invo'>): Promise<InvoiceRow | null> {
  const [row] = await uow.tx.select().from(invoices).where(one(uow, id))
  return row ? await withCustomFields(uow, row) : null
}

/** The invoice. Throws RESOURCE_NOT_FOUND, with the same error for another tenant's id as for an unknown one. */
export async function getInvoice(uow: ReadUow, id: Id<'invo'>): Promise<InvoiceRow> {
  const row = await findInvoice(uow, id)
  if (row) return row
  throw new AppError('RESOURCE_NOT_FOUND', `There is no INVOICE ${JSON.stringify(id)}.`, { resourceType: 'INVOICE' })
}

async function withCustomFields(uow: ReadUow, row: StoredInvoice): Promise<InvoiceRow> {
  const fields = await customFieldsOf(uow, [row.id])
  return { ...row, custom_fields: fields.get(row.id) ?? [] }
}

/** The row lock queues concurrent finalizers, so the status read next cannot be stale. */
export async function lockInvoice(uow: Uow, id: Id<'invo'>): Promise<InvoiceRow> {
  const [row] = await uow.tx.select().from(invoices).where(one(uow, id)).for('update')
  return row ? await withCustomFields(uow, row) : await getInvoice(uow, id)
}

const { content: _printed, grants: _granted, ...OUTLINE } = getTableColumns(invoices)

/**
 * The invoices of subscriptions that hold their periods, in order. There may be a thousand, so their content is not
 * read.
 */
export async function invoicesOfSubscriptions(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<InvoiceOutline[]> {
  return await uow.tx
    .select(OUTLINE)
    .from(invoices)
    .where(
      and(
        inThisTenant(uow, invoices),
        anyOf(invoices.pricing_plan_subscription_id, idsOf('ppsu', subscriptionIds)),
        eq(invoices.holds_period, true),
      ),
    )
    .orderBy(asc(invoices.cutoff_at), asc(invoices.id))
}

/** Those of these invoices that exist, by id. */
export async function loadInvoices(uow: ReadUow, ids: readonly string[]): Promise<Map<string, InvoiceRow>> {
  if (ids.length === 0) return new Map()
  const rows = await uow.tx
    .select()
    .from(invoices)
    .where(and(inThisTenant(uow, invoices), anyOf(invoices.id, idsOf('invo', ids))))
  const fields = await customFieldsOf(uow, ids)
  return new Map(rows.map(row => [row.id, { ...row, custom_fields: fields.get(row.id) ?? [] }]))
}

export type NewInvoice = Omit<StoredInvoice, 'platform_id' | 'environment' | 'id' | 'created_at' | 'updated_at'>

/** Saves these columns. */
export async function saveInvoice(uow: Uow, id: Id<'invo'>, values: Partial<NewInvoice>): Promise<InvoiceRow> {
  const [row] = await uow.tx
    .update(invoices)
    .set({ ...values, updated_at: formatInstant(uow.now) })
    .where(one(uow, id))
    .returning()
  if (!row) throw new Error('an update met no row')
  return await withCustomFields(uow, row)
}

/**
 * The next `count` values of a counter; `next` computes each from the last. Its row stays locked until the transaction
 * ends, so numbers follow each other without a gap: a transaction that fails returns its numbers.
 */
export async function takeNumbers(
  uow: Uow,
  { counterKey, count }: { readonly counterKey: string; readonly count: number },
  next: (last: bigint | null) => bigint,
): Promise<bigint[]> {
  const { platformId, environment } = uow.tenant
  const from = (last: bigint | null): bigint[] => {
    const values: bigint[] = []
    for (let value = last; values.length < count; ) {
      value = next(value)
      values.push(value)
    }
    return values
  }
  const own = sql`platform_id = ${platformId} and environment = ${environment} and counter_key = ${counterKey}`
  const lockLast = async (): Promise<string | null> => {
    const { rows } = await uow.tx.execute<{ last_number: string }>(
      sql`select last_number from invoice_counters where ${own} for update`,
    )
    return rows[0]?.last_number ?? null
  }
  // The row nearly always exists. An insert would wait for the transaction that is changing it, and the lock after it would wait again.
  let last = await lockLast()
  if (last === null) {
    const first = from(null)
    const inserted = await uow.tx.execute(sql`
      insert into invoice_counters (platform_id, environment, counter_key, last_number)
      values (${platformId}, ${environment}, ${counterKey}, ${String(first.at(-1))}) on conflict do nothing`)
    if (inserted.rowCount === 1) return first
    last = await lockLast()
  }
  if (last === null) throw new Error('a counter is never deleted')
  const values = from(BigInt(last))
  await uow.tx.execute(sql`update invoice_counters set last_number = ${String(values.at(-1))} where ${own}`)
  return values
}
