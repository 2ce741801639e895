// Sends events through the gateway's front door, as any sender would: waits when the gateway says so, and finds out which event a refusal
// is about. A batch is all or nothing there, so one that is refused is sent again without the event it was refused for.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { LineEvent } from '../mapping/read-line.ts'
import type { Pace } from './pace.ts'

/** Of one event: null when it was accepted, otherwise why not. */
export type Verdict = string | null

export type GatewayOptions = {
  readonly dispatcher: Dispatcher
  readonly pace: Pace
  /** A key that may send events now. `renew`: the one given before was refused. */
  readonly key: (renew: boolean) => Promise<string>
  readonly signal: AbortSignal
  /** How long the gateway may give no answer but "later" before the file is left for another time. */
  readonly patienceMs: number
  /** How time passes; as it does, but in tests. */
  readonly time?: Time
}

type Time = {
  /** Monotonic. */
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
const REAL_TIME: Time = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}

/** The gateway is away, or behind, for longer than it is worth waiting for. Whoever catches it tries again later. */
export class GatewayAway extends Error {}

/** What a gateway takes at once unless its installation or the platform says less; it then says so, and we ask for less. */
const BATCH_MAX = 50
const ANSWER_TIMEOUT_MS = 30_000
const PAUSE_FIRST_MS = 250
const PAUSE_MAX_MS = 5_000
const PATH = '/v1/events/ingest-list'

type Refusal = { readonly code: string; readonly field: string; readonly message: string }

export class Gateway {
  readonly #options: GatewayOptions
  #batchMax = BATCH_MAX

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  /** Events to send in one call. */
  get batchMax(): number {
    return this.#batchMax
  }

  /** The verdict on each event, in order. Throws GatewayAway, and what `signal` was aborted with. */
  async send(events: readonly LineEvent[]): Promise<Verdict[]> {
    const verdicts: Verdict[] = events.map(() => null)
    let pending = events.map((_event, place) => place)
    while (pending.length > 0) {
      const batch = pending.flatMap(place => events[place] ?? [])
      const refusal = await this.#untilAnswered(batch)
      if (refusal === null) return verdicts
      const at = indexOf(refusal.field, batch.length) ?? (batch.length === 1 ? 0 : null)
      const place = at === null ? undefined : pending[at]
      if (place === undefined) {
        await this.#inHalves(events, pending, refusal, verdicts)
        return verdicts
      }
      verdicts[place] = explain(refusal, events[place])
      pending = pending.filter(other => other !== place)
    }
    return verdicts
  }

  /** A refusal of the batch as a whole: of its size in events or bytes, or of something in it that it does not name. */
  async #inHalves(
    events: readonly LineEvent[],
    pending: readonly number[],
    refusal: Refusal,
    verdicts: Verdict[],
  ): Promise<void> {
    const half = Math.ceil(pending.length / 2)
    if (refusal.code === 'INVALID_REQUEST') this.#batchMax = Math.min(this.#batchMax, half)
    for (const part of [pending.slice(0, half), pending.slice(half)]) {
      const found = await this.send(part.flatMap(place => events[place] ?? []))
      for (const [index, place] of part.entries()) verdicts[place] = found[index] ?? null
    }
  }

  /** Asks until there is an answer that is about the events: null for accepted, or the refusal. */
  async #untilAnswered(batch: readonly LineEvent[]): Promise<Refusal | null> {
    const { pace, signal, patienceMs, time = REAL_TIME } = this.#options
    await pace.take(batch.length, signal)
    const deadline = time.now() + patienceMs
    let renew = false
    for (let pauseMs = PAUSE_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
      const answer = await this.#ask(batch, renew)
      if (answer.status === 201) return null
      if (answer.status >= 400 && answer.status < 500 && !AGAIN.has(answer.status)) return answer.refusal
      if (time.now() > deadline)
        throw new GatewayAway(`the gateway answers ${answer.status}: ${answer.refusal.message}`)
      renew = answer.status === 401
      await time.sleep(Math.max(pauseMs, answer.retryAfterMs), signal)
    }
  }

  async #ask(
    batch: readonly LineEvent[],
    renew: boolean,
  ): Promise<{ status: number; retryAfterMs: number; refusal: Refusal }> {
    const { dispatcher, key, signal } = this.#options
    const apiKey = await key(renew)
    signal.throwIfAborted()
    try {
      const response = await dispatcher.request({
        method: 'POST',
        path: PATH,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(batch),
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout: ANSWER_TIMEOUT_MS,
      })
      const text = await response.body.text()
      const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1_000
      return { status: response.statusCode, retryAfterMs, refusal: refusalOf(text) }
    } catch (error) {
      // Nothing is known of the events, which is why they are sent again: their references make that harmless.
      const message = error instanceof Error ? error.message : String(error)
      return { status: 503, retryAfterMs: 0, refusal: { code: '', field: '', message } }
    }
  }
}

/** Not about the events: the limit, and a key that has ended. */
const AGAIN: ReadonlySet<number> = new Set([401, 429])

function refusalOf(text: string): Refusal {
  try {
    const { code, field, message } = JSON.parse(text)
    return { code: String(code ?? ''), field: String(field ?? ''), message: String(message ?? '') }
  } catch {
    return { code: '', field: '', message: text.slice(0, 200) }
  }
}

/** The place a field's path starts with: `3.meter_values.0.number` is about the fourth event. */
function indexOf(field: string, length: number): number | null {
  const match = /^(\d+)(?:\.|$)/.exec(field)
  const index = match ? Number(match[1]) : length
  return index < length ? index : null
}

/** The refusal in terms of the file: `meter_values.tokens.number` instead of a place in a list nobody wrote. */
function explain({ field, message }: Refusal, event: LineEvent | undefined): string {
  const path = field.replace(/^\d+\.?/, '').replace(/^(meter_values|meter_properties)\.(\d+)/, (whole, list, place) => {
    const entry = event?.[list as 'meter_values' | 'meter_properties'][Number(place)]
    if (entry === undefined) return whole
    return `${list}.${'reference' in entry ? entry.reference : entry.id}`
  })
  const text = field === '' ? message : message.replaceAll(field, path)
  return path === '' || text.includes(path) ? text : `${path}: ${text}`
}
