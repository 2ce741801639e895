// What each statement costs PostgreSQL, where it counts that (BENCH_STATEMENTS=1, or pg_stat_statements loaded in the server given).
import type pg from 'pg'

type Statement = {
  readonly calls: string
  readonly ms: number
  readonly rows: string
  /** Of its write-ahead log, and how much of that was whole pages. */
  readonly bytes: string
  readonly pages: string
  readonly query: string
}

const SHOWN = 25
const QUERY_SHOWN = 150
/** Of an invoice. */
const SHOWN_MS = 0.005

/** What PostgreSQL did for itself in a table since it counts: milliseconds on the clock, and how often. */
type Housekeeping = {
  readonly relname: string
  readonly vacuum: number
  readonly vacuums: number
  readonly analysis: number
  readonly analyses: number
}
const NONE = { vacuum: 0, vacuums: 0, analysis: 0, analyses: 0 }
let before = new Map<string, Housekeeping>()

async function housekeeping(database: pg.Client): Promise<Housekeeping[]> {
  const { rows } = await database.query<Housekeeping>(
    `select relname, total_autovacuum_time as vacuum, autovacuum_count::int as vacuums, total_autoanalyze_time as analysis,
       autoanalyze_count::int as analyses from pg_stat_user_tables where autovacuum_count + autoanalyze_count > 0`,
  )
  return rows
}

/** Begins counting anew. False where the server counts nothing. */
export async function resetStatements(database: pg.Client): Promise<boolean> {
  const { rows } = await database.query(
    "select current_setting('shared_preload_libraries') like '%pg_stat_statements%' as counts",
  )
  if (rows[0]?.counts !== true) return false
  await database.query('create extension if not exists pg_stat_statements')
  await database.query('select pg_stat_statements_reset()')
  before = new Map((await housekeeping(database)).map(each => [each.relname, each]))
  return true
}

/** Prints the dearest statements since, in milliseconds on the clock an invoice, the wait for locks included. */
export async function printStatements(database: pg.Client, invoices: number): Promise<void> {
  const { rows } = await database.query<Statement>(
    `select calls, total_exec_time + total_plan_time as ms, rows, wal_bytes as bytes, wal_fpi as pages, query from pg_stat_statements
     order by total_exec_time + total_plan_time desc limit $1`,
    [SHOWN],
  )
  const sum = await database.query(
    'select sum(total_exec_time + total_plan_time) as ms, sum(wal_bytes) as bytes, sum(wal_fpi) as pages from pg_stat_statements',
  )
  const logged = ({ bytes, pages }: Pick<Statement, 'bytes' | 'pages'>): string =>
    `${(Number(bytes) / invoices / 1024).toFixed(2)} KiB and ${(Number(pages) / invoices).toFixed(2)} whole pages of log`
  console.log(`  all statements: ${(sum.rows[0]?.ms / invoices).toFixed(3)} ms an invoice, ${logged(sum.rows[0])}`)
  for (const { calls, ms, rows: found, query, ...log } of rows)
    console.log(
      `  ${(ms / invoices).toFixed(3)} ms, ${calls} calls, ${found} rows, ${logged(log)}: ` +
        query.replace(/\s+/g, ' ').slice(0, QUERY_SHOWN),
    )
  for (const now of await housekeeping(database)) {
    const { vacuum, vacuums, analysis, analyses } = before.get(now.relname) ?? NONE
    const [cleaned, analyzed] = [now.vacuum - vacuum, now.analysis - analysis]
    if ((cleaned + analyzed) / invoices >= SHOWN_MS)
      console.log(
        `  ${now.relname}: ${(cleaned / invoices).toFixed(3)} ms cleaned, ${now.vacuums - vacuums} times; ` +
          `${(analyzed / invoices).toFixed(3)} ms analyzed, ${now.analyses - analyses} times`,
      )
  }
}
