// Structured logs: JSON lines through pino. No bodies, tokens or personal data; `error` only when a person must act.
import { DrizzleQueryError } from 'drizzle-orm'
import { type Logger as PinoLogger, pino } from 'pino'
import { Counter, type Registry } from 'prom-client'
import { batchLines, createLogLines } from './log-lines.ts'

export type Logger = PinoLogger

/** A query that failed names its parameters in its message: hashes of secrets, e-mails. What went wrong is in its cause. */
const serializeError = (error: unknown): unknown =>
  pino.stdSerializers.err((error instanceof DrizzleQueryError && error.cause ? error.cause : error) as Error)

const SEGMENT_CHARACTERS_MAX = 40

/** The address of a request as it may be written down: people and clients put secrets into queries, and into paths. */
export function loggedUrl(url: string): string {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  return LONG_SEGMENT.test(path)
    ? path.replace(/[^/]+/g, segment => (segment.length > SEGMENT_CHARACTERS_MAX ? '…' : segment))
    : path
}
const LONG_SEGMENT = new RegExp(`[^/]{${SEGMENT_CHARACTERS_MAX + 1}}`)

type LoggedRequest = { readonly method: string; readonly url: string; readonly ip?: string }

/** What a line says of a request. */
export const loggedRequest = ({ method, url, ip }: LoggedRequest) => ({
  method,
  url: loggedUrl(url),
  remoteAddress: ip,
})

/** The standard output of this process. */
const lines = createLogLines()
const output = batchLines(lines)

/** Exports how many log lines of this process could not be written. */
export function measureLog(registry: Registry): void {
  new Counter({
    name: 'millrace_log_lines_dropped_total',
    help: 'Log lines that could not be written: the disk is full, or no one reads them.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(lines.dropped())
    },
  })
}

/** A logger that names the process on every line and never prints a value kept under a secret-looking key. */
export function createLogger(process: string, level: string): Logger {
  return pino(
    {
      level,
      base: { process },
      timestamp: () => `,"time":"${timeNow()}"`,
      serializers: {
        err: serializeError,
        req: loggedRequest,
      },
      redact: {
        paths: ['*.password', '*.api_key', '*.secret', '*.token', 'headers.authorization', 'headers["x-api-key"]'],
        censor: '***',
      },
    },
    output,
  )
}

let second = Number.NaN
let written = ''

/** Now, in milliseconds. The seconds are written once for all lines of one. */
function timeNow(): string {
  const now = Date.now()
  const started = Math.floor(now / 1_000)
  if (started !== second) {
    second = started
    written = new Date(started * 1_000).toISOString().slice(0, -4)
  }
  return `${written}${String(now - started * 1_000).padStart(3, '0')}Z`
}

/** For tests and tools whose own output is what matters. */
export const silentLogger: Logger = pino({ level: 'silent' })
