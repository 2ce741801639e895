// The insert of one row, written once for each table and each choice of columns: a caller gives the same fields again and again.
import { getTableName, is, SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../database.ts'
import { withNamedStatements } from './named-statements.ts'
import { type Question, writtenOnce } from './written-once.ts'

/** Choices of columns that are kept in a process, and in each connection: which fields a body has is up to its sender. */
const KEPT_MAX = 200
const kept = new WeakMap<PgTable, Map<string, Question<unknown>>>()
let count = 0

/**
 * Inserts a row of these values, those of the others being the defaults of the table, and returns it as stored. With `unlessThere` it
 * returns nothing where a unique index has such a row, and the transaction can go on.
 */
export async function insertOnce(
  uow: ReadUow,
  table: PgTable,
  values: Readonly<Record<string, unknown>>,
  { unlessThere = false }: { readonly unlessThere?: boolean } = {},
): Promise<unknown[]> {
  // To read forty columns costs the server more than to insert them.
  const { tx } = withNamedStatements(uow)
  const names = Object.keys(values).filter(name => values[name] !== undefined)
  const ask = names.some(name => is(values[name], SQL)) ? null : askFor(tx, table, { names, unlessThere })
  if (ask) return await ask(tx, values)
  const insert = tx.insert(table).values(values)
  return await (unlessThere ? insert.onConflictDoNothing() : insert).returning()
}

function askFor(
  tx: ReadUow['tx'],
  table: PgTable,
  { names, unlessThere }: { readonly names: readonly string[]; readonly unlessThere: boolean },
): Question<unknown> | null {
  const ofTable = kept.get(table) ?? new Map<string, Question<unknown>>()
  kept.set(table, ofTable)
  const choice = [...names, ...(unlessThere ? ['unless there'] : [])].join(' ')
  const known = ofTable.get(choice)
  if (known) return known
  if (count >= KEPT_MAX) return null
  count += 1
  const places = Object.fromEntries(names.map(name => [name, sql.placeholder(name)]))
  const insert = tx.insert(table).values(places)
  const ask = writtenOnce(
    (unlessThere ? insert.onConflictDoNothing() : insert)
      .returning()
      .prepare(`insert ${count} of ${getTableName(table)}`),
  )
  ofTable.set(choice, ask)
  return ask
}
