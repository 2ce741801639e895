// Every query of every plain resource. Rows are wire-shaped; each query carries the tenant besides row-level security.
import { and, asc, count, desc, eq, gte, ilike, inArray, like, lt, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow, Uow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { looksLikeId, newId } from '../../shared/ids.ts'
import { formatInstant } from '../../shared/time.ts'
import type { Resource, Row, TenantTable } from './define-resource.ts'
import { inThisTenant } from './tenant-condition.ts'

/** A column of `table` by its wire name. Throws on a name the table does not have: a programming error. */
export function columnOf(table: TenantTable, name: string): PgColumn {
  const column = (table as unknown as Record<string, PgColumn | undefined>)[name]
  if (!column) throw new Error(`no column ${name}`)
  return column
}

const matching = (resource: Resource, uow: ReadUow, idOrReference: string): SQL | undefined => {
  const key = resource.byReference && !looksLikeId(idOrReference) ? 'reference' : 'id'
  return and(inThisTenant(uow, resource.table), eq(columnOf(resource.table, key), idOrReference))
}

/** The row with this id, or reference where the resource has them; null when this tenant has none. */
export async function findOne(uow: ReadUow, resource: Resource, idOrReference: string): Promise<Row | null> {
  const [row] = await uow.tx
    .select()
    .from(resource.table)
    .where(matching(resource, uow, idOrReference))
  return row ?? null
}

/** As `findOne`, locked until the transaction ends, so that the state read is the state changed. */
export async function lockOne(uow: Uow, resource: Resource, idOrReference: string): Promise<Row | null> {
  const [row] = await uow.tx
    .select()
    .from(resource.table)
    .where(matching(resource, uow, idOrReference))
    .for('update')
  return row ?? null
}

/** The refusal for an id that is not there: the same for a foreign tenant's id as for none (security 7.5). */
export const notFound = (resource: Resource, idOrReference: string, field?: string): AppError =>
  new AppError('RESOURCE_NOT_FOUND', `There is no ${resource.objectType} ${JSON.stringify(idOrReference)}.`, {
    ...(field === undefined ? {} : { field }),
    resourceType: resource.objectType,
  })

/** As `findOne`, or throws RESOURCE_NOT_FOUND. */
export async function getOne(uow: ReadUow, resource: Resource, idOrReference: string): Promise<Row> {
  const row = await findOne(uow, resource, idOrReference)
  if (!row) throw notFound(resource, idOrReference)
  return row
}

/** The rows with these ids, in no order; those that do not exist here are absent. */
export async function findMany(uow: ReadUow, resource: Resource, ids: readonly string[]): Promise<Row[]> {
  if (ids.length === 0) return []
  const { table } = resource
  return await uow.tx
    .select()
    .from(table)
    .where(and(inThisTenant(uow, table), inArray(table.id, [...new Set(ids)])))
}

/**
 * Checks that each id names a resource of this tenant and keeps it from being deleted until commit.
 * Throws RESOURCE_NOT_FOUND with the field of the first that does not.
 */
export async function requireAll(
  uow: Uow,
  resource: Resource,
  ids: readonly { id: string; field: string }[],
): Promise<Row[]> {
  if (ids.length === 0) return []
  const { table } = resource
  const rows = await uow.tx
    .select()
    .from(table)
    .where(and(inThisTenant(uow, table), inArray(table.id, [...new Set(ids.map(entry => entry.id))])))
    .for('key share')
  const found = new Set(rows.map(row => row.id))
  const missing = ids.find(entry => !found.has(entry.id))
  if (missing) throw notFound(resource, missing.id, missing.field)
  return rows
}

/** Inserts a new row with id, tenant and times filled in; returns it as stored. */
export async function insertRow(uow: Uow, resource: Pick<Resource, 'table' | 'idPrefix'>, values: Row): Promise<Row> {
  const now = formatInstant(uow.now)
  const [row] = await uow.tx
    .insert(resource.table)
    .values({
      ...values,
      id: newId(resource.idPrefix),
      platform_id: uow.tenant.platformId,
      environment: uow.tenant.environment,
      created_at: now,
      updated_at: now,
    })
    .returning()
  if (!row) throw new Error('an insert returned no row')
  return row
}

/** Saves `values` over the row with this id; returns it as stored. */
export async function updateRow(uow: Uow, resource: Resource, id: string, values: Row): Promise<Row> {
  const { table } = resource
  const [row] = await uow.tx
    .update(table)
    .set({ ...values, updated_at: formatInstant(uow.now) })
    .where(and(inThisTenant(uow, table), eq(table.id, id)))
    .returning()
  if (!row) throw new Error('an update met no row')
  return row as Row
}

export async function deleteRow(uow: Uow, resource: Resource, id: string): Promise<void> {
  const { table } = resource
  await uow.tx.delete(table).where(and(inThisTenant(uow, table), eq(table.id, id)))
}

export type ListQuery = {
  readonly conditions: readonly SQL[]
  readonly orderBy: string
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
}

/** One page and the number of all rows that match. Ties are broken by id, so pages never repeat or miss a row. */
export async function listRows(
  uow: ReadUow,
  resource: Resource,
  query: ListQuery,
): Promise<{ rows: Row[]; total: number }> {
  const { table } = resource
  const where = and(inThisTenant(uow, table), ...query.conditions)
  const direction = query.descending ? desc : asc
  const rows = await uow.tx
    .select()
    .from(table)
    .where(where)
    .orderBy(direction(columnOf(table, query.orderBy)), direction(table.id))
    .limit(query.limit)
    .offset(query.offset)
  const [counted] = await uow.tx.select({ total: count() }).from(table).where(where)
  return { rows, total: counted?.total ?? 0 }
}

export const isEqual = (resource: Resource, column: string, value: string): SQL =>
  eq(columnOf(resource.table, column), value)
export const isOneOf = (resource: Resource, column: string, values: readonly string[]): SQL =>
  inArray(columnOf(resource.table, column), [...values])
/** `[from, before)` on a time column; either end may be open. */
export function isWithin(resource: Resource, column: string, from: string | null, before: string | null): SQL[] {
  const target = columnOf(resource.table, column)
  return [...(from === null ? [] : [gte(target, from)]), ...(before === null ? [] : [lt(target, before)])]
}
/** SQL LIKE with the value's own wildcards escaped. */
export function isLike(
  resource: Resource,
  column: string,
  search: { value: string; start: boolean; end: boolean; ignoreCase: boolean },
): SQL {
  const escaped = search.value.replace(/[\\%_]/g, '\\$&')
  const pattern = `${search.start ? '%' : ''}${escaped}${search.end ? '%' : ''}`
  return (search.ignoreCase ? ilike : like)(columnOf(resource.table, column), pattern)
}
