// Every query of every plain resource. Rows are wire-shaped; each query carries the tenant besides row-level security.
import { and, eq, getTableName, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../shared/database/database.ts'
import { isSecond, StoredMeanwhileError } from '../../shared/database/driver-errors.ts'
import { anyOf } from '../../shared/database/statements/any-of.ts'
import { insertOnce } from '../../shared/database/statements/insert-once.ts'
import { preparedQuery } from '../../shared/database/statements/prepared.ts'
import { AppError } from '../../shared/errors.ts'
import { looksLikeId, newId } from '../../shared/ids.ts'
import { formatInstant } from '../../shared/time.ts'
import { columnOf, type ListTable } from '../list/list-spec.ts'
import { hasUnique, isAnyUnique, refuseSecond } from './already-there.ts'
import { deleteValues } from './custom-fields/values.ts'
import type { Resource, Row, StoredRow } from './define-resource.ts'
import { isListed } from './is-listed.ts'
import { nounOf, withArticle } from './nouns.ts'
import { inPlaceholders, inThisTenant } from './tenant-condition.ts'

/** Rows as the table of a resource gives them: `defineResource` holds its rows against its table. */
const rowsOf = <R extends StoredRow>(rows: readonly unknown[]): R[] => rows as R[]

type Key = 'reference' | 'code' | 'id'

function keyOf(resource: Resource, idOrReference: string): Key {
  if (looksLikeId(idOrReference)) return 'id'
  if (resource.byReference) return 'reference'
  return resource.byCode ? 'code' : 'id'
}

/** The case of a code does not count. */
const isNamed = (table: ListTable, key: Key, value: string | Placeholder): SQL =>
  key === 'code' ? sql`upper(${columnOf(table, key)}) = upper(${value})` : sql`${columnOf(table, key)} = ${value}`

const matching = (resource: Resource, uow: ReadUow, idOrReference: string): SQL | undefined =>
  and(
    inThisTenant(uow, resource.table),
    isListed(resource.table),
    isNamed(resource.table, keyOf(resource, idOrReference), idOrReference),
  )

type ByKey = (
  tx: ReadUow['tx'],
  values: { readonly platform: string; readonly environment: string; readonly key: string },
) => Promise<unknown[]>
const byKey = new WeakMap<ListTable, Map<string, ByKey>>()

/** The question for one row of a table by its id, its reference or its code. */
function rowByKey(table: ListTable, key: Key): ByKey {
  const ofTable = byKey.get(table) ?? new Map<string, ByKey>()
  byKey.set(table, ofTable)
  const known = ofTable.get(key)
  if (known) return known
  const question = preparedQuery(`${getTableName(table)} by ${key}`, (tx, name) =>
    tx
      .select()
      .from(table)
      .where(and(inPlaceholders(table), isListed(table), isNamed(table, key, sql.placeholder('key'))))
      .prepare(name),
  )
  ofTable.set(key, question)
  return question
}

/** The row with this id, or reference where the resource has them; null when this tenant has none. */
export async function findOne<R extends StoredRow>(
  uow: ReadUow,
  resource: Resource<R>,
  idOrReference: string,
): Promise<R | null> {
  const { platformId: platform, environment } = uow.tenant
  const find = rowByKey(resource.table, keyOf(resource, idOrReference))
  const rows = await find(uow.tx, { platform, environment, key: idOrReference })
  return rowsOf<R>(rows)[0] ?? null
}

/**
 * How a row is locked. `update` also waits for whatever has just named the row, and makes it wait. A row that this transaction has
 * named itself, or that many name at once, takes one of the others: two transactions that both named it would wait for each other.
 */
type LockStrength = 'update' | 'no key update' | 'share'

/** As `findOne`, locked until the transaction ends, so that the state read is the state changed. A dry run locks nothing. */
export async function lockOne<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  idOrReference: string,
  strength: LockStrength = 'update',
): Promise<R | null> {
  if (uow.isDryRun) return await findOne(uow, resource, idOrReference)
  const rows = await uow.tx
    .select()
    .from(resource.table)
    .where(matching(resource, uow, idOrReference))
    .for(strength)
  return rowsOf<R>(rows)[0] ?? null
}

/** The refusal for an id that is not there: the same for a foreign tenant's id as for none (security 7.5). */
export const notFound = (resource: Resource, idOrReference: string, field?: string): AppError =>
  new AppError('RESOURCE_NOT_FOUND', `There is no ${resource.objectType} ${JSON.stringify(idOrReference)}.`, {
    ...(field === undefined ? {} : { field }),
    resourceType: resource.objectType,
  })

/** As `findOne`, or throws RESOURCE_NOT_FOUND. */
export async function getOne<R extends StoredRow>(
  uow: ReadUow,
  resource: Resource<R>,
  idOrReference: string,
): Promise<R> {
  const row = await findOne(uow, resource, idOrReference)
  if (!row) throw notFound(resource, idOrReference)
  return row
}

/** As `lockOne`, or throws RESOURCE_NOT_FOUND. */
export async function lockExisting<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  idOrReference: string,
  strength: LockStrength = 'update',
): Promise<R> {
  const row = await lockOne(uow, resource, idOrReference, strength)
  if (!row) throw notFound(resource, idOrReference)
  return row
}

/** The rows with these ids, in no order; those that do not exist here are absent. */
export async function findMany<R extends StoredRow>(
  uow: ReadUow,
  resource: Resource<R>,
  ids: readonly string[],
): Promise<R[]> {
  if (ids.length === 0) return []
  const { table } = resource
  const rows = await uow.tx
    .select()
    .from(table)
    .where(and(inThisTenant(uow, table), isListed(table), anyOf(table.id, [...new Set(ids)])))
  return rowsOf<R>(rows)
}

/**
 * Checks that each id names a resource of this tenant and keeps it from being deleted until commit.
 * Throws RESOURCE_NOT_FOUND with the field of the first that does not.
 */
export async function requireAll<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  ids: readonly { id: string; field: string }[],
): Promise<R[]> {
  if (ids.length === 0) return []
  const { table } = resource
  const rows = await uow.tx
    .select()
    .from(table)
    .where(and(inThisTenant(uow, table), isListed(table), anyOf(table.id, [...new Set(ids.map(entry => entry.id))])))
    .for('key share')
  const found = rowsOf<R>(rows)
  const known = new Set(found.map(row => row.id))
  const missing = ids.find(entry => !known.has(entry.id))
  if (missing) throw await unknownId(uow, resource, missing)
  return found
}

/** The refusal for an id in a body that is not there. When it is the reference of one that is, it says which id that one has. */
async function unknownId<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  { id, field }: { readonly id: string; readonly field: string },
): Promise<AppError> {
  const meant = resource.byReference && !looksLikeId(id) ? await findOne(uow, resource, id) : null
  if (!meant) return notFound(resource, id, field)
  const message = `${field} takes the id of ${withArticle(nounOf(resource.objectType))}, not its reference: ${JSON.stringify(id)} is ${meant.id}.`
  return new AppError('RESOURCE_NOT_FOUND', message, {
    field,
    resourceId: meant.id,
    resourceType: resource.objectType,
  })
}

/**
 * Inserts a new row with id, tenant and times filled in; returns it as stored. `id`: one that `newId` gave for it before. Throws
 * RESOURCE_ALREADY_EXISTS with the id of the row that has the same reference, or what else only one may have.
 */
export async function insertRow<R extends StoredRow>(
  uow: Uow,
  resource: Pick<Resource<R>, 'table' | 'idPrefix'> & Partial<Pick<Resource<R>, 'objectType'>>,
  values: Row,
  id: string = newId(resource.idPrefix),
): Promise<R> {
  const now = formatInstant(uow.now)
  const whole = {
    ...values,
    id,
    platform_id: uow.tenant.platformId,
    environment: uow.tenant.environment,
    created_at: now,
    updated_at: now,
  }
  // A failed insert ends the transaction, and then nothing says which row is there.
  const unlessThere = await hasUnique(uow, resource.table)
  let rows = await insertOnce(uow, resource.table, whole, { unlessThere })
  if (rows.length === 0) {
    await refuseSecond(uow, resource, whole)
    // The one that was there has gone meanwhile.
    rows = await insertOnce(uow, resource.table, whole)
  }
  const [row] = rowsOf<R>(rows)
  if (!row) throw new Error('an insert returned no row')
  return row
}

/** Saves `values` over the row; returns it as stored. Throws RESOURCE_ALREADY_EXISTS as `insertRow` does. */
export async function updateRow<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  previous: R,
  values: Partial<R>,
): Promise<R> {
  const { table } = resource
  if (await isAnyUnique(uow, table, Object.keys(values))) await refuseSecond(uow, resource, { ...previous, ...values })
  const rows = await uow.tx
    .update(table)
    .set({ ...values, updated_at: formatInstant(uow.now) })
    .where(and(inThisTenant(uow, table), eq(table.id, previous.id)))
    .returning()
    .catch((error: unknown) => {
      // Done again, it finds which one is there.
      throw isSecond(error) ? new StoredMeanwhileError('another call has stored one', { cause: error }) : error
    })
  const [row] = rowsOf<R>(rows)
  if (!row) throw new Error('an update met no row')
  return row
}

export async function deleteRow(uow: Uow, resource: Resource, id: string): Promise<void> {
  const { table } = resource
  if (resource.customFields) await deleteValues(uow, id)
  await uow.tx.delete(table).where(and(inThisTenant(uow, table), eq(table.id, id)))
}
