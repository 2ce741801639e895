// The connections that are open, and the bound on them. Nothing here runs for a request. uWebSockets.js since 20.41 tells of
// each connection that comes and goes; for an older one the process's descriptors are counted, and the port is shut while
// there are too many.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { Logger } from '../../shared/logger.ts'
import type { UwsApp } from './load-uws.ts'

export type Connections = {
  /** The most that may be open. */
  readonly max: number
  /** How many are open now. Where descriptors are counted it may be off by a few; NaN where they cannot be. */
  open(): number
  /** How many beyond the bound were closed at once; where connections are not told of, how often the port was shut. */
  refused(): number
  close(): void
}

/** The listening socket. */
export type Port = {
  shut(): void
  /** Listens again. False when somebody else has taken the port; it is tried again. */
  reopen(): boolean
}

/** Descriptors left for everything else: databases, the broker, files, and the connection that is looked at to be closed. */
const OWN_DESCRIPTORS = 256
/** Where descriptors are counted, a part of them is left for what comes between two looks. */
const COUNTED_PART = 0.75
const LOOK_MS = 100

/**
 * Holds the connections of `app` within `max`, or within what the process may open when that is less, which is said in the
 * log. A connection beyond it is closed or refused at once; those that are open go on.
 */
export function boundConnections(app: UwsApp, port: Port, options: { max: number; logger: Logger }): Connections {
  const { logger } = options
  const count = app.filter ? null : descriptorCounter()
  const limit = openFilesLimit()
  const usable = app.filter ? limit - OWN_DESCRIPTORS : Math.floor(limit * COUNTED_PART)
  const max = Math.max(1, Math.min(options.max, usable))
  if (max < options.max) {
    logger.warn(
      { wanted: options.max, max, openFilesLimit: limit },
      'INGEST_CONNECTIONS_MAX is more than this process may open: the bound is lower; raise `ulimit -n`',
    )
  }
  if (app.filter) return boundByFilter(app.filter.bind(app), max)
  if (count) return boundByDescriptors(count, port, { max, logger })
  logger.warn(
    'connections are neither counted nor bounded: this uWebSockets.js does not tell of them, nor does this system',
  )
  return { max, open: () => Number.NaN, refused: () => 0, close: () => undefined }
}

function boundByFilter(filter: NonNullable<UwsApp['filter']>, max: number): Connections {
  let open = 0
  let refused = 0
  filter((res, change) => {
    open += change
    if (change < 0 || open <= max) return
    refused += 1
    res.close() // comes back here with -1
  })
  return { max, open: () => open, refused: () => refused, close: () => undefined }
}

function boundByDescriptors(
  count: () => number,
  port: Port,
  { max, logger }: { max: number; logger: Logger },
): Connections {
  const before = count()
  let refused = 0
  let isShut = false
  let isClosed = false
  const look = (): number => {
    const open = Math.max(0, count() - before)
    if (isClosed) return open
    if (!isShut && open >= max) {
      isShut = true
      refused += 1
      port.shut()
      logger.warn({ open, max }, 'as many connections are open as may be: the port is shut until some are gone')
    } else if (isShut && open < max && port.reopen()) {
      isShut = false
    }
    return open
  }
  const looking = setInterval(look, LOOK_MS)
  return {
    max,
    open: look,
    refused: () => refused,
    close: () => {
      isClosed = true
      clearInterval(looking)
    },
  }
}

const DESCRIPTORS = '/proc/self/fd'
/** Of Node's own handles those with a descriptor that comes and goes; connections of uWebSockets are not among them. */
const NODE_HANDLES = new Set(['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'UDPWrap'])

/** Counts the descriptors that are not of Node's own sockets and pipes. Null where the system does not show them. */
function descriptorCounter(): (() => number) | null {
  const all = (): number => {
    // Since Linux 6.2 the size is the count; before that it is 0, and the names are counted.
    const { size } = statSync(DESCRIPTORS)
    return size > 0 ? size : readdirSync(DESCRIPTORS).length - 1
  }
  try {
    all()
  } catch {
    return null
  }
  return () => all() - process.getActiveResourcesInfo().filter(type => NODE_HANDLES.has(type)).length
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
