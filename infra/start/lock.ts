// One start per DATA_DIR: a lock file that names its holder, taken over when that holder has gone.
import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identify, isRunning, readPidFile } from '../../shared/process/pid-file.ts'

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** A link is made whole or not at all, so of two starts at the same moment one wins. */
function tryLink(draft: string, file: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Moves a dead holder's lock away. What was moved is looked at again: it may be the fresh lock of a faster start. */
function moveStaleAway(file: string): void {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  const moved = readPidFile(aside)
  if (moved && isRunning(moved)) tryLink(aside, file)
  rmSync(aside, { force: true })
}

/** Takes the lock of `dataDir` and returns what gives it back. Throws when another start holds it. */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, 'start.lock')
  const self = identify(process.pid)
  if (!self) throw new Error('this process cannot find itself in the process list')
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(self), { mode: 0o600 })
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (tryLink(draft, file)) return () => rmSync(file, { force: true })
      const holder = readPidFile(file)
      if (holder && isRunning(holder))
        throw new Error(
          `Millrace is already running on ${dataDir} (pid ${holder.pid}). Stop it, or set another DATA_DIR and PORT_BASE.`,
        )
      moveStaleAway(file)
    }
    throw new Error(`the lock ${file} cannot be taken; another start keeps taking it`)
  } finally {
    rmSync(draft, { force: true })
  }
}
