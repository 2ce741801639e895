// The folder of one aggregator's indexes: its lock, and the name the aggregator goes by as long as the folder lives.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forgetPidFile, identify, isRunning, readPidFile, writePidFile } from '../../shared/process/pid-file.ts'

export type IndexFolder = {
  /** The same after a restart, so that a process that comes back has its partitions back at once. */
  readonly id: string
  /** Partitions that have an index here. */
  indexed(): number[]
  release(): void
}

const LOCK_FILE = 'aggregator.pid.json'
const ID_FILE = 'aggregator.id'
const ID = /^[0-9a-f]{12}$/
const PARTITION = /^partition-([0-9]+)$/

/**
 * Takes the folder for this process, making it if it is missing. Throws when a running process has it: an index has one
 * writer. The lock of a process that is gone, on this machine, counts for nothing.
 */
export function claimIndexFolder(directory: string): IndexFolder {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const lockFile = join(directory, LOCK_FILE)
  const holder = readPidFile(lockFile)
  if (holder && isRunning(holder)) {
    throw new Error(
      `the index folder ${directory} is used by process ${holder.pid}: give each aggregator its own DATA_DIR or AGGREGATOR_NAME`,
    )
  }
  const self = identify(process.pid)
  if (self === null) throw new Error('this process cannot see itself, so it cannot lock its index folder')
  writePidFile(lockFile, self)
  return {
    id: idIn(directory),
    indexed: () =>
      readdirSync(directory)
        .flatMap(name => PARTITION.exec(name)?.[1] ?? [])
        .map(Number),
    release: () => forgetPidFile(lockFile, self),
  }
}

function idIn(directory: string): string {
  const file = join(directory, ID_FILE)
  try {
    const id = readFileSync(file, 'utf8')
    if (ID.test(id)) return id
  } catch {
    // A new folder: it gets a name now.
  }
  const id = randomBytes(6).toString('hex')
  rmSync(file, { force: true })
  writeFileSync(file, id)
  return id
}
