// The embedded engine: chDB behind a bounded queue. The only file of the product that knows chDB.
//
// Every request has an engine session to itself while it runs: its current database, settings and bound parameters can then not be seen
// by any other request, and requests run side by side as they do on a server. Questions that are alike use one after the other (sessions.ts).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drainPending, Session, version } from 'chdb'
import { ClickHouseError, fromEngine } from './error.ts'
import { isInsert, type PlainInsert, parsePlainInsert } from './insert.ts'
import type { Query } from './request.ts'
import { createSessions } from './sessions.ts'

/** Statements that run at once; more wait. Two cores gain nothing from more, and each holds memory. */
export const RUNNING_MAX = 4
/** Statements that may wait; beyond it the caller must come back later. */
export const WAITING_MAX = 500
/** Answers are buffered whole, so they are bounded; a query may ask for less. */
const RESULT_BYTES_MAX = 512 * 1024 * 1024

export type Result = {
  readonly bytes: Uint8Array
  readonly rowsRead: number
  readonly bytesRead: number
  readonly rowsWritten: number
  readonly bytesWritten: number
  readonly elapsedMs: number
}

export type Engine = {
  readonly version: string
  run(query: Query): Promise<Result>
  counts(): { running: number; waiting: number }
  close(): Promise<void>
}

// An insert is answered once its part is on the disk, not in the page cache, so a power cut takes back nothing.
// BACKUP and RESTORE reach the folder of backups beside the data, and no other.
const configFor = (backups: string) => `<clickhouse>
  <backups>
    <allowed_path>${backups.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</allowed_path>
  </backups>
  <merge_tree>
    <fsync_after_insert>1</fsync_after_insert>
    <fsync_part_directory>1</fsync_part_directory>
    <min_rows_to_fsync_after_merge>1</min_rows_to_fsync_after_merge>
  </merge_tree>
</clickhouse>
`

const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const quotedName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

/**
 * The statements that give a session what the request's address carries. Settings come in one: each statement has its price. `isSet`: it has
 * the database and the settings already.
 */
function preamble(query: Query, isSet: boolean): string {
  const set = new Map<string, string>()
  if (isSet) {
    for (const [name, value] of query.parameters) set.set(`param_${name}`, literal(value))
    return set.size === 0 ? '' : `SET ${Array.from(set, ([name, value]) => `${name} = ${value}`).join(', ')};\n`
  }
  if (!query.settings.has('max_result_bytes')) set.set('max_result_bytes', String(RESULT_BYTES_MAX))
  for (const [name, value] of query.settings) set.set(name, literal(value))
  for (const [name, value] of query.parameters) set.set(`param_${name}`, literal(value))
  const statements = [`SET ${Array.from(set, ([name, value]) => `${name} = ${value}`).join(', ')}`]
  if (query.database !== null) statements.unshift(`USE ${quotedName(query.database)}`)
  // Last, because it forbids every further SET: as on a server, a GET changes nothing.
  if (query.readOnly) statements.push('SET readonly = 2')
  return `${statements.join(';\n')};\n`
}

async function insertBytes(session: Session, query: Query, insert: PlainInsert): Promise<Omit<Result, 'elapsedMs'>> {
  await session.queryAsync(preamble(query, false))
  const summary = await session.insert({
    table: insert.table,
    format: insert.format,
    values: query.data,
    ...(insert.columns ? { columns: insert.columns } : {}),
  })
  return {
    bytes: new Uint8Array(),
    rowsRead: 0,
    bytesRead: 0,
    rowsWritten: summary.rowsWritten,
    bytesWritten: summary.bytesWritten,
  }
}

async function runStatement(session: Session, query: Query, isSet: boolean): Promise<Omit<Result, 'elapsedMs'>> {
  const insert = query.data.length > 0 ? parsePlainInsert(query.sql) : null
  if (insert) return insertBytes(session, query, insert)
  const data = query.data.length > 0 ? `\n${query.data.toString('utf8')}` : ''
  const result = await session.queryAsync(preamble(query, isSet) + query.sql + data, { format: query.format })
  return {
    bytes: result.bytes(),
    rowsRead: result.rowsRead,
    bytesRead: result.bytesRead,
    rowsWritten: 0,
    bytesWritten: 0,
  }
}

const isBlank = (data: Buffer): boolean => data.every(byte => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))

/** A server takes an INSERT of no rows for done; the engine alone would call it an error. */
const isEmptyInsert = (query: Query): boolean =>
  isInsert(query.sql) && /\sFORMAT\s+\w+\s*;?\s*$/i.test(query.sql) && isBlank(query.data)

/** At most `max` at once, `waitingMax` behind them. */
function createGate(max: number, waitingMax: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    counts: () => ({ running, waiting: waiting.length }),
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (running >= max) {
        if (waiting.length >= waitingMax)
          throw new ClickHouseError(
            202,
            'TOO_MANY_SIMULTANEOUS_QUERIES',
            `Too many simultaneous queries. Maximum: ${max + waitingMax}`,
          )
        await new Promise<void>(resolve => waiting.push(resolve))
      } else running += 1
      try {
        return await work()
      } finally {
        // The place is handed on, not given back, so nobody can slip in between.
        const next = waiting.shift()
        if (next) next()
        else running -= 1
      }
    },
  }
}

/** Opens the engine on `dataDir` (created if missing). One process at a time may hold a data directory. */
export function openEngine(dataDir: string): Engine {
  mkdirSync(dataDir, { recursive: true })
  const configFile = join(dataDir, '..', 'engine.xml')
  writeFileSync(configFile, configFor(join(dataDir, '..', 'backups')))
  const open = () => new Session(dataDir, { connectionArgs: [`--config-file=${configFile}`] })
  // Held open for as long as the process lives: the engine shuts down with its last session.
  const keeper = open()
  const gate = createGate(RUNNING_MAX, WAITING_MAX)
  const sessions = createSessions(open)
  const runNow = async (query: Query): Promise<Result> => {
    const startedAt = performance.now()
    const { session, isSet, release } = sessions.lease(query)
    let isAnswered = false
    try {
      const result = isEmptyInsert(query)
        ? { bytes: new Uint8Array(), rowsRead: 0, bytesRead: 0, rowsWritten: 0, bytesWritten: 0 }
        : await runStatement(session, query, isSet)
      isAnswered = true
      return { ...result, elapsedMs: performance.now() - startedAt }
    } catch (error) {
      throw fromEngine(error)
    } finally {
      release(isAnswered)
    }
  }
  return {
    version: version().libchdb.replaceAll('"', ''),
    run: query => gate.run(() => runNow(query)),
    counts: gate.counts,
    close: async () => {
      await drainPending()
      sessions.close()
      keeper.close()
      await drainPending()
    },
  }
}
