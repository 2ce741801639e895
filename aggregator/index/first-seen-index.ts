// One partition's first-seen index on disk: reference hash -> the place that first carried it, and how far the partition is
// stored. A cache of the log: what a crash takes from its end is claimed again, the same, when the messages after its
// position are read again; when all of it is missing it is rebuilt from usage_events.
//
// Claims gather in memory and go to the disk as sorted segments; segments of like size are merged in the background. A claim
// is written about five times in its life, always in sequence, however large the index is (docs/decisions/0006).
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Claim, Position } from '../outcome.ts'
import { readManifest, writeManifest } from './manifest.ts'
import { mergeSegments } from './merge.ts'
import { KEY_BYTES, sortedRecords } from './record.ts'
import { BrokenIndexError, openSegment, type Segment, writeSegment } from './segment.ts'

export type FirstSeenIndex = {
  find(idHash: string): Claim | undefined
  /**
   * Records claims; resolves once every later `find` of this process sees them. A later process sees them too, or finds a
   * position before them and claims them again.
   */
  claim(claims: readonly Claim[]): Promise<void>
  position(): Position | null
  /** Called by consume.ts alone, after everything up to the position is in ClickHouse. */
  commitPosition(position: Position): Promise<void>
  /** How many references the partition has seen. */
  entries(): number
  close(): Promise<void>
}
/** The index as it lies on a disk, for those who look after it. */
export type DiskIndex = FirstSeenIndex & {
  /** Bytes on the disk, and bytes its filters hold in memory. */
  bytes(): { readonly disk: number; readonly memory: number }
  /**
   * Replaces all of it by sorted, distinct records (at most `keysMax`), complete up to `position`. Resolves with their number.
   */
  replaceBy(pieces: AsyncIterable<Buffer> | Iterable<Buffer>, keysMax: number, position: Position): Promise<number>
}
export type IndexOptions = {
  /** Claims kept in memory before they are written; twice as many at most. About 200 bytes each. */
  readonly bufferedMax?: number
  /** Memory of the filters; beyond it the largest segments do without, and each look-up reads a block of them. */
  readonly filterBytesMax?: number
}

const BUFFERED_MAX = 65_536
const FILTER_BYTES_MAX = 256 * 1024 * 1024
/** Segments of like size that are merged into one. */
const MERGED_TOGETHER = 4
/** Claims in a segment of the smallest size. */
const SMALLEST = 4_096
/** Segments at which claiming waits for the merge: the bound on what a look-up searches. */
const SEGMENTS_MAX = 64
/** How much of its work a crash makes a process claim again: seconds between writes of a position that moves. */
const PERSIST_MS = 5_000

/** Opens the index in `directory`, made if missing; broken or of another build it is as good as missing. One process only. */
export async function openFirstSeenIndex(directory: string, options: IndexOptions = {}): Promise<DiskIndex> {
  const { bufferedMax = BUFFERED_MAX, filterBytesMax = FILTER_BYTES_MAX } = options
  await mkdir(directory, { recursive: true })
  const { segments: opened, position: openedAt } = await openSegments(directory)
  const index = createIndex(directory, { bufferedMax, filterBytesMax }, { segments: opened, position: openedAt })
  return index
}

type Stored = { readonly segments: Segment[]; readonly position: Position | null }

async function openSegments(directory: string): Promise<Stored> {
  const manifest = await readManifest(directory)
  const segments: Segment[] = []
  try {
    for (const name of manifest.segments) segments.push(await openSegment(join(directory, name)))
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!missing && !(error instanceof BrokenIndexError)) throw error
    for (const segment of segments) segment.close()
    return { segments: [], position: null }
  }
  // What a crash left half-written, and segments already merged.
  const known = new Set(manifest.segments)
  for (const name of await readdir(directory)) {
    if (name.endsWith('.segment') && !known.has(name)) await rm(join(directory, name))
  }
  return { segments, position: manifest.position }
}

const sizeClass = (count: number): number =>
  Math.max(0, Math.floor(Math.log(Math.max(1, count) / SMALLEST) / Math.log(MERGED_TOGETHER)))

function createIndex(directory: string, options: Required<IndexOptions>, stored: Stored): DiskIndex {
  let segments = stored.segments
  let position = stored.position
  /** The position that is in the manifest; every claim up to it is in the segments. */
  let safe = stored.position
  let buffered = new Map<string, Claim>()
  let written: Map<string, Claim> | null = null
  let flushing: Promise<void> | null = null
  let merging: Promise<void> | null = null
  let failure: unknown = null
  let closing = false
  let persistedMs = performance.now()
  let nextName = 1 + Math.max(0, ...segments.map(({ path }) => Number(/([0-9]+)\.segment$/.exec(path)?.[1] ?? 0)))
  let manifests: Promise<void> = Promise.resolve()
  const key = Buffer.alloc(KEY_BYTES)
  boundFilters()

  const nextPath = (): string => join(directory, `${String(nextName++).padStart(8, '0')}.segment`)
  const nameOf = ({ path }: Segment): string => path.slice(directory.length + 1)
  const check = (): void => {
    if (failure !== null) throw failure
  }

  function boundFilters(): void {
    let total = 0
    for (const segment of segments.toSorted((a, b) => a.count - b.count)) {
      total += segment.filterBytes()
      if (total > options.filterBytesMax) segment.dropFilter()
    }
  }

  /** Makes what `segments` and `safe` say lasting. One at a time; each writes what holds when its turn comes. */
  function saveManifest(): Promise<void> {
    manifests = manifests.then(() => writeManifest(directory, { position: safe, segments: segments.map(nameOf) }))
    return manifests
  }

  async function writeBuffered(): Promise<void> {
    const at = position
    persistedMs = performance.now()
    if (buffered.size > 0) {
      written = buffered
      buffered = new Map()
      const segment = await writeSegment(nextPath(), [sortedRecords(written.values(), written.size)], written.size)
      segments = [...segments, segment]
      written = null
    }
    safe = at
    boundFilters()
    await saveManifest()
    startMerge()
  }

  function startFlush(): Promise<void> {
    flushing ??= writeBuffered()
      .catch(error => {
        failure ??= error
      })
      .finally(() => {
        flushing = null
      })
    return flushing
  }

  function startMerge(): void {
    const due = closing || merging ? [] : nextMerge(segments)
    if (due.length === 0) return
    merging = mergeOnce(due)
      .catch(error => {
        if (!(error instanceof StoppedError)) failure ??= error
      })
      .finally(() => {
        merging = null
        if (failure === null) startMerge()
      })
  }

  async function mergeOnce(due: readonly Segment[]): Promise<void> {
    const keysMax = due.reduce((sum, { count }) => sum + count, 0)
    const merged = await writeSegment(nextPath(), untilClosing(mergeSegments(due)), keysMax)
    const gone = new Set(due)
    // In the place of the oldest of them; what was written meanwhile stays behind it.
    segments = segments.flatMap(segment => (segment === due[0] ? [merged] : gone.has(segment) ? [] : [segment]))
    boundFilters()
    await saveManifest()
    for (const segment of due) await segment.remove()
  }

  async function* untilClosing(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      if (closing) throw new StoppedError()
      yield piece
    }
  }

  async function settle(): Promise<void> {
    while (flushing || merging) await Promise.all([flushing, merging])
    check()
  }

  return {
    find(idHash) {
      const claim = buffered.get(idHash) ?? written?.get(idHash)
      if (claim) return claim
      key.write(idHash, 'hex')
      for (let at = segments.length - 1; at >= 0; at -= 1) {
        const found = segments[at]?.find(key, idHash)
        if (found) return found
      }
      return undefined
    },
    async claim(claims) {
      check()
      for (const claim of claims) buffered.set(claim.idHash, claim)
      if (buffered.size < options.bufferedMax) return
      if (flushing) await flushing
      while (segments.length >= SEGMENTS_MAX && merging) await merging
      check()
      // In the background: what is being written is still found in memory.
      void startFlush()
    },
    position: () => position,
    async commitPosition(next) {
      check()
      position = next
      if (performance.now() - persistedMs >= PERSIST_MS && !flushing) void startFlush()
    },
    entries: () => segments.reduce((sum, { count }) => sum + count, buffered.size + (written?.size ?? 0)),
    bytes: () => ({
      disk: segments.reduce((sum, { fileBytes }) => sum + fileBytes, 0),
      memory: segments.reduce((sum, segment) => sum + segment.filterBytes(), 0),
    }),
    async replaceBy(pieces, keysMax, at) {
      await settle()
      const whole = await writeSegment(nextPath(), pieces, keysMax)
      const before = segments
      segments = [whole]
      buffered = new Map()
      position = at
      safe = at
      boundFilters()
      await saveManifest()
      for (const segment of before) await segment.remove()
      return whole.count
    },
    async close() {
      closing = true
      await Promise.all([flushing, merging])
      try {
        check()
        await startFlush()
        check()
      } finally {
        for (const segment of segments) segment.close()
      }
    },
  }
}

/** The index is being closed; what was merged so far is given up. */
class StoppedError extends Error {}

/** Segments to merge now: the smallest size of which there are enough, the oldest first. */
function nextMerge(segments: readonly Segment[]): readonly Segment[] {
  const classes = new Map<number, Segment[]>()
  for (const segment of segments) {
    const size = sizeClass(segment.count)
    classes.set(size, [...(classes.get(size) ?? []), segment])
  }
  const due = [...classes].filter(([, list]) => list.length >= MERGED_TOGETHER).toSorted(([a], [b]) => a - b)[0]
  return due?.[1] ?? []
}
