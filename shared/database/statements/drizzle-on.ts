// drizzle on a connection, with the columns of a selection written once in a process. Each statement names up to fifty of them, and drizzle
// asks of each again what it is and how it is quoted: that took two thirds of what it costs to write a statement.
import { Column, is, type SQL, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { extended } from '../../extended.ts'

type Selected = { readonly path: readonly string[]; readonly field: unknown }
type Form = { readonly isSingleTable?: boolean }

/** What a select is of: with its fields by name, or in order. */
type Select = {
  readonly fields: Readonly<Record<string, unknown>>
  readonly fieldsFlat?: readonly Selected[]
  readonly table: unknown
  readonly joins?: readonly unknown[]
}

/** What drizzle writes selections with. */
type Dialect = {
  buildSelectQuery(select: Select): SQL
  buildSelection(fields: readonly Selected[], form?: Form): SQL
  sqlToQuery(written: SQL): { readonly sql: string }
}

/** Asks what any connection of the driver does, or what takes its place. */
export function drizzleOn(client: Pick<pg.PoolClient, 'query'>): NodePgDatabase {
  const made = drizzle(client as pg.PoolClient)
  const { dialect } = made as unknown as { readonly dialect: Dialect }
  dialect.buildSelection = selecting(dialect)
  const ownQuery = dialect.buildSelectQuery.bind(dialect)
  dialect.buildSelectQuery = select => {
    const columns = columnsOf(select)
    return ownQuery(
      columns === null ? select : extended(select, { fieldsFlat: [{ path: [], field: sql.raw(columns) }] }),
    )
  }
  return made
}

/** The texts of columns, without the name of the table where a statement reads one table alone. */
const alone = new WeakMap<object, string>()
const withTable = new WeakMap<object, string>()

/** Of a select of columns of one table, all written before; null for any other, whose fields drizzle examines one by one. */
function columnsOf({ fields, fieldsFlat, table, joins }: Select): string | null {
  if (fieldsFlat || joins?.length) return null
  const columns: string[] = []
  for (const field of Object.values(fields)) {
    const text = alone.get(field as object)
    if (text === undefined || (field as Column).table !== table) return null
    columns.push(text)
  }
  return columns.length === 0 ? null : columns.join(', ')
}

/** As drizzle's own, whose text it keeps for each column. What is not a column is left to drizzle. */
function selecting(dialect: Dialect): Dialect['buildSelection'] {
  const own = dialect.buildSelection.bind(dialect)
  return (fields, form = {}) => {
    const texts = form.isSingleTable ? alone : withTable
    const written: SQL[] = []
    let columns: string[] = []
    for (const selected of fields) {
      const { field } = selected
      const text = texts.get(field as object) ?? (is(field, Column) ? write(field, selected) : undefined)
      if (text !== undefined) {
        columns.push(text)
        continue
      }
      if (columns.length > 0) written.push(sql.raw(columns.join(', ')))
      columns = []
      written.push(own([selected], form))
    }
    if (columns.length > 0) written.push(sql.raw(columns.join(', ')))
    return sql.join(written, sql.raw(', '))

    function write(column: Column, selected: Selected): string {
      const text = dialect.sqlToQuery(own([selected], form)).sql
      texts.set(column, text)
      return text
    }
  }
}
