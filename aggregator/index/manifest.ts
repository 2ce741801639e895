// What an index consists of: the one file that is replaced, so that the index is always one of two whole states.
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Position } from '../outcome.ts'

export type Manifest = {
  /** Every claim of every message up to here is in the segments. */
  readonly position: Position | null
  /** File names, the oldest first. */
  readonly segments: readonly string[]
}

const FILE = 'manifest.json'
const FORMAT = 1
const NOTHING: Manifest = { position: null, segments: [] }

/** The manifest of this folder; an index of nothing when there is none, or one of another build. */
export async function readManifest(directory: string): Promise<Manifest> {
  try {
    const { format, position, segments } = JSON.parse(await readFile(join(directory, FILE), 'utf8'))
    return format === FORMAT ? { position, segments } : NOTHING
  } catch {
    return NOTHING // Missing, or cut off by a crash of the file system: the index is rebuilt.
  }
}

/** Replaces the manifest; on the disk when it resolves. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const file = join(directory, FILE)
  const next = await open(`${file}.next`, 'w')
  try {
    await next.writeFile(JSON.stringify({ format: FORMAT, ...manifest }))
    await next.datasync()
  } finally {
    await next.close()
  }
  await rename(`${file}.next`, file)
  const folder = await open(directory, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
