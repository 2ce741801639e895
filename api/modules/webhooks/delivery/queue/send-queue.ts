// One turn of one queue: sends its next events in order, up to the first that fails.
import { newId } from '../../../../../shared/ids.ts'
import { type Clock, type Instant, instantOf } from '../../../../../shared/time.ts'
import type { RelayedChange } from '../../../../workers/outbox-consumer.ts'
import { payloadText } from '../../request/payload.ts'
import type { Post, PostOutcome } from '../../request/post.ts'
import { type Endpoint, type Opener, requestFor } from '../../request/request.ts'
import { retryAt } from '../retry-schedule.ts'
import type { RunningReplay } from '../running-replay.ts'
import { type AttemptRow, formatExact, type TakenQueue, type TurnResult, type Waiting } from './queue-store.ts'

export type SendDeps = {
  readonly post: Post
  readonly open: Opener
  readonly clock: Clock
}

/** What a turn asks between two attempts. */
export type TurnDeps = SendDeps & {
  /** Whether the queue is still this worker's, and its webhook as it was. */
  readonly isUnchanged: (queue: TakenQueue) => Promise<boolean>
  /** How long it relies on the last answer to that. */
  readonly reliesMs?: number | undefined
}

/** So that a quick endpoint costs few questions, and an endpoint that was switched off gets little more. */
const RELIES_MS = 250
/** A turn starts no further attempt after this long, so that it ends well within its lease. */
const TURN_MS = 20_000
/** An endpoint that takes longer to answer is handled with other slow ones, so that it delays no quick one. */
const SLOW_MS = 1_000

/** Sends one event to an endpoint. A credential that cannot be opened counts as a failed attempt. */
export async function attempt(
  { post, open, clock }: SendDeps,
  endpoint: Endpoint & { readonly include_previous_data: boolean },
  event: RelayedChange,
): Promise<PostOutcome> {
  const body = payloadText(event, endpoint.include_previous_data)
  try {
    return await post(await requestFor(endpoint, { eventId: event.id, body, now: clock.now() }, open))
  } catch {
    const cause = 'The credentials of the webhook cannot be opened; send them again, and roll its secret.'
    return { succeeded: false, responseCode: null, cause, durationMs: 0 }
  }
}

export const attemptRow = (
  kind: AttemptRow['kind'],
  event: RelayedChange,
  { clock }: Pick<SendDeps, 'clock'>,
  outcome: PostOutcome,
  replay: RunningReplay | null = null,
): AttemptRow => ({
  id: newId('what'),
  created_at: formatExact(clock.now()),
  event_id: event.id,
  kind,
  succeeded: outcome.succeeded,
  response_code: outcome.responseCode,
  cause: outcome.cause,
  duration_ms: outcome.durationMs,
  replay_id: replay?.id ?? null,
  replayed_object_id: replay === null ? null : event.object_id,
})

/** When a replay that has just sent `count` events may continue. */
const paceOf = ({ events_per_second }: RunningReplay, now: Instant, count: number): Instant =>
  instantOf(now + Math.ceil((count * 1_000) / events_per_second))

/**
 * Sends what waits, in order. Stops at a failure, when the turn has lasted long enough, when the webhook was changed, switched off or
 * deleted meanwhile, and when the worker stops.
 */
export async function sendQueue(
  deps: TurnDeps,
  queue: TakenQueue,
  { events, upTo, isAll }: Waiting,
  stop: AbortSignal,
): Promise<TurnResult> {
  const began = performance.now()
  const attempts: AttemptRow[] = []
  const { replay } = queue
  const resting = {
    queue,
    position: queue.position,
    failures: queue.failures,
    cause: queue.cause,
    retryAt: null,
    notBefore: null,
  }
  // The webhook was switched off since the queue became due: switching it on again skips what waits there.
  if (!queue.active) return { ...resting, isDone: true, waitingSince: null, isSlow: false, attempts }
  let { position, failures, cause } = queue
  let isSlow = false
  let asked = began
  /** Asks at most every `reliesMs`: what the last answer said holds until then. */
  const isOver = async (): Promise<boolean> => {
    const now = performance.now()
    if (now - began > TURN_MS) return true
    if (now - asked < (deps.reliesMs ?? RELIES_MS)) return false
    asked = now
    return !(await deps.isUnchanged(queue))
  }
  for (const [index, event] of events.entries()) {
    if (stop.aborted || (index > 0 && (await isOver()))) {
      return { ...resting, position, failures, cause, isDone: false, waitingSince: event.created_at, isSlow, attempts }
    }
    const outcome = await attempt(deps, queue, event)
    attempts.push(attemptRow(replay ? 'REPLAY' : 'QUEUE', event, deps, outcome, replay))
    isSlow ||= outcome.durationMs > SLOW_MS
    if (!outcome.succeeded) {
      failures += 1
      const next = retryAt(failures, deps.clock.now())
      const failed = { position, failures, cause: outcome.cause, retryAt: next, waitingSince: event.created_at }
      return { ...resting, ...failed, isDone: false, isSlow: true, attempts }
    }
    position = event.position
    failures = 0
    cause = null
  }
  // An event that failed and is now too old is skipped; the count of failures in a row does not change.
  return {
    ...resting,
    position: upTo ?? position,
    failures,
    cause,
    notBefore: replay && paceOf(replay, deps.clock.now(), events.length),
    isDone: isAll,
    waitingSince: null,
    isSlow,
    attempts,
  }
}
