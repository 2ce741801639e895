// Delivers webhooks: takes due queues, a few at a time, and works on them concurrently. Any number of workers may run
// one.
import { setTimeout as sleep } from 'node:timers/promises'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import type { WorkerMetrics } from '../../../jobs/metrics.ts'
import type { Rounds } from '../../../workers/rounds.ts'
import { disableWebhook, warnAdministrators } from './disable-webhook.ts'
import { measureQueues } from './queue/measure-queues.ts'
import {
  anyDue,
  isUnchanged,
  readWaiting,
  recordTurns,
  type TakenQueue,
  type TurnResult,
  takeQueues,
  type Waiting,
} from './queue/queue-store.ts'
import { sendQueue, type TurnDeps } from './queue/send-queue.ts'
import { readReplay } from './read-replay.ts'
import { FAILURES_MAX, FAILURES_WARN } from './retry-schedule.ts'

export type SenderDeps = Omit<TurnDeps, 'clock' | 'isUnchanged'> & {
  /** In the role millrace_worker. */
  readonly system: Database
  /** In the role millrace_app: what becomes visible in a webhook is saved in its tenant. */
  readonly database: Database
  readonly failpoints: Failpoints
  readonly logger: Logger
  readonly metrics: Pick<
    WorkerMetrics,
    'webhookAttempts' | 'webhookSeconds' | 'webhooksDisabled' | 'webhookOldest' | 'webhookQueues'
  >
}

/** Concurrent queues. Slow and failing endpoints have places of their own, so that they delay no quick one. */
const LANES = [
  { isSlow: false, places: 128 },
  { isSlow: true, places: 64 },
] as const
/** Most queues taken at a time. */
const TAKE_MAX = 32
const RETRY_MS = 2_000
/** Turns that end together are recorded together. */
const RECORD_MAX = 64

/** Takes what is due now once, sends and records it; returns the number of queues. For tests, which set the clock. */
export async function sendDue(deps: SenderDeps, isSlow: boolean, stop = NEVER): Promise<number> {
  const queues = await takeQueues(deps.system, { isSlow, limit: TAKE_MAX })
  const results = await sendTaken(deps, queues, stop)
  const turns = await Promise.all(results)
  await settle(deps, turns)
  return queues.length
}

const NEVER = new AbortController().signal

/** Reads what waits in each queue and starts to send it. */
async function sendTaken(
  deps: SenderDeps,
  queues: readonly TakenQueue[],
  stop: AbortSignal,
): Promise<Promise<TurnResult>[]> {
  if (queues.length === 0) return []
  const waiting = await readQueues(deps.system, queues)
  const sending: TurnDeps = {
    post: deps.post,
    open: deps.open,
    clock: deps.system.clock,
    isUnchanged: queue => isUnchanged(deps.system, queue),
    reliesMs: deps.reliesMs,
  }
  return queues.map(async queue => {
    const turn = await sendQueue(sending, queue, waiting.get(queue) ?? NOTHING, stop)
    for (const { succeeded, duration_ms } of turn.attempts) {
      deps.metrics.webhookAttempts.inc({ outcome: succeeded ? 'succeeded' : 'failed' })
      deps.metrics.webhookSeconds.observe(duration_ms / 1_000)
    }
    return turn
  })
}

const NOTHING: Waiting = { events: [], upTo: null, isAll: false }

/** What waits in each queue; for a queue with a replay, what the replay has yet to send. */
async function readQueues(system: Database, queues: readonly TakenQueue[]): Promise<Map<TakenQueue, Waiting>> {
  const plain = queues.filter(({ replay }) => replay === null)
  const waiting = plain.length === 0 ? [] : await readWaiting(system, plain)
  const found = new Map(plain.map((queue, index) => [queue, waiting[index] ?? NOTHING]))
  for (const queue of queues.filter(({ replay }) => replay !== null)) {
    found.set(queue, await asSystem(system, 'send-webhooks', tx => readReplay(tx, queue)))
  }
  return found
}

/** Records turns. A turn that disables a webhook, or comes close to it, is recorded together with its consequences. */
async function settle(deps: SenderDeps, turns: readonly TurnResult[]): Promise<void> {
  await deps.failpoints('webhooks.before-record')
  const ending = turns.filter(({ failures, retryAt }) => retryAt !== null && failures >= FAILURES_MAX)
  await recordTurns(
    deps.system,
    turns.filter(turn => !ending.includes(turn)),
  )
  await deps.failpoints('webhooks.after-record')
  for (const turn of ending) {
    await disableWebhook(deps.database, turn)
    deps.metrics.webhooksDisabled.inc()
  }
  for (const turn of turns) {
    if (turn.failures === FAILURES_WARN && turn.retryAt !== null) await warnAdministrators(deps.database, turn)
  }
}

/** Sends until closed. Closing starts nothing new, waits for running attempts, and records them. */
export function startWebhookSender(deps: SenderDeps & { readonly rounds: Rounds }): { close(): Promise<void> } {
  const stop = new AbortController()
  const record = createRecorder(deps)
  const running = [...LANES.map(lane => runLane(deps, lane, record, stop.signal)), measure(deps, stop.signal)]
  return {
    close: async () => {
      stop.abort()
      await Promise.all(running)
    },
  }
}

const MEASURE_MS = 10_000

async function measure({ system, metrics, logger }: SenderDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await measureQueues(system, metrics).catch((error: unknown) =>
      logger.warn({ err: error }, 'queues of webhooks could not be measured'),
    )
    await sleep(MEASURE_MS, undefined, { signal }).catch(() => undefined) // closing ends the pause
  }
}

async function runLane(
  deps: SenderDeps & { readonly rounds: Rounds },
  { isSlow, places }: (typeof LANES)[number],
  record: (turn: TurnResult) => Promise<void>,
  stop: AbortSignal,
): Promise<void> {
  const atWork = new Set<Promise<void>>()
  const pause = (ms: number) => sleep(ms, undefined, { signal: stop }).catch(() => undefined) // closing ends the pause
  const takeSome = async (limit: number): Promise<number> => {
    const queues = await takeQueues(deps.system, { isSlow, limit })
    for (const turn of await sendTaken(deps, queues, stop)) {
      // An error here is a bug of ours: the lease runs out, and what was sent is sent again.
      const work = turn
        .then(record)
        .catch((error: unknown) => deps.logger.warn({ err: error }, 'a turn at a webhook failed; it is repeated'))
        .finally(() => atWork.delete(work))
      atWork.add(work)
    }
    return queues.length
  }
  const question = anyDue({ isSlow })
  let mayHaveMore = false
  while (!stop.aborted) {
    const free = places - atWork.size
    if (free === 0) {
      await Promise.race(atWork)
      continue
    }
    try {
      const limit = Math.min(free, TAKE_MAX)
      const due: string | null = await deps.rounds.ask(question, { stop, atOnce: mayHaveMore })
      mayHaveMore = due !== null && (await takeSome(limit)) === limit
    } catch (error) {
      mayHaveMore = false
      deps.logger.warn({ err: error }, 'queues of webhooks could not be taken; trying again')
      await pause(RETRY_MS)
    }
  }
  await Promise.all(atWork)
}

/** Records turns as they end; turns that end during a recording are recorded together afterwards. */
function createRecorder(deps: SenderDeps): (turn: TurnResult) => Promise<void> {
  type Entry = { turn: TurnResult; done: () => void; failed: (error: unknown) => void }
  let pending: Entry[] = []
  let isRecording = false
  const run = async (): Promise<void> => {
    isRecording = true
    while (pending.length > 0) {
      const batch = pending.slice(0, RECORD_MAX)
      pending = pending.slice(RECORD_MAX)
      try {
        await settle(
          deps,
          batch.map(({ turn }) => turn),
        )
        for (const { done } of batch) done()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    isRecording = false
  }
  return turn =>
    new Promise((done, failed) => {
      pending.push({ turn, done, failed })
      if (!isRecording) void run()
    })
}
