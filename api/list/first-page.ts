// The first page of a list without filters, in its usual lengths: the question that is asked most. Its rows, how many there are, and the
// custom fields of the rows are read in one message, with statements that each connection prepares once.
import { and, getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../shared/database/database.ts'
import { preparedQuery } from '../../shared/database/statements/prepared.ts'
import type { Transaction } from '../../shared/database/transaction.ts'
import { LIMIT_DEFAULT, LIMIT_MAX } from '../http/pagination.ts'
import { cacheFields, fieldsById, fieldsWhere } from '../resource/custom-fields/values.ts'
import { isListed } from '../resource/is-listed.ts'
import { inPlaceholders } from '../resource/tenant-condition.ts'
import { COUNTED_MAX, orderBy } from './keyset.ts'
import type { ListOrder, ListQuery, ListTable } from './list-spec.ts'
import { type Slice, type Sliced, sliceOf } from './slice.ts'

/** The limit is written into the question, so that its plan is made once; so only these are prepared. */
const LIMITS: readonly number[] = [LIMIT_DEFAULT, LIMIT_MAX]

/** Whether this is a page of a list without filters that is read by `readFirstPage`. */
export const isFirstPage = (slice: Slice): boolean =>
  slice.kind === 'PAGE' && slice.page === 1 && LIMITS.includes(slice.limit)

/** Whether a query names nothing but the first page. */
export const wantsFirstPage = (query: ListQuery): boolean =>
  Object.keys(query).every(name => name === 'limit') && isFirstPage(sliceOf(query))

type Columns = Readonly<Record<string, PgColumn | SQL>>
type Wanted = {
  readonly table: ListTable
  /** Left out: all of the table. */
  readonly columns?: Columns | undefined
  readonly order: ListOrder
  readonly limit: number
  /** Whether the rows may have custom fields, which are then noted of them. */
  readonly withFields: boolean
}

/** Reads it. */
export async function readFirstPage<R extends { readonly id: string }>(uow: ReadUow, of: Wanted): Promise<Sliced<R>> {
  const { platformId: platform, environment } = uow.tenant
  const ask = questionsOf(of)
  const [found, [counted], fieldRows] = await Promise.all([
    ask.rows(uow.tx, { platform, environment }),
    ask.count(uow.tx, { platform, environment }),
    of.withFields ? ask.fields(uow.tx, { platform, environment }) : [],
  ])
  const rows = found as unknown as R[]
  if (of.withFields) {
    const fields = fieldsById(fieldRows)
    for (const row of rows) cacheFields(row, fields.get(row.id) ?? [])
  }
  const total = Number(counted?.total ?? 0)
  return { rows, more: total > of.limit, total }
}

type Questions = ReturnType<typeof makeQuestions>
const made = new WeakMap<object, Map<string, Questions>>()
let names = 0

function questionsOf(of: Wanted): Questions {
  const ofColumns = made.get(of.columns ?? of.table) ?? new Map<string, Questions>()
  made.set(of.columns ?? of.table, ofColumns)
  const key = `${of.order.by} ${of.order.descending} ${of.limit}`
  const known = ofColumns.get(key)
  if (known) return known
  const questions = makeQuestions(of)
  ofColumns.set(key, questions)
  return questions
}

function makeQuestions({ table, columns, order, limit }: Wanted) {
  names += 1
  const name = `page ${names} of ${getTableName(table)}`
  const ofTenant = and(inPlaceholders(table), isListed(table))
  const column = getTableColumns(table)[order.by]
  if (!column) throw new Error(`no column ${order.by}`)
  const ordered = orderBy({ column, id: table.id, descending: order.descending })
  const most = sql.raw(String(Math.max(COUNTED_MAX, limit) + 1))
  const shown = sql.raw(String(limit))
  const ids = sql`in (select ${table.id} from ${table} where ${ofTenant} order by ${sql.join(ordered, sql`, `)} limit ${shown})`
  return {
    rows: preparedQuery(name, (tx: Transaction, named) =>
      tx
        .select(columns ?? getTableColumns(table))
        .from(table)
        .where(ofTenant)
        .orderBy(...ordered.slice(0, -1), sql`${ordered.at(-1)} limit ${shown}`)
        .prepare(named),
    ),
    count: preparedQuery(`count of ${name}`, (tx: Transaction, named) =>
      tx
        .select({ total: sql<string>`count(*)` })
        .from(sql`(select from ${table} where ${ofTenant} limit ${most}) as counted`)
        .prepare(named),
    ),
    fields: preparedQuery(`fields of ${name}`, (tx: Transaction, named) => fieldsWhere(tx, ids).prepare(named)),
  }
}
