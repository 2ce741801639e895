// The connections that are open, and the bound on them. Nothing here runs for a request.
import { readFileSync } from 'node:fs'
import type { Logger } from '../../shared/process/logger.ts'
import type { UwsApp } from './load-uws.ts'

export type Connections = {
  /** The most that may be open. */
  readonly max: number
  /** How many are open now. */
  open(): number
  /** How many beyond the bound were closed at once. */
  refused(): number
}

/** Descriptors left for everything else: databases, the broker, files, and the connection that is closed for being one too many. */
const OWN_DESCRIPTORS = 256

/**
 * Holds the connections of `app` within `max`, or within what the process may open when that is less, which is said in the
 * log. A connection beyond it is closed at once; those that are open stay open.
 */
export function boundConnections(app: UwsApp, options: { max: number; logger: Logger }): Connections {
  const limit = openFilesLimit()
  const max = Math.max(1, Math.min(options.max, limit - OWN_DESCRIPTORS))
  if (max < options.max) {
    options.logger.warn(
      { wanted: options.max, max, openFilesLimit: limit },
      'INGEST_CONNECTIONS_MAX is more than this process may open: the bound is lower; raise `ulimit -n`',
    )
  }
  let open = 0
  let refused = 0
  const onChange: Parameters<UwsApp['filter']>[0] = (res, change) => {
    open += change
    if (change < 0 || open <= max) return
    refused += 1
    res.close() // comes back here with -1
  }
  app.filter(onChange)
  return { max, open: () => open, refused: () => refused }
}

/** How many descriptors this process may have; Infinity when there is no limit, or the system does not show it. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
