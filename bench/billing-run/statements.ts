// What each statement costs PostgreSQL, where it counts that (BENCH_STATEMENTS=1, or pg_stat_statements loaded in the server given).
import type pg from 'pg'

type Statement = { readonly calls: string; readonly ms: number; readonly rows: string; readonly query: string }

const SHOWN = 25
const QUERY_SHOWN = 150

/** Begins counting anew. False where the server counts nothing. */
export async function resetStatements(database: pg.Client): Promise<boolean> {
  const { rows } = await database.query(
    "select current_setting('shared_preload_libraries') like '%pg_stat_statements%' as counts",
  )
  if (rows[0]?.counts !== true) return false
  await database.query('create extension if not exists pg_stat_statements')
  await database.query('select pg_stat_statements_reset()')
  return true
}

/** Prints the dearest statements since, in milliseconds on the clock an invoice, the wait for locks included. */
export async function printStatements(database: pg.Client, invoices: number): Promise<void> {
  const { rows } = await database.query<Statement>(
    `select calls, total_exec_time + total_plan_time as ms, rows, query from pg_stat_statements
     order by total_exec_time + total_plan_time desc limit $1`,
    [SHOWN],
  )
  const sum = await database.query('select sum(total_exec_time + total_plan_time) as ms from pg_stat_statements')
  console.log(`  all statements: ${(sum.rows[0]?.ms / invoices).toFixed(3)} ms an invoice`)
  for (const { calls, ms, rows: found, query } of rows)
    console.log(
      `  ${(ms / invoices).toFixed(3)} ms, ${calls} calls, ${found} rows: ${query.replace(/\s+/g, ' ').slice(0, QUERY_SHOWN)}`,
    )
}
