// Gathers what every partition has waiting into rounds: one round is one insert, so parts stay few and large.
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogMessage } from '../outcome.ts'
import type { PartitionReader } from './reader.ts'

/** How long a round waits for more after its first message; the gateway's messages come every millisecond or so. */
const LINGER_MS = 100
const MESSAGES_PER_PARTITION_MAX = 256
/** Of message bodies in one round, shared by the partitions; about 20,000 events. */
const ROUND_BYTES_MAX = 8 * 1024 * 1024

export type Signal = { notify(): void; wait(): Promise<void> }

/** Lets one waiter sleep until somebody notifies; a notice given while nobody waits is kept. */
export function createSignal(): Signal {
  let noticed = false
  let wake: (() => void) | null = null
  return {
    notify() {
      noticed = true
      wake?.()
    },
    async wait() {
      if (!noticed) await new Promise<void>(resolve => (wake = resolve))
      wake = null
      noticed = false
    },
  }
}

/** The next round by partition, or null once `stopping()`: whoever stops must notify. */
export async function nextRound(
  readers: readonly PartitionReader[],
  signal: Signal,
  stopping: () => boolean,
): Promise<Map<number, LogMessage[]> | null> {
  while (readers.every(reader => reader.waiting() === 0)) {
    if (stopping()) return null
    await signal.wait()
  }
  if (!readers.some(reader => reader.full())) await sleep(LINGER_MS)
  if (stopping()) return null
  const bytesEach = Math.floor(ROUND_BYTES_MAX / readers.length)
  const round = new Map<number, LogMessage[]>()
  for (const reader of readers) {
    const messages = reader.take(MESSAGES_PER_PARTITION_MAX, bytesEach)
    if (messages.length > 0) round.set(reader.partition, messages)
  }
  return round
}
