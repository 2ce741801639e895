// What a request to ClickHouse's HTTP interface asks for, read as the real server reads it.
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ClickHouseError } from './error.ts'

/** The body goes to the engine in one piece, so it is bounded. */
export const BODY_BYTES_MAX = 128 * 1024 * 1024

export type Query = {
  /** The statement, up to the data of an INSERT. */
  readonly sql: string
  /** The data of an INSERT that came in the body while the statement came in the address; empty otherwise. */
  readonly data: Buffer
  readonly database: string | null
  readonly format: string
  readonly settings: ReadonlyMap<string, string>
  /** Bound parameters, still escaped as they came: the engine unescapes them. */
  readonly parameters: ReadonlyMap<string, string>
  readonly queryId: string | null
  readonly readOnly: boolean
  readonly gzipAnswer: boolean
}

/** Understood here or meaningless for a buffered answer; not settings of the engine. */
const OF_THE_INTERFACE = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'quota_key',
  'stacktrace',
  'role',
  'enable_http_compression',
  'wait_end_of_query',
  'buffer_size',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'add_http_cors_header',
  'cancel_http_readonly_queries_on_client_close',
  'client_protocol_version',
])
const REFUSED = new Set(['session_id', 'session_timeout', 'session_check', 'compress', 'decompress'])
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const unzip = promisify(gunzip)

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > BODY_BYTES_MAX)
      throw new ClickHouseError(307, 'TOO_MANY_BYTES', `the body exceeds ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return body
  if (encoding !== 'gzip')
    throw new ClickHouseError(48, 'NOT_IMPLEMENTED', `Content-Encoding ${encoding} is not supported here`)
  try {
    return await unzip(body, { maxOutputLength: BODY_BYTES_MAX })
  } catch (error) {
    throw new ClickHouseError(354, 'ZLIB_INFLATE_FAILED', `the gzip body cannot be read: ${(error as Error).message}`)
  }
}

function split(parameters: URLSearchParams): { settings: Map<string, string>; bound: Map<string, string> } {
  const settings = new Map<string, string>()
  const bound = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (REFUSED.has(name))
      throw new ClickHouseError(48, 'NOT_IMPLEMENTED', `${name} is not supported by the embedded engine`)
    if (OF_THE_INTERFACE.has(name)) continue
    if (!NAME.test(name)) throw new ClickHouseError(115, 'UNKNOWN_SETTING', `Unknown setting ${JSON.stringify(name)}`)
    if (name.startsWith('param_')) bound.set(name.slice('param_'.length), value)
    else settings.set(name, value)
  }
  return { settings, bound }
}

const header = (request: IncomingMessage, name: string): string | null => {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/** Reads the whole request. Throws ClickHouseError for what this server does not do. */
export async function readQuery(request: IncomingMessage, url: URL): Promise<Query> {
  const { settings, bound } = split(url.searchParams)
  const body = await readBody(request)
  const stated = url.searchParams.get('query') ?? ''
  return {
    sql: stated === '' ? body.toString('utf8') : stated,
    data: stated === '' ? Buffer.alloc(0) : body,
    database: url.searchParams.get('database') || header(request, 'x-clickhouse-database'),
    format: url.searchParams.get('default_format') ?? header(request, 'x-clickhouse-format') ?? 'TabSeparated',
    settings,
    parameters: bound,
    queryId: url.searchParams.get('query_id'),
    readOnly: request.method === 'GET',
    gzipAnswer:
      url.searchParams.get('enable_http_compression') === '1' &&
      /\bgzip\b/.test(header(request, 'accept-encoding') ?? ''),
  }
}
