// Finds the row that already has a unique value. The error of a unique index does not name that row, and it ends the transaction.
import { getTableName, is, SQL, sql } from 'drizzle-orm'
import type { ReadUow } from '../../shared/database/database.ts'
import { fieldOfConstraint } from '../../shared/database/driver-errors.ts'
import { AppError } from '../../shared/errors.ts'
import type { ListTable } from '../list/list-spec.ts'

/** What each tenant has once: the expressions of a unique index, as SQL that the database wrote, and where it applies. */
type UniqueIndex = {
  readonly name: string
  readonly keys: readonly string[]
  readonly predicate: string | null
}
const indexes = new WeakMap<ListTable, readonly UniqueIndex[]>()

/** The unique indexes of a table whose rows belong to tenants, besides its primary key. They are read once in a process. */
async function uniqueIndexesOf({ tx }: ReadUow, table: ListTable): Promise<readonly UniqueIndex[]> {
  const known = indexes.get(table)
  if (known) return known
  const { rows } = await tx.execute<UniqueIndex>(sql`
    select i.relname as name, pg_get_expr(x.indpred, x.indrelid) as predicate,
      array(select pg_get_indexdef(x.indexrelid, k, true) from generate_series(3, x.indnkeyatts) k) as keys
    from pg_index x join pg_class i on i.oid = x.indexrelid
    where x.indrelid = ${getTableName(table)}::regclass and x.indisunique and not x.indisprimary
      and pg_get_indexdef(x.indexrelid, 1, true) = 'platform_id' and pg_get_indexdef(x.indexrelid, 2, true) = 'environment'
      -- An insert cannot give way to a row where a constraint is checked at the end of the transaction.
      and not exists (select from pg_constraint c where c.conrelid = x.indrelid and c.condeferrable and c.contype in ('u', 'x'))`)
  indexes.set(table, rows)
  return rows
}

/** Whether the table has a unique index for each tenant, besides its primary key. */
export const hasUnique = async (uow: ReadUow, table: ListTable): Promise<boolean> =>
  (await uniqueIndexesOf(uow, table)).length > 0

/** Whether one of these columns is in a unique index, or decides where one applies. */
export async function isAnyUnique(uow: ReadUow, table: ListTable, columns: readonly string[]): Promise<boolean> {
  const said = (await uniqueIndexesOf(uow, table)).flatMap(({ keys, predicate }) => [...keys, predicate ?? ''])
  const words = new Set(said.flatMap(text => text.match(/\w+/g) ?? []))
  return columns.some(column => words.has(column))
}

/** Throws RESOURCE_ALREADY_EXISTS, with the id of the other row, where another row has one of the unique values of `row`. */
export async function refuseSecond(
  uow: ReadUow,
  { table, objectType }: { readonly table: ListTable; readonly objectType?: string },
  row: Readonly<Record<string, unknown>> & { readonly id: string },
): Promise<void> {
  const { platformId, environment } = uow.tenant
  const name = sql.identifier(getTableName(table))
  const values = JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => !is(value, SQL))))
  const given = sql`jsonb_populate_record(null::${name}, ${values}::jsonb)`
  for (const index of await uniqueIndexesOf(uow, table)) {
    const where = index.predicate === null ? sql`true` : sql.raw(index.predicate)
    const same = index.keys.map(key => sql`${sql.raw(key)} = (select ${sql.raw(key)} from ${given} where ${where})`)
    const { rows } = await uow.tx.execute<{ id: string }>(sql`
      select id from ${name} where platform_id = ${platformId} and environment = ${environment} and id <> ${row.id}
        and ${where} and ${sql.join(same, sql` and `)} limit 1`)
    const [there] = rows
    if (!there) continue
    const field = fieldOfConstraint(index.name)
    throw new AppError(
      'RESOURCE_ALREADY_EXISTS',
      `There already is one with this ${field ?? 'value'}; choose another.`,
      {
        ...(field === undefined ? {} : { field }),
        resourceId: there.id,
        ...(objectType === undefined ? {} : { resourceType: objectType }),
      },
    )
  }
}
