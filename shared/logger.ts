// Structured logs: JSON lines through pino. No bodies, tokens or personal data; `error` only when a person must act.
import { type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger

/** A logger that names the process on every line and never prints a value kept under a secret-looking key. */
export function createLogger(process: string, level: string): Logger {
  return pino({
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['*.password', '*.api_key', '*.secret', '*.token', 'headers.authorization', 'headers["x-api-key"]'],
      censor: '***',
    },
  })
}

/** For tests and tools whose own output is what matters. */
export const silentLogger: Logger = pino({ level: 'silent' })
