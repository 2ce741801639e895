// A segment: records sorted by key in one file that never changes, its filter, and where each block begins. A block is 4 KB
// of 128 records; its checksum is compared whenever it is read, so a disk that rots is noticed and never counted by.
import { closeSync, openSync, read, readSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import type { Claim } from '../outcome.ts'
import { emptyFilter, type Filter, filterOf } from './filter.ts'
import { compareKeys, RECORD_BYTES, readRecord } from './record.ts'

export type Segment = {
  readonly path: string
  readonly count: number
  readonly fileBytes: number
  /** What its filter holds in memory; 0 once it was dropped. */
  filterBytes(): number
  /** Gives the filter's memory back: every look-up then reads a block. */
  dropFilter(): void
  /** `key` is the hash as bytes. Throws when the file is broken. */
  find(key: Buffer, idHash: string): Claim | undefined
  /** All records in order, in pieces that are only valid until the next one is read. Throws when the file is broken. */
  records(): AsyncGenerator<Buffer>
  close(): void
  /** Closes it and removes its file. */
  remove(): Promise<void>
}

const BLOCK_BYTES = 4_096
const PIECE_BYTES = 32 * BLOCK_BYTES
const TRAILER_BYTES = 20
const readAt = promisify(read)
const MAGIC = 0x4d494c31

type Footer = {
  readonly count: number
  readonly fences: Uint32Array
  readonly sums: Uint32Array
  filter: Filter | null
}

export class BrokenIndexError extends Error {}

/**
 * Writes a segment of sorted, distinct records; `keysMax` is the most there may be. Throws BrokenIndexError when they are
 * not sorted. The file is on the disk when it resolves.
 */
export async function writeSegment(
  path: string,
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  keysMax: number,
): Promise<Segment> {
  const file = await open(path, 'w')
  try {
    const footer = await writeRecords(file, pieces, keysMax)
    const fileBytes = await writeFooter(file, footer)
    await file.datasync()
    return segmentOf(path, footer, fileBytes)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function writeRecords(
  file: FileHandle,
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  keysMax: number,
): Promise<Footer> {
  const filter = filterOf(emptyFilter(keysMax))
  const fences: number[] = []
  const sums: number[] = []
  let count = 0
  // Blocks begin at fixed places of the file, so what does not fill one waits for the next piece.
  let rest = Buffer.alloc(0)
  const last = Buffer.alloc(RECORD_BYTES)
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += RECORD_BYTES) {
      const before = at === 0 ? last : piece
      const beforeAt = at === 0 ? 0 : at - RECORD_BYTES
      if (count > 0 && compareKeys(before, beforeAt, piece, at) >= 0)
        throw new BrokenIndexError('records are not sorted')
      filter.add(piece, at)
      count += 1
    }
    if (piece.length > 0) piece.copy(last, 0, piece.length - RECORD_BYTES)
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const whole = bytes.length - (bytes.length % BLOCK_BYTES)
    await writeBlocks(bytes.subarray(0, whole))
    rest = Buffer.from(bytes.subarray(whole))
  }
  await writeBlocks(rest)
  return { count, fences: Uint32Array.from(fences), sums: Uint32Array.from(sums), filter }

  async function writeBlocks(blocks: Buffer): Promise<void> {
    for (let at = 0; at < blocks.length; at += BLOCK_BYTES) {
      fences.push(blocks.readUInt32BE(at))
      sums.push(crc32(blocks.subarray(at, at + BLOCK_BYTES)))
    }
    if (blocks.length > 0) await file.writeFile(blocks)
  }
}

async function writeFooter(file: FileHandle, { count, fences, sums, filter }: Footer): Promise<number> {
  const words = filter?.words ?? new Uint32Array()
  const parts = [bytesOf(fences), bytesOf(sums), bytesOf(words)]
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.writeUInt32LE(MAGIC, 0)
  trailer.writeDoubleLE(count, 4)
  trailer.writeUInt32LE(words.length, 12)
  trailer.writeUInt32LE(sumOf([...parts, trailer.subarray(0, 16)]), 16)
  // One by one: a filter may be large, and a copy of it would be as large.
  for (const part of [...parts, trailer]) await file.writeFile(part)
  return [...parts, trailer].reduce((sum, part) => sum + part.length, count * RECORD_BYTES)
}

const sumOf = (parts: readonly Buffer[]): number => parts.reduce((sum, part) => crc32(part, sum), 0)
const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

/** Opens a segment that was written before. Throws BrokenIndexError when it is not whole. */
export async function openSegment(path: string): Promise<Segment> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const trailer = Buffer.alloc(TRAILER_BYTES)
    await file.read(trailer, 0, TRAILER_BYTES, Math.max(0, size - TRAILER_BYTES))
    const count = trailer.readDoubleLE(4)
    const blocks = Math.ceil((count * RECORD_BYTES) / BLOCK_BYTES)
    const words = trailer.readUInt32LE(12)
    const footerBytes = (2 * blocks + words) * 4
    const whole = trailer.readUInt32LE(0) === MAGIC && size === count * RECORD_BYTES + footerBytes + TRAILER_BYTES
    if (!whole) throw new BrokenIndexError(`${path} is not whole`)
    const [fences, sums, filter] = [new Uint32Array(blocks), new Uint32Array(blocks), new Uint32Array(words)]
    const parts = [bytesOf(fences), bytesOf(sums), bytesOf(filter)]
    let at = count * RECORD_BYTES
    for (const part of parts) {
      await readFully(file, part, at)
      at += part.length
    }
    if (trailer.readUInt32LE(16) !== sumOf([...parts, trailer.subarray(0, 16)])) {
      throw new BrokenIndexError(`${path} has a wrong checksum`)
    }
    return segmentOf(path, { count, fences, sums, filter: filterOf(filter) }, size)
  } finally {
    await file.close()
  }
}

async function readFully(file: FileHandle, into: Buffer, from: number): Promise<void> {
  for (let at = 0; at < into.length; ) {
    const { bytesRead } = await file.read(into, at, into.length - at, from + at)
    if (bytesRead === 0) throw new BrokenIndexError('a segment ends too early')
    at += bytesRead
  }
}

function segmentOf(path: string, footer: Footer, fileBytes: number): Segment {
  const { count, fences, sums } = footer
  const fd = openSync(path, 'r')
  const block = Buffer.alloc(BLOCK_BYTES)
  const dataBytes = count * RECORD_BYTES
  const brokenAt = (at: number) =>
    new BrokenIndexError(`${path} is broken at byte ${at}; remove it and the index is rebuilt`)
  const readBlock = (number: number): Buffer => {
    const at = number * BLOCK_BYTES
    const bytes = block.subarray(0, Math.min(BLOCK_BYTES, dataBytes - at))
    if (readSync(fd, bytes, 0, bytes.length, at) !== bytes.length || crc32(bytes) !== sums[number]) throw brokenAt(at)
    return bytes
  }
  return {
    path,
    count,
    fileBytes,
    filterBytes: () => footer.filter?.words.byteLength ?? 0,
    dropFilter() {
      footer.filter = null
    },
    find(key, idHash) {
      if (footer.filter && !footer.filter.has(key)) return undefined
      const fence = key.readUInt32BE(0)
      // The last block that begins at or before the key; earlier ones too, as far as they begin with the same bytes.
      for (let number = lastAtOrBefore(fences, fence); number >= 0; number -= 1) {
        const found = searchBlock(readBlock(number), key, idHash)
        if (found || (fences[number] ?? 0) < fence) return found
      }
      return undefined
    },
    async *records() {
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let at = 0; at < dataBytes; at += PIECE_BYTES) {
        const bytes = piece.subarray(0, Math.min(PIECE_BYTES, dataBytes - at))
        if ((await readAt(fd, bytes, 0, bytes.length, at)).bytesRead !== bytes.length) throw brokenAt(at)
        for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
          const sum = crc32(bytes.subarray(from, from + BLOCK_BYTES))
          if (sum !== sums[(at + from) / BLOCK_BYTES]) throw brokenAt(at + from)
        }
        yield bytes
      }
    },
    close: () => closeSync(fd),
    async remove() {
      closeSync(fd)
      await rm(path, { force: true })
    },
  }
}

function lastAtOrBefore(fences: Uint32Array, fence: number): number {
  let low = 0
  let high = fences.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((fences[middle] ?? 0) <= fence) low = middle + 1
    else high = middle
  }
  return low - 1
}

function searchBlock(block: Buffer, key: Buffer, idHash: string): Claim | undefined {
  let low = 0
  let high = block.length / RECORD_BYTES
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareKeys(block, middle * RECORD_BYTES, key, 0)
    if (order === 0) return readRecord(block, middle * RECORD_BYTES, idHash)
    if (order < 0) low = middle + 1
    else high = middle
  }
  return undefined
}
