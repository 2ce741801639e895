// The HTTP face: /ping, and statements on /, as `@clickhouse/client` and curl speak to a ClickHouse server.
import { hash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Logger } from '../../shared/process/logger.ts'
import type { Engine, Result } from './engine.ts'
import { ClickHouseError, fromEngine } from './error.ts'
import { type Query, readQuery } from './request.ts'

const USER = 'default'
const zip = promisify(gzip)

/** As long as an address may be at a server (http_max_uri_size), since it holds the bound parameters. */
const HEADERS_BYTES_MAX = 1_048_576 + 16_384

type Deps = { readonly engine: Engine; readonly password: string; readonly log: Logger }

function credentials(request: IncomingMessage, url: URL): { user: string; password: string } {
  const [scheme, encoded] = (request.headers.authorization ?? '').split(' ')
  if (scheme?.toLowerCase() === 'basic' && encoded) {
    const text = Buffer.from(encoded, 'base64').toString('utf8')
    const colon = text.indexOf(':')
    return { user: text.slice(0, colon), password: text.slice(colon + 1) }
  }
  const named = (header: string, parameter: string, fallback: string) =>
    String(request.headers[header] ?? url.searchParams.get(parameter) ?? fallback)
  return { user: named('x-clickhouse-user', 'user', USER), password: named('x-clickhouse-key', 'password', '') }
}

// The engine reads any file its user may read, so not even a local stranger may send it a statement.
function authenticate(request: IncomingMessage, url: URL, expected: string): void {
  const { user, password } = credentials(request, url)
  const digest = (text: string) => hash('sha256', text, 'buffer')
  if (user !== USER || !timingSafeEqual(digest(password), digest(expected)))
    throw new ClickHouseError(
      516,
      'AUTHENTICATION_FAILED',
      `${USER}: Authentication failed: password is incorrect, or there is no user with such name`,
    )
}

const CONTENT_TYPES = [
  [/EachRow/i, 'application/x-ndjson; charset=UTF-8'],
  [/^JSON/i, 'application/json; charset=UTF-8'],
  [/^CSV/i, 'text/csv; charset=UTF-8'],
  [/^(TSV|TabSeparated)/i, 'text/tab-separated-values; charset=UTF-8'],
] as const

function contentType(query: Query): { format: string; type: string } {
  const format = /\sFORMAT\s+([A-Za-z0-9]+)\s*(?:;\s*|SETTINGS\s[^)]*)?$/i.exec(query.sql)?.[1] ?? query.format
  const type = CONTENT_TYPES.find(([pattern]) => pattern.test(format))?.[1] ?? 'application/octet-stream'
  return { format, type }
}

const summary = (result: Result): string =>
  JSON.stringify({
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
    written_rows: String(result.rowsWritten),
    written_bytes: String(result.bytesWritten),
    total_rows_to_read: '0',
    result_rows: String(result.rowsRead),
    result_bytes: String(result.bytes.length),
    elapsed_ns: String(Math.round(result.elapsedMs * 1e6)),
  })

async function answerQuery(deps: Deps, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  authenticate(request, url, deps.password)
  const query = await readQuery(request, url)
  if (query.sql.trim() === '') return end(response, 200, 'Ok.\n')
  const result = await deps.engine.run(query)
  const { format, type } = contentType(query)
  const body = query.gzipAnswer && result.bytes.length > 0 ? await zip(result.bytes) : result.bytes
  response.writeHead(200, {
    'content-type': type,
    'content-length': body.length,
    'x-clickhouse-query-id': query.queryId ?? randomUUID(),
    'x-clickhouse-format': format,
    'x-clickhouse-summary': summary(result),
    ...(body === result.bytes ? {} : { 'content-encoding': 'gzip' }),
  })
  response.end(body)
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=UTF-8' }).end(text)
}

function answerError(deps: Deps, response: ServerResponse, cause: unknown): void {
  const error = fromEngine(cause)
  // The code alone: the text of an error may quote a tenant's data.
  deps.log.debug({ code: error.code, status: error.status }, 'statement refused')
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(error.status, {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-exception-code': String(error.code),
    // The body may not have been read to its end, so the connection cannot carry another request.
    ...(error.code === 307 || error.code === 516 ? { connection: 'close' } : {}),
  })
  response.end(`${error.text} (version ${deps.engine.version} (embedded))\n`)
}

/** The server, not yet listening. */
export function createClickHouseServer(deps: Deps): Server {
  return createServer({ maxHeaderSize: HEADERS_BYTES_MAX }, (request, response) => {
    response.setHeader('x-clickhouse-server-display-name', 'millrace-embedded')
    response.setHeader('x-clickhouse-timezone', 'UTC')
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname === '/ping') return end(response, 200, 'Ok.\n')
    if (url.pathname !== '/') return end(response, 404, `There is no handle ${url.pathname}\n`)
    if (request.method !== 'POST' && request.method !== 'GET') return end(response, 501, 'GET or POST\n')
    answerQuery(deps, request, response, url).catch(error => answerError(deps, response, error))
  })
}
