// Whether the disk takes more. What a full disk answers differs by file system and quota, so it is tried.
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** As much as a process needs to start: its pid file, lines of log, a first segment. */
const PROBE = Buffer.alloc(1024 * 1024)
const FULL = new Set(['ENOSPC', 'EDQUOT'])

/** Whether a file of a mebibyte can be written under `dataDir`. A fault that is not about room counts as room. */
export function hasRoom(dataDir: string): boolean {
  const file = join(dataDir, 'run', `room.${process.pid}`)
  try {
    mkdirSync(join(dataDir, 'run'), { recursive: true })
    const handle = openSync(file, 'w', 0o600)
    try {
      for (let at = 0; at < PROBE.length; ) at += writeSync(handle, PROBE, at)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && FULL.has(String(error.code)))
  } finally {
    rmSync(file, { force: true })
  }
}
