// The index on a real disk: against a plain map, through flushes, merges, restarts and crashes at any moment.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { randomFrom } from '../../bench/system/random.ts'
import type { Claim, Position } from '../outcome.ts'
import { type DiskIndex, openFirstSeenIndex } from './first-seen-index.ts'
import { claimIndexFolder } from './folder.ts'
import { readIndex } from './read-index.ts'
import { sortedRecords } from './record.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-index-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const claimOf = (number: number): Claim => {
  const idHash = createHash('sha256').update(String(number)).digest('hex').slice(0, 32)
  return { idHash, contentHash: idHash.slice(16), seq: number + 1, line: number % 7 }
}
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at)
const at = (seq: number): Position => ({ seq, timeMs: seq, streamCreated: 'monday' })

/** File by file, while threads write and remove some: a kill is kinder, it leaves the files of one moment. */
function copyAsItStands(from: string, to: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from)) {
    try {
      copyFileSync(join(from, name), join(to, name))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
}

function expectHolds(index: DiskIndex, from: number, to: number): void {
  for (const number of numbers(from, to)) expect(index.find(claimOf(number).idHash)).toEqual(claimOf(number))
}

describe('the first-seen index', () => {
  test.each(numbers(0, 12))(
    'holds what a plain map holds through flushes, merges, restarts and crashes: seed %i',
    async seed => {
      const random = randomFrom(seed)
      const options = { bufferedMax: 32, filterBytesMax: random.pick([0, 2_000, 1_000_000]) }
      let directory = join(folder, 'a')
      let index = await openFirstSeenIndex(directory, options)
      let next = 0
      let crashes = 0
      for (let step = 0; step < 120; step += 1) {
        const kind = random.below(20)
        if (kind < 14) {
          const count = random.between(1, 40)
          await index.claim(numbers(next, next + count).map(claimOf))
          next += count
        } else if (kind < 17) await index.commitPosition(at(next))
        else if (kind === 17) {
          await index.close()
          index = await openFirstSeenIndex(directory, options)
        } else if (kind === 18) {
          // The files as a killed process leaves them, in the middle of whatever it was writing.
          const after = join(folder, `crash-${step}`)
          copyAsItStands(directory, after)
          await index.close()
          directory = after
          index = await openFirstSeenIndex(directory, options)
          const position = index.position()?.seq ?? 0
          expectHolds(index, 0, position)
          // The log is read again from the position.
          await index.claim(
            numbers(position, next)
              .filter(number => !index.find(claimOf(number).idHash))
              .map(claimOf),
          )
          crashes += 1
        } else {
          const number = random.below(next + 20)
          expect(index.find(claimOf(number).idHash)).toEqual(number < next ? claimOf(number) : undefined)
        }
        expect(index.entries()).toBe(next)
      }
      expectHolds(index, 0, next)
      expect(index.find(claimOf(next).idHash)).toBeUndefined()
      expect(index.bytes().memory).toBeLessThanOrEqual(options.filterBytesMax)
      await index.close()
      // The laws would hold of an index that wrote nothing.
      expect(readdirSync(directory).filter(name => name.endsWith('.segment')).length).toBeGreaterThan(0)
      expect(crashes).toBeGreaterThan(0)
    },
  )

  test('is replaced as a whole by a rebuild, and keeps few files', async () => {
    const index = await openFirstSeenIndex(join(folder, 'a'), { bufferedMax: 50 })
    for (let from = 0; from < 5_000; from += 50) await index.claim(numbers(from, from + 50).map(claimOf))
    async function* pieces(): AsyncGenerator<Buffer> {
      const sorted = sortedRecords(numbers(5_000, 9_000).map(claimOf), 4_000)
      for (let byte = 0; byte < sorted.length; byte += 7 * 32) yield sorted.subarray(byte, byte + 7 * 32)
    }
    expect(await index.replaceBy(pieces(), 4_000, at(9_000))).toBe(4_000)
    expect(index.find(claimOf(0).idHash)).toBeUndefined()
    expectHolds(index, 5_000, 9_000)
    for (let from = 9_000; from < 20_000; from += 50) await index.claim(numbers(from, from + 50).map(claimOf))
    expectHolds(index, 5_000, 20_000)
    await index.close()
    const again = await openFirstSeenIndex(join(folder, 'a'))
    expect(again.position()).toEqual(at(9_000))
    expectHolds(again, 5_000, 20_000)
    await again.close()
    expect(readdirSync(join(folder, 'a')).length).toBeLessThan(20)
  })

  test('a byte that rotted on the disk is an error, never a wrong answer; a broken end is as good as no index', async () => {
    const directory = join(folder, 'a')
    const index = await openFirstSeenIndex(directory)
    await index.claim(numbers(0, 1_000).map(claimOf))
    await index.commitPosition(at(1_000))
    await index.close()
    const [name = ''] = readdirSync(directory).filter(each => each.endsWith('.segment'))
    const whole = readFileSync(join(directory, name))
    const broken = Buffer.from(whole)
    broken[100] = (broken[100] ?? 0) ^ 1
    writeFileSync(join(directory, name), broken)
    const rotten = await openFirstSeenIndex(directory)
    expect(() => expectHolds(rotten, 0, 1_000)).toThrow(/broken at byte 0/)
    await rotten.close()
    writeFileSync(join(directory, name), whole.subarray(0, whole.length - 1))
    const cut = await openFirstSeenIndex(directory)
    expect([cut.position(), cut.entries()]).toEqual([null, 0])
    await cut.close()
  })

  test('is read by another process as it stands, also while it is being written and merged', async () => {
    const directory = join(folder, 'a')
    const index = await openFirstSeenIndex(directory, { bufferedMax: 50 })
    expect(await readIndex(directory)).toBeNull()
    await index.replaceBy([], 0, at(0))
    let merges = 0
    for (let from = 0; from < 6_000; from += 100) {
      await index.claim(numbers(from, from + 100).map(claimOf))
      if (from % 1_000 !== 0) continue
      const snapshot = await readIndex(directory)
      const read: Claim[] = []
      for await (const piece of snapshot?.claims() ?? []) {
        read.push(...piece)
        await index.claim([]) // Lets the writer go on between the pieces.
      }
      expect(read.map(({ idHash }) => idHash)).toEqual(read.map(({ idHash }) => idHash).toSorted())
      expect(read).toEqual(read.map(({ seq }) => claimOf(seq - 1)))
      if (read.length > 0) merges += 1
      await snapshot?.close()
    }
    expect(merges).toBeGreaterThan(3)
    await index.close()
  })

  test('refuses records that are not sorted', async () => {
    const index = await openFirstSeenIndex(join(folder, 'a'))
    const sorted = sortedRecords(numbers(0, 3).map(claimOf), 3)
    async function* backwards(): AsyncGenerator<Buffer> {
      yield sorted.subarray(32)
      yield sorted.subarray(0, 32)
    }
    await expect(index.replaceBy(backwards(), 3, at(3))).rejects.toThrow(/not sorted/)
    await index.close()
  })
})

test('an index folder has one process at a time, and a name that outlives it', () => {
  const first = claimIndexFolder(folder)
  expect(() => claimIndexFolder(folder)).toThrow(/is used by process [0-9]+: give each aggregator its own/)
  first.release()
  const second = claimIndexFolder(folder)
  expect(second.id).toBe(first.id)
  expect(claimIndexFolder(join(folder, 'other')).id).not.toBe(first.id)
  second.release()
})
