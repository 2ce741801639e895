// Several segments as one sorted stream of records.
import { compareKeys, RECORD_BYTES } from './record.ts'
import type { Segment } from './segment.ts'

type Cursor = {
  readonly pieces: AsyncGenerator<Buffer>
  piece: Buffer
  at: number
}

const OUT_BYTES = 4_096 * RECORD_BYTES

/**
 * All records of the segments by key, each key once: where several have it, the first of them given. Pieces are
 * only valid until the next one is read. Reads as much as it yields, so others run in between.
 */
export async function* mergeSegments(segments: readonly Segment[]): AsyncGenerator<Buffer> {
  const open: Cursor[] = []
  const all: AsyncGenerator<Buffer>[] = []
  try {
    for (const segment of segments) {
      const cursor: Cursor = { pieces: segment.records(), piece: Buffer.alloc(0), at: 0 }
      all.push(cursor.pieces)
      if (await fill(cursor)) open.push(cursor)
    }
    const out = Buffer.alloc(OUT_BYTES)
    const yielded = Buffer.alloc(RECORD_BYTES)
    let used = 0
    let any = false
    for (let first = least(open); first !== undefined; first = least(open)) {
      const [last, lastAt] = used > 0 ? [out, used - RECORD_BYTES] : [yielded, 0]
      if (!any || compareKeys(last, lastAt, first.piece, first.at) !== 0) {
        if (used === OUT_BYTES) {
          out.copy(yielded, 0, used - RECORD_BYTES)
          yield out
          used = 0
        }
        first.piece.copy(out, used, first.at, first.at + RECORD_BYTES)
        used += RECORD_BYTES
        any = true
      }
      first.at += RECORD_BYTES
      if (first.at === first.piece.length && !(await fill(first))) open.splice(open.indexOf(first), 1)
    }
    if (used > 0) yield out.subarray(0, used)
  } finally {
    for (const pieces of all) await pieces.return(undefined)
  }
}

async function fill(cursor: Cursor): Promise<boolean> {
  const { done, value } = await cursor.pieces.next()
  if (done) return false
  cursor.piece = value
  cursor.at = 0
  return true
}

function least(open: readonly Cursor[]): Cursor | undefined {
  let [first] = open
  for (const cursor of open) {
    if (first && compareKeys(cursor.piece, cursor.at, first.piece, first.at) < 0) first = cursor
  }
  return first
}
