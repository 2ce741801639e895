// The one way to make a ClickHouse client, so that every process reads decimals the same way.
import { Readable } from 'node:stream'
import { ClickHouseError, ClickHouseLogLevel, type ClickHouseClient as Client, createClient } from '@clickhouse/client'
import { errors } from 'undici'
import { createUnlessHung } from '../process/unless-hung.ts'
import { type CountedRows, openReadConnection, type ReadQuery } from './read-connection.ts'

/** The client of one database, and a short way for questions: see `selectRows` and `selectCounted`. */
export type ClickHouseClient = Client & {
  select(question: ReadQuery): Promise<unknown[]>
  selectCounted(question: ReadQuery): Promise<CountedRows>
}

const REQUEST_TIMEOUT_MS = 120_000
const CONNECTIONS_MAX = 8

/** Decimals and 64-bit integers come as JSON strings, never as floats. */
const AS_TEXT = { output_format_json_quote_decimals: 1, output_format_json_quote_64bit_integers: 1 } as const
/**
 * Of every question. Its answer is whole or an error, never cut off in the middle; and it is written by the thread that has it, since
 * most are short.
 */
const READING = { ...AS_TEXT, wait_end_of_query: 1, output_format_parallel_formatting: 0 } as const

async function pingAt(url: string, signal: AbortSignal): Promise<void> {
  const { origin } = new URL(url)
  const answer = await fetch(`${origin}/ping`, { signal })
  await answer.arrayBuffer()
}

/**
 * A client of one database. Decimals and 64-bit integers come as JSON strings, never as floats; inserts are synchronous,
 * so an answer means that the rows are there. A question that takes longer than `statementMs` is given up: see `isTooLong`. A command
 * that is not answered within `commandMs` is.
 */
export function createClickHouse(
  url: string,
  database: string,
  {
    statementMs,
    commandMs = REQUEST_TIMEOUT_MS,
  }: { readonly statementMs?: number | undefined; readonly commandMs?: number } = {},
): ClickHouseClient {
  const bounds = statementMs === undefined ? {} : { max_execution_time: statementMs / 1_000 }
  const client = createClient({
    url,
    database,
    request_timeout: commandMs,
    max_open_connections: CONNECTIONS_MAX,
    application: 'millrace',
    // Every failure reaches the caller, who logs it in the process's own form.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { ...AS_TEXT, async_insert: 0 },
  })
  const connection = openReadConnection(url, database, {
    connections: CONNECTIONS_MAX,
    timeoutMs: REQUEST_TIMEOUT_MS,
  })
  // A server that hangs is noticed long before the request's own limit.
  const guard = createUnlessHung('ClickHouse', signal => pingAt(url, signal))
  const close = client.close.bind(client)
  const asking =
    <T>(ask: (question: ReadQuery, signal: AbortSignal) => Promise<T>) =>
    async (question: ReadQuery): Promise<T> => {
      const abort = new AbortController()
      const answer = ask({ ...question, settings: { ...READING, ...bounds, ...question.settings } }, abort.signal)
      return await guard.answerOf(answer, reason => abort.abort(reason))
    }
  return Object.assign(client, {
    select: asking(connection.select),
    selectCounted: asking(connection.selectCounted),
    close: async () => {
      await Promise.all([connection.close(), close()])
    },
  })
}

/**
 * Whether the statement itself failed: ClickHouse refused it, or did not finish it in time. Another statement may succeed, and so may this
 * one in smaller parts. False when ClickHouse could not be reached.
 */
export const isStatementFault = (error: unknown): boolean =>
  error instanceof ClickHouseError ||
  error instanceof errors.HeadersTimeoutError ||
  (error instanceof Error && error.message === CLIENT_TIMED_OUT)

/** What the client says of a statement that took longer than it may. */
const CLIENT_TIMED_OUT = 'Timeout error.'

/** Whether ClickHouse gave a question up for the time it took. */
export const isTooLong = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '159'

/** Whether ClickHouse did not read because it would have read more rows than the question allows. */
export const isTooManyRows = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '158'

const PING_MS = 2_500

/** Why ClickHouse does not answer, for readiness; null when it does. Takes at most 2.5 s. */
export async function clickHouseFault(client: ClickHouseClient): Promise<string | null> {
  const tooLate = new Promise<null>(resolve => setTimeout(() => resolve(null), PING_MS).unref())
  const answer = await Promise.race([client.ping(), tooLate])
  if (answer?.success) return null
  return `ClickHouse does not answer: ${answer === null ? `nothing within ${PING_MS / 1_000} s` : answer.error.message}`
}

/**
 * Inserts rows given as lines of JSONCompactEachRow text, in the table's column order, without parsing them here.
 * Resolves once ClickHouse has acknowledged them all.
 */
export async function insertLines(client: ClickHouseClient, table: string, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return
  const result = await client.exec({
    query: `INSERT INTO ${table} FORMAT JSONCompactEachRow`,
    values: Readable.from(Buffer.from(lines.join('\n'))),
    clickhouse_settings: {
      // A batch may hold events of any year since 1970; refusing it would stop the partition for good.
      max_partitions_per_insert_block: '0',
      // An unpaired surrogate in a sender's text is kept as written; refusing the batch would stop the partition.
      input_format_json_throw_on_bad_escape_sequence: 0,
    },
  })
  // The connection is free for the next request only when the answer, which is empty, has been read.
  for await (const chunk of result.stream) void chunk
}

/**
 * Rows of a query as arrays in column order. Every value a tenant chose must come in through `params`, or through the one
 * function that makes it digits (api/usage/condition-sql.ts). A server that hangs is an error with the code ETIMEDOUT after 4 s.
 */
export async function selectRows<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown> = {},
  settings: Record<string, string> = {},
): Promise<Row[]> {
  return (await client.select({ sql: query, params, settings })) as Row[]
}

/** As selectRows, with how many rows there would be without the LIMIT that the query ends with; it reads all of them to know. */
export async function selectCounted<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
  settings: Record<string, string>,
): Promise<{ readonly rows: Row[]; readonly total: number }> {
  const { rows, total } = await client.selectCounted({ sql: query, params, settings })
  return { rows: rows as Row[], total }
}
