// A first-seen index as it stands, read by another process than the one that works it: for reconciliation, never to decide.
import { join } from 'node:path'
import type { Claim, Position } from '../outcome.ts'
import { readManifest } from './manifest.ts'
import { mergeSegments } from './merge.ts'
import { KEY_BYTES, RECORD_BYTES, readRecord } from './record.ts'
import { openSegment, type Segment } from './segment.ts'

export type IndexSnapshot = {
  /** Up to where the index is complete; it may hold claims beyond. */
  readonly position: Position
  /** Every claim, sorted by hash, in pieces. */
  claims(): AsyncGenerator<readonly Claim[]>
  close(): Promise<void>
}

/** A merge may remove files between reading which there are and opening them; the next manifest names others. */
const TRIES_MAX = 5

/** Null when nothing was ever committed to it. Throws when it is broken. */
export async function readIndex(directory: string): Promise<IndexSnapshot | null> {
  for (let attempt = 1; ; attempt += 1) {
    const { position, segments: names } = await readManifest(directory)
    if (position === null) return null
    const segments: Segment[] = []
    try {
      for (const name of names) segments.push(await openSegment(join(directory, name)))
      return snapshotOf(position, segments)
    } catch (error) {
      for (const segment of segments) segment.close()
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT') || attempt === TRIES_MAX) throw error
    }
  }
}

const snapshotOf = (position: Position, segments: readonly Segment[]): IndexSnapshot => ({
  position,
  async *claims() {
    for await (const piece of mergeSegments(segments)) yield claimsOf(piece)
  },
  async close() {
    for (const segment of segments) segment.close()
  },
})

const claimsOf = (piece: Buffer): Claim[] =>
  Array.from({ length: piece.length / RECORD_BYTES }, (_, number) => {
    const at = number * RECORD_BYTES
    return readRecord(piece, at, piece.toString('hex', at, at + KEY_BYTES))
  })
