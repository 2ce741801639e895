// Many rows of one table in one statement, given as one JSON text: neither this process nor the server handles each value by itself.
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Uow } from '../../../shared/database/database.ts'
import { extended } from '../../../shared/extended.ts'

type TenantColumns = PgTable & { readonly platform_id: PgColumn; readonly environment: PgColumn }
type ManyRow = Readonly<Record<string, unknown>>

const identifiers = (names: readonly string[]): SQL =>
  sql.join(
    names.map(name => sql.identifier(name)),
    sql`, `,
  )

type Given = {
  /** What stands behind `from`. */
  readonly from: SQL
  /** The values of these columns. */
  values(columns: readonly string[]): SQL[]
}

/**
 * Values are what the wire shows, as the columns of the table take them. What all rows have in common is given once, and the rest under
 * short names: it is parsed for each row. `apart`: a jsonb column that is given by itself.
 */
function givenOf(table: TenantColumns, rows: readonly ManyRow[], columns: readonly string[], apart?: string): Given {
  const types = getTableColumns(table)
  const named = columns.filter(name => name !== apart)
  const different = named.filter(name => rows.some(row => row[name] !== rows[0]?.[name]))
  // Rows that are all the same are as many as they are.
  const [any = 'id'] = named
  const own = rows.length > 1 && different.length === 0 ? [any] : different
  const places = new Map(own.map((name, place) => [name, sql.raw(`given.c${place}`)]))
  const common = Object.fromEntries(named.filter(name => !places.has(name)).map(name => [name, rows[0]?.[name]]))
  const from = [sql`jsonb_populate_record(null::${table}, ${JSON.stringify(common)}::jsonb) as common`]
  if (own.length > 0) {
    const short = own.map((_name, place) => `c${place}`)
    const typed = own.map((name, place) => `c${place} ${types[name]?.getSQLType()}`)
    const records = sql`jsonb_to_recordset(${JSON.stringify(rows.map(row => shortened(row, own)))}::jsonb)`
    from.push(
      sql`rows from (${records} as (${sql.raw(typed.join())})) with ordinality as given (${sql.raw(short.join())}, place)`,
    )
  }
  if (apart !== undefined && columns.includes(apart)) {
    const values = rows.map(
      (row, place) => sql`(${sql.raw(String(place + 1))}, ${types[apart]?.mapToDriverValue(row[apart])}::jsonb)`,
    )
    const both = sql`(values ${sql.join(values, sql`, `)}) as apart (place, value)`
    const before = from.pop() ?? sql``
    from.push(
      own.length === 0 ? sql`${before} cross join ${both}` : sql`${before} join ${both} on apart.place = given.place`,
    )
  }
  const given = (name: string): SQL =>
    name === apart ? sql.raw('apart.value') : (places.get(name) ?? sql`common.${sql.identifier(name)}`)
  return { from: sql.join(from, sql` cross join `), values: names => names.map(given) }
}

/** The values of these columns under the names c0, c1 and so on; null ones are left out. */
function shortened(row: ManyRow, columns: readonly string[]): ManyRow {
  const short: Record<string, unknown> = {}
  for (const [place, name] of columns.entries()) if (row[name] !== null) short[`c${place}`] = row[name]
  return short
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
  const own = rows.map(row => extended(row, { platform_id, environment }))
  const [first] = own
  if (!first) return
  const columns = columnsOf(table, first)
  const { from, values } = givenOf(table, own, columns, apart)
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
    const { from, values } = givenOf(table, own, ['id', ...columns], apart)
    const [id = sql``] = values(['id'])
    const set = sql`(${identifiers(columns)}) = row(${sql.join(values(columns), sql`, `)})`
    const { rowCount } = await uow.tx.execute(sql`
      update ${table} as stored set ${set} from ${from}
      where stored.platform_id = ${platformId} and stored.environment = ${environment} and stored.id = ${id}`)
    if (rowCount !== own.length) throw new Error(`${own.length} rows were to be updated, and ${rowCount} are there`)
  }
}
