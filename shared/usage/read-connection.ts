// Questions to ClickHouse over its HTTP interface, without the streams of its client: of a question that is answered in milliseconds
// those are most of the price. Everything else (inserts, statements, errors) is the client's own.
import { parseError, TupleParam } from '@clickhouse/client'
import { errors, Pool } from 'undici'

export type ReadConnection = {
  /** The rows of a query as arrays, in the order of its columns. Throws ClickHouseError when ClickHouse refuses it. */
  select(query: ReadQuery, signal: AbortSignal): Promise<unknown[]>
  /** As select, with how many rows there would be without the LIMIT of the query, which reads all of them to know. */
  selectCounted(query: ReadQuery, signal: AbortSignal): Promise<CountedRows>
  close(): Promise<void>
}
export type ReadQuery = {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, string | number>>
}

export type CountedRows = { readonly rows: unknown[]; readonly total: number }

/**
 * An answer is read whole, so it is never paused: in undici 7 an end of the connection during a pause throws outside of the request
 * (nodejs/undici, issue 5360), and ClickHouse ends one after a number of questions and when it stops.
 */
const UNPAUSED = Number.MAX_SAFE_INTEGER

/** A bound parameter as the interface reads it. Throws TypeError on what no query binds. */
export function paramText(value: unknown, within = false): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  const list = (values: readonly unknown[]): string => values.map(each => paramText(each, true)).join(',')
  if (Array.isArray(value)) return `[${list(value)}]`
  if (value instanceof TupleParam) return `(${list(value.values)})`
  if (typeof value !== 'string') throw new TypeError(`a parameter is a text, a number, a list or a tuple of them`)
  const text = value.replace(/[\\'\t\n\r]/g, character => ESCAPED[character] ?? character)
  return within ? `'${text}'` : text
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** Lines of JSONCompactEachRow: an array each, and no line end within one. */
const rowsOf = (text: string): unknown[] => JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as unknown[]

const COUNTED = { exact_rows_before_limit: 1, output_format_write_statistics: 0 } as const

/** Of JSONCompact, the form that says how many rows there were before the limit. */
function countedOf(text: string): CountedRows {
  const { data, rows_before_limit_at_least: total } = JSON.parse(text) as {
    data: unknown[]
    rows_before_limit_at_least?: number | string
  }
  if (total === undefined) throw new TypeError('a query that is counted has a LIMIT')
  return { rows: data, total: Number(total) }
}

/** A socket that the server closed while the question was on its way; a question may be asked again. */
const wasClosed = (error: unknown): boolean => error instanceof errors.SocketError

/** Opens connections to the server at `url` as they are needed. */
export function openReadConnection(
  url: string,
  database: string,
  options: { readonly connections: number; readonly timeoutMs: number },
): ReadConnection {
  const { origin, pathname, username, password } = new URL(url)
  const { connections, timeoutMs } = options
  const pool = new Pool(origin, { connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const headers = {
    ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
    'content-type': 'text/plain',
    'user-agent': 'millrace',
  }
  const ask = async (format: string, { sql, params, settings }: ReadQuery, signal: AbortSignal): Promise<string> => {
    const address = new URLSearchParams({ database, default_format: format })
    for (const [name, value] of Object.entries(settings)) address.append(name, String(value))
    for (const [name, value] of Object.entries(params)) address.append(`param_${name}`, paramText(value))
    const answer = await pool.request({
      method: 'POST',
      path: `${pathname}?${address}`,
      headers,
      body: sql,
      signal,
      highWaterMark: UNPAUSED,
    })
    const text = await answer.body.text()
    if (answer.statusCode === 200) return text
    if (text === '')
      throw new Error(`ClickHouse, or what is before it, answered ${answer.statusCode} and says nothing of why`)
    throw parseError(text)
  }
  const askTwice = async (format: string, question: ReadQuery, signal: AbortSignal): Promise<string> => {
    try {
      return await ask(format, question, signal).catch(error => {
        if (wasClosed(error) && !signal.aborted) return ask(format, question, signal)
        throw error
      })
    } catch (cause) {
      // By the name that a lost connection has elsewhere.
      if (wasClosed(cause)) throw Object.assign(new Error('the connection was lost', { cause }), { code: 'ECONNRESET' })
      throw cause
    }
  }
  return {
    select: async (question, signal) => rowsOf(await askTwice('JSONCompactEachRow', question, signal)),
    selectCounted: async (question, signal) => {
      const counted = { ...question, settings: { ...question.settings, ...COUNTED } }
      return countedOf(await askTwice('JSONCompact', counted, signal))
    },
    close: () => pool.destroy(),
  }
}
