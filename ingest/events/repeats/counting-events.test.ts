// What is read of the log for the answer to repeats that differ; that it shows the events that count: ingest/gateway.it.test.ts.
import { expect, test } from 'vitest'
import type { MeterSet } from '../parse/meter.ts'
import { showCounting } from './counting-events.ts'
import { placeOf } from './place.ts'

const NO_METERS = { byReference: new Map() } as unknown as MeterSet

const NOT_STORED = async () => null

/** An answer of this many repeats, one in each message but for those that `seq` puts together. */
const listOf = (count: number, seq = (line: number) => line + 1) => ({
  answer: Buffer.from(JSON.stringify(Array.from({ length: count }, (_, line) => ({ id: `mtrd_${line}` })))),
  repeats: Array.from({ length: count }, (_, line) => ({ line, partition: 0, place: placeOf(seq(line), line) })),
})

/** A log whose messages are gone, or cannot be read, and how it was read. */
function logThat(answers: () => Promise<string | null>) {
  const reads: string[] = []
  let running = 0
  let most = 0
  const read = async (partition: number, seq: number) => {
    reads.push(`${partition}/${seq}`)
    running += 1
    most = Math.max(most, running)
    await new Promise(resolve => setImmediate(resolve))
    running -= 1
    return await answers()
  }
  return { read, reads, most: () => most }
}

test('each message is read once, a few at a time, and not more of them than a sender waits for', async () => {
  const log = logThat(async () => null)
  const { answer, repeats } = listOf(1_000, line => Math.floor(line / 2) + 1)
  expect(await showCounting(answer, repeats, { read: log.read, stored: NOT_STORED, meters: NO_METERS })).toEqual(answer)
  expect(new Set(log.reads).size).toBe(log.reads.length)
  expect(log.reads.length).toBe(200)
  expect(log.most()).toBe(4)
})

test.each([
  ['does not answer', async () => Promise.reject(new Error('no answer'))],
  ['has a message that this build cannot read', async () => 'of another version\n[]'],
])('a log that %s is not read further, and the repeats stay as they were sent', async (_how, answers) => {
  const log = logThat(answers)
  const { answer, repeats } = listOf(100)
  expect(await showCounting(answer, repeats, { read: log.read, stored: NOT_STORED, meters: NO_METERS })).toEqual(answer)
  expect(log.reads.length).toBe(4)
})

test('what the log has no more is read from the store, one after the other, until it does not answer', async () => {
  const log = logThat(async () => null)
  const asked: string[] = []
  const idHash = (line: number) => line.toString(16).padStart(32, '0')
  const answer = Buffer.from(JSON.stringify(Array.from({ length: 100 }, (_, line) => ({ id: `meda_${idHash(line)}` }))))
  const { repeats } = listOf(100)
  const from = {
    read: log.read,
    meters: NO_METERS,
    stored: async (_partition: number, hash: string) => {
      asked.push(hash)
      if (asked.length === 3) throw new Error('no answer')
      return null
    },
  }
  expect(await showCounting(answer, repeats, from)).toEqual(answer)
  expect(asked).toEqual([0, 1, 2].map(idHash))
})
