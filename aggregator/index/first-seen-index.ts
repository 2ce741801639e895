// One partition's first-seen index on disk (LMDB): reference hash -> the place that first carried it, and how far the
// partition is stored. A cache of the log: what a crash takes from its end is claimed again, the same, when the messages
// after its position are read again; when all of it is missing it is rebuilt from usage_events.
import { type Database, open, type RootDatabase } from 'lmdb'
import type { Claim, Position } from '../outcome.ts'

export type FirstSeenIndex = {
  find(idHash: string): Claim | undefined
  /** Records claims; resolves once every later `find`, in this process or the next, sees them. */
  claim(claims: readonly Claim[]): Promise<void>
  position(): Position | null
  /** Called by consume.ts alone, after everything up to the position is in ClickHouse. */
  commitPosition(position: Position): Promise<void>
  /** How many references the partition has seen. */
  entries(): number
  close(): Promise<void>
}

// Value: u64 sequence, u32 line, 8 bytes of content hash, so that "same content?" needs no look-up.
const SEQ_AT = 0
const LINE_AT = 8
const CONTENT_AT = 12
const VALUE_BYTES = 20
const POSITION_KEY = 'position'

const keyOf = (idHash: string): Buffer => Buffer.from(idHash, 'hex')

function encodeClaim({ seq, line, contentHash }: Claim): Buffer {
  const value = Buffer.allocUnsafe(VALUE_BYTES)
  value.writeBigUInt64BE(BigInt(seq), SEQ_AT)
  value.writeUInt32BE(line, LINE_AT)
  value.write(contentHash, CONTENT_AT, 'hex')
  return value
}

const decodeClaim = (idHash: string, value: Buffer): Claim => ({
  idHash,
  seq: Number(value.readBigUInt64BE(SEQ_AT)),
  line: value.readUInt32BE(LINE_AT),
  contentHash: value.toString('hex', CONTENT_AT, VALUE_BYTES),
})

/** Opens the index in `directory`, made if missing. Two processes may hold one index: the log decides, not the lock. */
export function openFirstSeenIndex(directory: string): FirstSeenIndex {
  const root: RootDatabase = open({ path: directory, maxDbs: 2 })
  const claims: Database<Buffer, Buffer> = root.openDB({ name: 'claims', encoding: 'binary', keyEncoding: 'binary' })
  const meta: Database<Position, string> = root.openDB({ name: 'meta', encoding: 'json' })
  return {
    find(idHash) {
      // The buffer is only valid until the next read; it is decoded at once.
      const value = claims.getBinaryFast(keyOf(idHash))
      return value === undefined ? undefined : decodeClaim(idHash, value)
    },
    async claim(list) {
      if (list.length === 0) return
      await claims.batch(() => {
        for (const claim of list) claims.put(keyOf(claim.idHash), encodeClaim(claim))
      })
    },
    position: () => meta.get(POSITION_KEY) ?? null,
    async commitPosition(position) {
      await meta.put(POSITION_KEY, position)
    },
    entries: () => entryCount(claims),
    close: () => root.close(),
  }
}

function entryCount(database: Database<Buffer, Buffer>): number {
  const stats: { entryCount?: number } = database.getStats()
  return stats.entryCount ?? 0
}
