// Many rows of one table in one statement, given as one JSON text: neither this process nor the server handles each value by itself.
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Uow } from '../../shared/database/database.ts'

type TenantColumns = PgTable & { readonly platform_id: PgColumn; readonly environment: PgColumn }
type ManyRow = Readonly<Record<string, unknown>>

const identifiers = (names: readonly string[], of?: string): SQL =>
  sql.join(
    names.map(name => (of === undefined ? sql.identifier(name) : sql`${sql.raw(of)}.${sql.identifier(name)}`)),
    sql`, `,
  )

/** The rows as records of the table; values are what the wire shows, as the columns of the table take them. */
const records = (table: TenantColumns, rows: readonly ManyRow[]): SQL =>
  sql`jsonb_populate_recordset(null::${table}, ${JSON.stringify(rows)}::jsonb)`

/** The columns of the table that these rows have; the table's defaults hold for none of them. */
const columnsOf = (table: TenantColumns, row: ManyRow): string[] =>
  Object.keys(getTableColumns(table)).filter(name => name in row)

/** Inserts these rows, which all have the same columns, in the tenant of the unit of work. */
export async function insertMany(uow: Uow, table: TenantColumns, rows: readonly ManyRow[]): Promise<void> {
  const { platformId: platform_id, environment } = uow.tenant
  const own = rows.map(row => ({ ...row, platform_id, environment }))
  const [first] = own
  if (!first) return
  const columns = columnsOf(table, first)
  await uow.tx.execute(
    sql`insert into ${table} (${identifiers(columns)}) select ${identifiers(columns)} from ${records(table, own)}`,
  )
}

/** Sets these columns of rows that the tenant has, by id. Throws when one is not there. */
export async function updateMany(
  uow: Uow,
  table: TenantColumns,
  rows: readonly (ManyRow & { readonly id: string })[],
): Promise<void> {
  const alike = new Map<string, { columns: string[]; rows: ManyRow[] }>()
  for (const row of rows) {
    const columns = columnsOf(table, row).filter(name => name !== 'id')
    if (columns.length === 0) continue
    const key = columns.join()
    const group = alike.get(key) ?? { columns, rows: [] }
    group.rows.push(row)
    alike.set(key, group)
  }
  const { platformId, environment } = uow.tenant
  for (const { columns, rows: own } of alike.values()) {
    const set = sql.join(
      columns.map(name => sql`${sql.identifier(name)} = given.${sql.identifier(name)}`),
      sql`, `,
    )
    const { rowCount } = await uow.tx.execute(sql`
      update ${table} as stored set ${set} from ${records(table, own)} as given
      where stored.platform_id = ${platformId} and stored.environment = ${environment} and stored.id = given.id`)
    if (rowCount !== own.length) throw new Error(`${own.length} rows were to be updated, and ${rowCount} are there`)
  }
}
