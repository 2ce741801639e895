// PostgreSQL as files: a base backup that is taken while the server runs, by the server's own rules (PostgreSQL: "Making a Base Backup
// Using the Low Level API"). It needs no program but the server, which is all that npm brings.
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { PostgresPlace } from '../services/postgres.ts'

/** Folders whose content belongs to the running server; a restored one makes its own. */
const EMPTIED = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
])
const LEFT_OUT = /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map|pgsql_tmp.*)$/
/** Copied last: it says where recovery begins. */
const CONTROL_FILE = join('global', 'pg_control')
const WAL_SEGMENT = /^[0-9A-F]{24}$/

const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Copies a file that the running server may remove meanwhile; the log then knows of it. */
function copyUnlessGone(from: string, to: string): void {
  try {
    copyFileSync(from, to)
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

function copyFolder(from: string, to: string, path = ''): void {
  mkdirSync(join(to, path), { recursive: true, mode: 0o700 })
  if (EMPTIED.has(path)) return
  for (const entry of readdirSync(join(from, path), { withFileTypes: true })) {
    const each = join(path, entry.name)
    if (LEFT_OUT.test(entry.name) || each === CONTROL_FILE) continue
    if (entry.isDirectory()) copyFolder(from, to, each)
    else if (entry.isFile()) copyUnlessGone(join(from, each), join(to, each))
    else throw new Error(`${join(from, each)} is neither a file nor a folder; tablespaces cannot be backed up this way`)
  }
}

type Ended = { readonly labelfile: string }

/**
 * Copies the server behind `url` into `folder`, consistent as of the end of the copy; `url` is the owner's, and the server runs on
 * this machine. Throws when the files cannot be read by this user.
 */
export async function backUpPostgres(url: string, folder: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: places } = await client.query<{ data_directory: string }>('SHOW data_directory')
    const from = places[0]?.data_directory
    // Of this session alone, so a backup that is killed leaves none: until then the server keeps its log since the start.
    const name = `millrace_backup_${process.pid}`
    await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [name])
    const { rows: begun } = await client.query<{ first: string }>(
      'SELECT pg_walfile_name(pg_backup_start($1, fast => true)) AS first',
      [name],
    )
    const first = begun[0]?.first
    if (from === undefined || first === undefined) throw new Error('PostgreSQL does not say where its data is')
    copyFolder(from, folder)
    copyFileSync(join(from, CONTROL_FILE), join(folder, CONTROL_FILE))
    const { rows: ended } = await client.query<Ended>('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)')
    for (const segment of readdirSync(join(from, 'pg_wal')))
      if (WAL_SEGMENT.test(segment) && segment >= first)
        copyUnlessGone(join(from, 'pg_wal', segment), join(folder, 'pg_wal', segment))
    writeFileSync(join(folder, 'backup_label'), ended[0]?.labelfile ?? '', { mode: 0o600 })
  } finally {
    await client.end()
  }
}

/** Gives a copied tree to the user whose server will run on it. */
function giveTo(path: string, user: NonNullable<PostgresPlace['user']>): void {
  chownSync(path, user.uid, user.gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const each = join(path, entry.name)
    if (entry.isDirectory()) giveTo(each, user)
    else chownSync(each, user.uid, user.gid)
  }
}

/** Puts what `backUpPostgres` copied where the next start finds it. The server recovers by itself when it starts. */
export function restorePostgres(folder: string, place: PostgresPlace): void {
  const draft = join(place.folder, 'data.new')
  cpSync(folder, draft, { recursive: true })
  chmodSync(draft, 0o700)
  if (place.user) giveTo(draft, place.user)
  renameSync(draft, join(place.folder, 'data'))
}
