// Gathers what every partition has waiting into rounds: one round is one insert, so parts stay few and large.
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogMessage } from '../outcome.ts'
import type { PartitionReader } from './reader.ts'

/** How long a round waits for more after its first message; the gateway's messages come every millisecond or so. */
const LINGER_MS = 100
/** How often a round that lingers asks whether it has waited long enough. */
const STEP_MS = 50
/** Over time, rounds are so many times as far apart as one takes to store, and this far at most. */
const APART_TIMES = 5
const APART_MAX_MS = 500
/** After a pause, so much of that is not waited for: a few rounds in a row are as quick as the first. */
const CREDIT_MS = 2_000
const MESSAGES_PER_PARTITION_MAX = 256
/** Of message bodies in one round, shared by the partitions; about 20,000 events. */
const ROUND_BYTES_MAX = 8 * 1024 * 1024

export type Signal = { notify(): void; wait(): Promise<void> }

/** Lets one waiter sleep until it is notified; a notice given while no one waits is kept. */
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

/**
 * Keeps rounds apart while messages come in steadily. What an insert costs ClickHouse, the merges after it above all, hardly depends on
 * how many rows it has: many small ones keep a core busy where few larger ones take a third of it.
 */
export type Pace = {
  /** A round was taken. Returns what to call when it is stored. */
  taken(): () => void
  /** Milliseconds until the next round may be taken, unless a reader is full; not above 0 when it may be now. */
  restMs(): number
}

export function createPace(nowMs: () => number = () => performance.now()): Pace {
  /** When the next round would be due if none could be ahead of its time. */
  let due = Number.NEGATIVE_INFINITY
  return {
    taken() {
      const takenAt = nowMs()
      const from = Math.max(takenAt, due)
      const latest = from + APART_MAX_MS
      due = latest
      return () => {
        // Of the newest round alone: one that was stored late says nothing of it.
        if (due === latest) due = from + Math.min(APART_MAX_MS, APART_TIMES * (nowMs() - takenAt))
      }
    },
    restMs: () => due - CREDIT_MS - nowMs(),
  }
}

/** What a round is gathered from. */
export type Source = { readonly reader: PartitionReader }

/** The next round by source, or null once `stopping()`: a caller that stops, or brings a source, must notify. */
export async function nextRound<S extends Source>(
  sources: () => readonly S[],
  signal: Signal,
  { stopping, pace }: { readonly stopping: () => boolean; readonly pace: Pace },
): Promise<Map<S, LogMessage[]> | null> {
  for (;;) {
    while (sources().every(({ reader }) => reader.waiting() === 0)) {
      if (stopping()) return null
      await signal.wait()
    }
    const lingersUntil = performance.now() + LINGER_MS
    const waitMs = (): number => Math.max(lingersUntil - performance.now(), pace.restMs())
    const hasRoom = (): boolean => sources().every(({ reader }) => !reader.full())
    while (waitMs() > 0 && hasRoom() && !stopping()) await sleep(Math.min(STEP_MS, waitMs()))
    if (stopping()) return null
    const round = new Map<S, LogMessage[]>()
    // Asked again: sources come and go while it lingers, and what is left may have nothing waiting.
    const now = sources()
    const bytesEach = Math.floor(ROUND_BYTES_MAX / Math.max(1, now.length))
    for (const source of now) {
      const messages = source.reader.take(MESSAGES_PER_PARTITION_MAX, bytesEach)
      if (messages.length > 0) round.set(source, messages)
    }
    if (round.size > 0) return round
  }
}
