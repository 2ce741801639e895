// drizzle on a connection, with the columns of a selection written once in a process. Each statement names up to fifty of them, and drizzle
// asks of each again what it is and how it is quoted: that took two thirds of what it costs to write a statement.
import { Column, is, type SQL, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'

type Selected = { readonly path: readonly string[]; readonly field: unknown }
type Form = { readonly isSingleTable?: boolean }

/** What drizzle writes selections with. */
type Dialect = {
  buildSelection(fields: readonly Selected[], form?: Form): SQL
  sqlToQuery(written: SQL): { readonly sql: string }
}

/** Asks what any connection of the driver does, or what takes its place. */
export function drizzleOn(client: Pick<pg.PoolClient, 'query'>): NodePgDatabase {
  const made = drizzle(client as pg.PoolClient)
  const { dialect } = made as unknown as { readonly dialect: Dialect }
  dialect.buildSelection = selecting(dialect)
  return made
}

/** Columns of one table are written without it. */
const alone = new WeakMap<object, string>()
const withTable = new WeakMap<object, string>()

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
