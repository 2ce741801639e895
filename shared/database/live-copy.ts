// A copy of some rows in memory that follows the database: LISTEN/NOTIFY within milliseconds, a poll as the net below it,
// and a refresh on a miss, so that what was made a moment ago is found at once. While PostgreSQL is away the copy stays.
import type { Logger } from '../logger.ts'
import { type Database, listen } from './database.ts'

const POLL_MS = 5_000

export type LiveCopy<T> = {
  /** What is known now; null until the first load. */
  current(): T | null
  /** Loads again, or joins a load that starts after this call; throws when the database does not answer. */
  refresh(): Promise<T>
  close(): Promise<void>
}

/** Keeps `load()`'s answer current. `tables` are those whose changes matter. */
export function createLiveCopy<T>(options: {
  database: Database
  logger: Logger
  tables: readonly string[]
  load: () => Promise<T>
}): LiveCopy<T> {
  let value: T | null = null
  let running: Promise<T> | null = null
  let next: Promise<T> | null = null

  const start = async (): Promise<T> => {
    const loading = options.load()
    running = loading
    try {
      value = await loading
      return value
    } finally {
      if (running === loading) running = null
    }
  }
  // A load under way may have read before the change the caller looks for, so callers wait for the one after it; all who
  // come meanwhile share that one, which bounds the load to two at a time however many miss.
  const refresh = (): Promise<T> => {
    if (!running) return start()
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null
        return start()
      })
    return next
  }
  const refreshQuietly = (): void => {
    refresh().catch(error =>
      options.logger.warn({ err: error, tables: options.tables }, 'the live copy could not be refreshed'),
    )
  }
  const listener = listen(options.database, 'millrace_changes', {
    logger: options.logger,
    onConnect: refreshQuietly,
    onMessage: table => {
      if (options.tables.includes(table)) refreshQuietly()
    },
  })
  const poll = setInterval(refreshQuietly, POLL_MS)
  poll.unref()
  return {
    current: () => value,
    refresh,
    close: async () => {
      clearInterval(poll)
      await listener.close()
      await running?.catch(() => undefined)
    },
  }
}
