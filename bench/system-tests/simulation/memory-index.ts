// The first-seen index in memory with the promise the one on disk gives: what was not flushed is gone after a crash, and the
// position that comes back is one up to which every claim came back too.
import type { DiskIndex } from '../../../aggregator/index/first-seen-index.ts'
import { KEY_BYTES, RECORD_BYTES, readRecord } from '../../../aggregator/index/record.ts'
import type { Claim, Position } from '../../../aggregator/outcome.ts'
import type { Life, World } from './world.ts'

/** What lies on a disk under one path. */
export type IndexFile = { readonly claims: ReadonlyMap<string, Claim>; readonly position: Position | null }
/** The disk of one worker; it outlives the process. */
export type Disk = Map<string, IndexFile>

const FLUSH_ONE_IN = 4

export function openMemoryIndex(
  { world, life, disk }: { readonly world: World; readonly life: Life; readonly disk: Disk },
  path: string,
  onCommit: (position: Position) => void,
): DiskIndex {
  const file = disk.get(path)
  let claims = new Map(file?.claims)
  let position = file?.position ?? null
  let closed = false

  /** Writes beside, and puts it in the place of the old when it is whole. */
  async function flush(): Promise<void> {
    const next = { claims: new Map(claims), position }
    await world.pass(life)
    disk.set(path, next)
  }
  const check = () => {
    if (closed) world.fail(new Error(`${life.name} uses the index ${path} after it closed it`))
  }

  return {
    find(idHash) {
      check()
      return claims.get(idHash)
    },
    async claim(list) {
      check()
      for (const claim of list) claims.set(claim.idHash, claim)
      if (world.random.below(FLUSH_ONE_IN) === 0) await flush()
    },
    position: () => position,
    async commitPosition(next) {
      check()
      onCommit(next)
      position = next
      if (world.random.below(FLUSH_ONE_IN) === 0) await flush()
    },
    entries: () => claims.size,
    bytes: () => ({ disk: 0, memory: 0 }),
    async replaceBy(pieces, _keysMax, at) {
      const next = new Map<string, Claim>()
      for await (const piece of pieces) {
        for (let from = 0; from < piece.length; from += RECORD_BYTES) {
          const idHash = piece.toString('hex', from, from + KEY_BYTES)
          next.set(idHash, readRecord(piece, from, idHash))
        }
      }
      claims = next
      position = at
      await flush()
      return claims.size
    },
    async close() {
      await flush()
      closed = true
    },
  }
}
