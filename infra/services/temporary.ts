// Folders for data that need not last: tests and benchmarks.
import { accessSync, chmodSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A new folder in `parent`, which is the system's temporary folder unless given. Others may pass through it but not list it:
 * started by root, PostgreSQL runs as another user and has to reach its own folder inside.
 */
export function temporaryFolder(prefix: string, parent: string = tmpdir()): string {
  const folder = mkdtempSync(join(parent, prefix))
  chmodSync(folder, 0o711)
  return folder
}

const MEMORY = '/dev/shm'

/**
 * Where the servers that all tests share keep their data: in memory where `bytes` of it are free and as many again remain for the
 * processes, else in the system's temporary folder. Each database of a test is a thousand files; on a disk, to make and remove
 * them is most of what it costs.
 */
export function quickParent(bytes: number): string {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    // In a container the limit of the container counts, and what lies in memory counts against it.
    const free = Math.min(freemem(), process.availableMemory())
    return bavail * bsize >= bytes && free >= 2 * bytes ? MEMORY : tmpdir()
  } catch {
    // Not every system has one.
    return tmpdir()
  }
}
