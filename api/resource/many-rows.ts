// Many rows of one table in one statement, given as one JSON text: neither this process nor the server handles each value by itself.
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Uow } from '../../shared/database/database.ts'

type TenantColumns = PgTable & { readonly platform_id: PgColumn; readonly environment: PgColumn }
type ManyRow = Readonly<Record<string, unknown>>

const identifiers = (names: readonly string[]): SQL =>
  sql.join(
    names.map(name => sql.identifier(name)),
    sql`, `,
  )

type Given = {
  /** What stands behind `from`: the rows as records of the table, named `given`. */
  readonly from: SQL
  /** The values of these columns. */
  values(columns: readonly string[]): SQL[]
}

/** Values are what the wire shows, as the columns of the table take them; `apart`: a jsonb column that is given by itself. */
function givenOf(table: TenantColumns, rows: readonly ManyRow[], apart?: string): Given {
  const records = (own: readonly ManyRow[]): SQL =>
    sql`jsonb_populate_recordset(null::${table}, ${JSON.stringify(own)}::jsonb)`
  const own = (name: string): SQL => sql`given.${sql.identifier(name)}`
  if (apart === undefined || !rows.every(row => apart in row))
    return { from: sql`${records(rows)} as given`, values: columns => columns.map(own) }
  const small = rows.map(({ [apart]: _apart, ...row }) => row)
  const column = getTableColumns(table)[apart]
  const values = rows.map(
    (row, place) => sql`(${sql.raw(String(place + 1))}, ${column?.mapToDriverValue(row[apart])}::jsonb)`,
  )
  return {
    from: sql`${records(small)} with ordinality as given
      join (values ${sql.join(values, sql`, `)}) as apart (place, value) on apart.place = given.ordinality`,
    values: columns => columns.map(name => (name === apart ? sql.raw('apart.value') : own(name))),
  }
}

/** The columns of the table that these rows have; the table's defaults hold for none of them. */
const columnsOf = (table: TenantColumns, row: ManyRow): string[] =>
  Object.keys(getTableColumns(table)).filter(name => name in row)

/**
 * Inserts these rows, which all have the same columns, in the tenant of the unit of work. `apart`: a jsonb column whose values take many
 * kilobytes each. Those are parsed where they are stored, which takes a fifth less than to parse them with the rows and copy them.
 */
export async function insertMany(
  uow: Uow,
  table: TenantColumns,
  rows: readonly ManyRow[],
  apart?: string,
): Promise<void> {
  const { platformId: platform_id, environment } = uow.tenant
  const own = rows.map(row => ({ ...row, platform_id, environment }))
  const [first] = own
  if (!first) return
  const columns = columnsOf(table, first)
  const { from, values } = givenOf(table, own, apart)
  await uow.tx.execute(
    sql`insert into ${table} (${identifiers(columns)}) select ${sql.join(values(columns), sql`, `)} from ${from}`,
  )
}

/** Sets these columns of rows that the tenant has, by id; `apart` as in `insertMany`. Throws when one is not there. */
export async function updateMany(
  uow: Uow,
  table: TenantColumns,
  rows: readonly (ManyRow & { readonly id: string })[],
  apart?: string,
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
    const { from, values } = givenOf(table, own, apart)
    const set = sql`(${identifiers(columns)}) = row(${sql.join(values(columns), sql`, `)})`
    const { rowCount } = await uow.tx.execute(sql`
      update ${table} as stored set ${set} from ${from}
      where stored.platform_id = ${platformId} and stored.environment = ${environment} and stored.id = given.id`)
    if (rowCount !== own.length) throw new Error(`${own.length} rows were to be updated, and ${rowCount} are there`)
  }
}
