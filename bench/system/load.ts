// Load: a few senders side by side, each with one request at a time, singles and batches, and now and then a repeat.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sender } from './client.ts'
import type { SentEvent } from './ledger.ts'
import type { Random } from './random.ts'

export const CUSTOMERS = ['customer-a', 'customer-b', 'customer-c'] as const
const MODELS = ['code-1', 'chat-2'] as const
const QUANTITIES = ['1', '0', '-2.5', '0.000000000001', '12345678.125', '99999999999999.999999999999', '7'] as const

const HOUR_MS = 3_600_000
/** Events lie in 40 hours on both sides of a change of month. */
export const USAGE_START_MS = Date.UTC(2026, 0, 31, 2)
export const USAGE_END_MS = USAGE_START_MS + 40 * HOUR_MS

/** An event nobody sent before, when `reference` is new. */
export const randomEvent = (random: Random, reference: string): SentEvent => ({
  reference,
  customer: random.pick(CUSTOMERS),
  timestampMs: random.between(USAGE_START_MS, USAGE_END_MS),
  quantities: [random.pick(QUANTITIES), String(random.below(5_000))],
  model: random.pick(MODELS),
})

export type Load = {
  /** Ends once every request that was begun is accepted. Rejects with the first fault a sender met. */
  stop(): Promise<void>
  /** Resolves when this many further requests were accepted; at once when the load has ended. */
  accepted(requests: number): Promise<void>
}

const SENDERS = 8
const BATCH_MAX = 50
/**
 * Bounds the load to some six hundred events a second: always several requests on their way when a process dies, and not so much that
 * a slow machine is busy with nothing else.
 */
const PAUSE_MS = 250
const REPEAT_EVERY = 10

/** Starts the load. References begin with `run`. */
export function startLoad({ sender, random, run }: { sender: Sender; random: Random; run: string }): Load {
  let stopping = false
  let next = 0
  let done = 0
  const sent: SentEvent[][] = []
  const nextRequest = (): SentEvent[] => {
    if (sent.length > 0 && random.below(REPEAT_EVERY) === 0) return random.pick(sent)
    const length = random.below(4) === 0 ? 1 : random.between(2, BATCH_MAX + 1)
    const events = Array.from({ length }, () => {
      next += 1
      return randomEvent(random, `${run}-${next}`)
    })
    sent.push(events)
    return events
  }
  const work = async (): Promise<void> => {
    while (!stopping) {
      await sender.send(nextRequest())
      done += 1
      await sleep(PAUSE_MS)
    }
  }
  const working = Promise.all(Array.from({ length: SENDERS }, work)).finally(() => {
    stopping = true
  })
  // Reported by stop(); without this line a fault before it would be unhandled.
  working.catch(() => undefined)
  return {
    stop: async () => {
      stopping = true
      await working
    },
    accepted: async requests => {
      const wanted = done + requests
      while (done < wanted && !stopping) await sleep(10)
    },
  }
}

/** Sends every event of the ledger once more, as it was. */
export async function resendAll(sender: Sender, events: readonly SentEvent[]): Promise<void> {
  const batches = Array.from({ length: Math.ceil(events.length / BATCH_MAX) }, (_, place) =>
    events.slice(place * BATCH_MAX, (place + 1) * BATCH_MAX),
  )
  const lanes = Array.from({ length: SENDERS }, async (_, lane) => {
    for (let place = lane; place < batches.length; place += SENDERS) await sender.send(batches[place] ?? [])
  })
  await Promise.all(lanes)
}
