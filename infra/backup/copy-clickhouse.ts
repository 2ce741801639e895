// ClickHouse by its own BACKUP and RESTORE statements.
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'

/** In the folder that the embedded server may write backups to. */
const FOLDER = 'backups'
/** How far each partition of the log is stored, and how far the table of meters is filled. */
const POSITIONS = ['usage_positions', 'usage_records_by_meter_progress']
const positionsOf = (database: string): string[] => POSITIONS.map(table => `${database}.${table}`)

/**
 * Runs one statement, however long it takes. Throws with the server's answer when it fails.
 */
async function run(url: string, query: string): Promise<void> {
  const { origin, username, password } = new URL(url)
  const { statusCode, body } = await request(origin, {
    method: 'POST',
    headers: { 'x-clickhouse-user': decodeURIComponent(username), 'x-clickhouse-key': decodeURIComponent(password) },
    body: query,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const answer = await body.text()
  if (statusCode !== 200) throw new Error(`ClickHouse refuses "${query}": ${answer.trim()}`)
}

/**
 * The statements of a backup, in their order. A backup is of one moment for each table alone, so the positions come first: what is
 * stored meanwhile is then read from the log once more, and recognised.
 */
export const backupStatements = (database: string, name: string): string[] => [
  `BACKUP TABLE ${positionsOf(database).join(', TABLE ')} TO File('${name}/positions')`,
  `BACKUP DATABASE ${database} EXCEPT TABLES ${positionsOf(database).join(', ')} TO File('${name}/tables')`,
]

/** The statements that bring it back, in their order: tables without positions are filled again from the log, never the reverse. */
export const restoreStatements = (database: string, name: string): string[] => [
  `RESTORE DATABASE ${database} FROM File('${name}/tables')`,
  // All that is there: a backup of an earlier release has fewer tables.
  `RESTORE ALL FROM File('${name}/positions')`,
]

type Server = {
  readonly url: string
  readonly database: string
  /** Of the embedded server, in DATA_DIR. */
  readonly serverFolder: string
}

/** Moves a folder, to another disk too. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
    cpSync(from, to, { recursive: true })
    rmSync(from, { recursive: true })
  }
}

/** Backs up the database into `folder`, while it is written. */
export async function backUpClickHouse({ url, database, serverFolder }: Server, folder: string): Promise<void> {
  const name = `backup-${process.pid}`
  const made = join(serverFolder, FOLDER, name)
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made, { recursive: true, mode: 0o700 })
  for (const statement of backupStatements(database, name)) await run(url, statement)
  move(made, folder)
}

/** Restores what `backUpClickHouse` made into a server that has no such database. */
export async function restoreClickHouse({ url, database, serverFolder }: Server, folder: string): Promise<void> {
  const name = `restore-${process.pid}`
  const given = join(serverFolder, FOLDER, name)
  cpSync(folder, given, { recursive: true })
  try {
    for (const statement of restoreStatements(database, name)) await run(url, statement)
  } finally {
    rmSync(given, { recursive: true })
  }
}
