// What the first-seen index costs: claims a second, disk, memory and processor time while references are inserted, and
// look-ups afterwards. `npm run build && node dist/bench/index-size.js [references] [folder] [existing]`; `existing` is how many
// the index holds before, put there as a rebuild does it.
import { randomFillSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFirstSeenIndex } from '../aggregator/index/first-seen-index.ts'
import { RECORD_BYTES } from '../aggregator/index/record.ts'
import type { Claim } from '../aggregator/outcome.ts'

/** As many as one round of one busy partition brings. */
const BATCH = 5_000
const CONTENT_HASH = '0123456789abcdef'
const LOOKUPS = 200_000

type Sample = { readonly atMs: number; readonly cpuUs: number; readonly writtenBytes: number }

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}
/** Of /proc, in bytes; 0 where there is none. */
function procFigure(file: string, pattern: RegExp): number {
  try {
    return Number(pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
const sample = (): Sample => ({
  atMs: performance.now(),
  cpuUs: cpuUs(),
  writtenBytes: procFigure('/proc/self/io', /^write_bytes: (\d+)/m),
})
const print = (text: string): void => void process.stdout.write(`${text}\n`)
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)
const rssBytes = (): number => process.memoryUsage().rss
const peakBytes = (): number => procFigure('/proc/self/status', /^VmHWM:\s+(\d+)/m) * 1024

/** References whose hashes are random, kept every so often so that some can be looked up again. */
function* batches(count: number, kept: string[]): Generator<Claim[]> {
  const bytes = Buffer.alloc(BATCH * 16)
  for (let from = 0; from < count; from += BATCH) {
    randomFillSync(bytes)
    const size = Math.min(BATCH, count - from)
    const claims = Array.from({ length: size }, (_, at): Claim => {
      const idHash = bytes.toString('hex', at * 16, at * 16 + 16)
      return { idHash, contentHash: CONTENT_HASH, seq: 1 + Math.floor(from / BATCH), line: at }
    })
    if (kept.length < LOOKUPS)
      kept.push(...claims.slice(0, Math.max(1, Math.ceil((LOOKUPS * size) / count))).map(claim => claim.idHash))
    yield claims
  }
}

/** Records in order, as ClickHouse would send them: hashes spread evenly, and random but for their order. */
function* sortedPieces(count: number): Generator<Buffer> {
  const step = 2 ** 32 / count
  const piece = Buffer.alloc(BATCH * RECORD_BYTES)
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from)
    randomFillSync(piece)
    for (let at = 0; at < size; at += 1) {
      // A little less than a step of chance, so that no two begin with the same four bytes.
      const chance = (piece.readUInt8(at * RECORD_BYTES) / 256) * 0.9
      piece.writeUInt32BE(Math.floor((from + at + chance) * step), at * RECORD_BYTES)
    }
    yield piece.subarray(0, size * RECORD_BYTES)
  }
}

async function main(): Promise<void> {
  const count = Number(process.argv[2] ?? 1_000_000)
  const existing = Number(process.argv[4] ?? 0)
  const directory = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'millrace-index-size-'))
  const step = Math.max(BATCH, Math.floor(count / 10 / BATCH) * BATCH)
  const kept: string[] = []
  process.on('SIGTERM', () => process.exit(1)).on('SIGINT', () => process.exit(1))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const index = await openFirstSeenIndex(directory)
  print('references  claims/s  cpu us/claim  written B/claim  disk MB  filter MB  RSS MB  peak MB')
  if (existing > 0) await index.replaceBy(sortedPieces(existing), existing, { seq: 1, timeMs: 0, streamCreated: '' })
  const start = sample()
  let before = start
  let done = 0
  const line = (from: Sample, claims: number): string => {
    const now = sample()
    const { disk, memory } = index.bytes()
    const perClaim = (figure: number): string => (figure / claims).toFixed(2)
    return [
      String(existing + done).padStart(10),
      String(Math.round((claims / (now.atMs - from.atMs)) * 1000)).padStart(8),
      perClaim(now.cpuUs - from.cpuUs).padStart(12),
      perClaim(now.writtenBytes - from.writtenBytes).padStart(15),
      megabytes(disk).padStart(7),
      megabytes(memory).padStart(9),
      megabytes(rssBytes()).padStart(6),
      megabytes(peakBytes()).padStart(7),
    ].join('  ')
  }
  for (const claims of batches(count, kept)) {
    // As the aggregator does: every reference is looked up before it is claimed.
    for (const { idHash } of claims) if (index.find(idHash)) throw new Error('a random hash came twice')
    await index.claim(claims)
    done += claims.length
    await index.commitPosition({ seq: done, timeMs: 0, streamCreated: '' })
    if (done % step === 0) {
      print(line(before, step))
      before = sample()
    }
  }
  print(`all of it:\n${line(start, count)}`)
  const lookups = sample()
  for (const idHash of kept) if (!index.find(idHash)) throw new Error('a claim was lost')
  const took = sample()
  const each = (took.cpuUs - lookups.cpuUs) / kept.length
  print(`look-ups of known references: ${each.toFixed(2)} us of processor each (${kept.length} of them)`)
  const closing = performance.now()
  await index.close()
  const reopening = performance.now()
  const again = await openFirstSeenIndex(directory)
  const opened = performance.now()
  print(
    `close ${Math.round(reopening - closing)} ms, open ${Math.round(opened - reopening)} ms, ${again.entries()} entries, ${megabytes(again.bytes().disk)} MB`,
  )
  if (again.entries() !== existing + count) throw new Error(`${again.entries()} entries are not ${existing + count}`)
  await again.close()
}

await main()
