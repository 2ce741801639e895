// The ingest paths, in order: who sends, the body, what it says, the rate, the log, the answer. Everything up to the log is
// one synchronous run when the key and the meter are in memory; nothing is stored unless all of it is right.
import type { ApiKeyIdentity, LiveKeys } from '../../shared/access/live-keys.ts'
import { readIngestQuery } from '../../shared/contracts/ingest-query.ts'
import { MESSAGE_BYTES_MAX } from '../../shared/contracts/streams.ts'
import { AppError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { Clock } from '../../shared/time.ts'
import { authenticate } from '../auth/authenticate.ts'
import type { Exchange } from '../http/exchange.ts'
import { parseJson } from '../http/parse-json.ts'
import type { BodyReader } from '../http/read-body.ts'
import { readHead } from '../http/read-head.ts'
import type { JsonScan } from '../http/scan-json.ts'
import { guard, type Handler } from '../http/server.ts'
import type { LiveLimits } from '../limits/live-limits.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import { countThrottled, type IngestCounts } from '../metrics.ts'
import type { TenantCounts } from '../tenant-counts.ts'
import { encodeUsageEvent, viewOf, wholeSeconds } from './encode.ts'
import { createFastReader } from './fast-path/read-body.ts'
import { Lines } from './lines.ts'
import type { LiveMeters } from './parse/live-meters.ts'
import type { NamedSubscriptions } from './parse/named-subscriptions.ts'
import { type ParseContext, parseBatch, parseSingle, type UsageEvent } from './parse/parse.ts'
import { createTimestampReader } from './parse/timestamp.ts'
import type { Publisher, Repeat } from './publish.ts'
import type { Settled } from './queued-message.ts'
import { quoteOf } from './quote.ts'
import { type ReadMessage, showCounting } from './repeats/counting-events.ts'
import type { FindRepeats } from './repeats/find-repeats.ts'

export type IngestDeps = {
  readonly keys: LiveKeys
  readonly meters: LiveMeters
  readonly subscriptions: NamedSubscriptions
  readonly limits: LiveLimits
  readonly rates: RateLimits
  readonly publisher: Publisher
  readonly repeats: FindRepeats
  readonly readMessage: ReadMessage
  /** The line of an event of a tenant, as it is stored. */
  readonly readEvent: (partition: number, of: ApiKeyIdentity, idHash: string) => Promise<string | null>
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
  readonly counts: IngestCounts
  readonly tenantCounts: Omit<TenantCounts, 'close'>
  readonly partitions: number
  /** Whether a body may come without its length. */
  readonly mayBeChunked: boolean
}

/** What the answer looks like: one event, a list, or a list in an object. */
type Form = 'single' | 'list'
type Body = { readonly value: unknown; readonly scan: JsonScan }
/** A line must fit a message beside the version. */
const LINE_BYTES_MAX = MESSAGE_BYTES_MAX - 16

/** The handler of one of the ingest paths. */
export function ingestHandler(deps: IngestDeps, form: Form): Handler {
  const readTimestamp = createTimestampReader()
  const lines = new Lines(deps.partitions)
  const quick = createFastReader()

  /** The fast path; false when the body must take the slow one. */
  const acceptQuickly = (exchange: Exchange, identity: ApiKeyIdentity, body: Buffer): boolean => {
    lines.clear()
    const context = {
      identity,
      meters: deps.meters.of(identity),
      now: deps.clock.now(),
      batchMax: deps.limits.of(identity).batchMax,
      lineBytesMax: LINE_BYTES_MAX,
    }
    const answer = quick.read(body, form, context, lines)
    if (answer === null) return false
    // What is thrown from here on leaves the answer to the collector.
    throttle(deps, identity, lines.count)
    publish(deps, { exchange, identity }, lines, answer.bytes, answer.release)
    return true
  }

  const accept = (exchange: Exchange, identity: ApiKeyIdentity, body: Body, isRetry: boolean): void | Promise<void> => {
    const context: ParseContext = {
      scan: body.scan,
      meters: deps.meters.of(identity),
      now: deps.clock.now(),
      batchMax: deps.limits.of(identity).batchMax,
      readTimestamp,
    }
    const parsed = form === 'single' ? parseSingle(body.value, context) : parseBatch(body.value, context)
    if (parsed.kind === 'reject') {
      if (!parsed.unknownMeter || isRetry) throw parsed.error
      // The meter may have been made a moment ago: look once more with what the database has now.
      return deps.meters.refresh().then(() => accept(exchange, identity, body, true))
    }
    throttle(deps, identity, parsed.events.length)
    const list = parsed.wrapped ? 'meter_datas.' : ''
    const pathOf = (index: number): string => (form === 'single' ? '' : `${list}${index}.`)
    const checked = deps.subscriptions.check(identity, parsed.events, pathOf)
    const store = (): void => {
      const views = encodeAll(identity, parsed.events, body.scan, context, lines)
      const answer = form === 'single' ? views : parsed.wrapped ? `{"meter_datas":[${views}]}` : `[${views}]`
      // Bytes, because the answer waits for the ack: long-lived text costs more than everything that made it.
      publish(deps, { exchange, identity }, lines, Buffer.from(answer), () => undefined)
    }
    return checked instanceof Promise ? checked.then(store) : store()
  }

  return (exchange, req) => {
    const head = readHead(req, deps.mayBeChunked)
    readIngestQuery(head.query, false)
    const identity = authenticate(deps.keys, head)
    deps.bodies.read(exchange, head.contentLength, buffer =>
      guard(exchange, deps.logger, () => {
        if (!(identity instanceof Promise)) {
          return noting(deps, identity, () =>
            acceptQuickly(exchange, identity, buffer)
              ? undefined
              : accept(exchange, identity, parseJson(buffer), false),
          )
        }
        // The buffer is gone when the key is known, so the body is parsed before.
        const body = parseJson(buffer)
        return identity.then(found => noting(deps, found, () => accept(exchange, found, body, false)))
      }),
    )
    // Its refusal is answered as soon as it is known, whether or not the body ever comes.
    return identity instanceof Promise ? identity.then(() => undefined) : undefined
  }
}

/** Counts the refusal of a request whose sender is known. */
function noting(deps: IngestDeps, identity: ApiKeyIdentity, run: () => void | Promise<void>): void | Promise<void> {
  const note = (error: unknown): never => {
    deps.tenantCounts.refused(identity, error instanceof AppError ? error.code : 'INTERNAL_ERROR')
    throw error
  }
  try {
    return run()?.catch(note)
  } catch (error) {
    return note(error)
  }
}

const sparedBy = ({ counts }: Publisher): number => counts.sparedRecent + counts.sparedInFlight

type Sender = { readonly exchange: Exchange; readonly identity: ApiKeyIdentity }

function throttle(deps: IngestDeps, identity: ApiKeyIdentity, events: number): void {
  const retryAfterSeconds = deps.rates.take(identity, events)
  if (retryAfterSeconds === 0) return
  countThrottled(deps.counts, identity, events)
  throw new AppError(
    'RATE_LIMIT_EXCEEDED',
    `Too many events a second for ${identity.environment}; nothing of this request was stored. Send it again unchanged.`,
    { retryAfterSeconds },
  )
}

/** Writes the events to `lines` and returns their views, with commas between them. */
function encodeAll(
  identity: ApiKeyIdentity,
  events: readonly UsageEvent[],
  scan: JsonScan,
  { now }: ParseContext,
  lines: Lines,
): string {
  const quote = quoteOf(scan)
  const createdAt = wholeSeconds(now)
  let views = ''
  lines.clear()
  for (const event of events) {
    const { idHash, contentHash, line } = encodeUsageEvent(identity, event, now, quote)
    const before = lines.length
    lines.add(line, idHash, contentHash)
    if (lines.length - before > LINE_BYTES_MAX) {
      throw new AppError('PAYLOAD_TOO_LARGE', 'One event is too large to be stored.')
    }
    const comma = views === '' ? '' : ','
    views += `${comma}${viewOf(event, idHash, createdAt, quote)}`
  }
  return views
}

/** `release` is called when the answer's bytes are not needed any more; where it is not, they are left to the collector. */
function publish(deps: IngestDeps, sender: Sender, lines: Lines, answer: Uint8Array, release: () => void): void {
  const { exchange, identity } = sender
  const { count } = lines
  const before = sparedBy(deps.publisher)
  let repeated: number | null = null
  const known: Repeat[] = []
  const look = deps.repeats.begin(lines)
  const settled: Settled = outcome => {
    if (outcome === 'acked') {
      // Settled within the call when all of them are repeats.
      deps.tenantCounts.accepted(identity, count, repeated ?? sparedBy(deps.publisher) - before)
      deps.counts.acceptedEvents += count
      deps.counts.acceptedRequests += 1
      // Few of them are looked at, so these may take a moment longer.
      if (known.length > 0 || look !== null) return answerRepeats(deps, sender, { bytes: answer, release, known, look })
      if (exchange.send({ status: 201, body: answer })) release()
      return
    }
    deps.tenantCounts.refused(identity, 'SERVICE_UNAVAILABLE')
    exchange.refuse(unavailable('The usage log did not confirm every event; send the request again unchanged.'))
  }
  const taken = deps.publisher.offer(lines, settled, (repeat, isSame) => {
    // Of one that changes nothing the answer differs in `created_at` alone.
    if (!isSame || look !== null) known.push(repeat)
  })
  repeated = sparedBy(deps.publisher) - before
  if (taken === 'full') throw unavailable('The usage log is behind; send the request again unchanged.')
}

type Repeated = {
  readonly bytes: Uint8Array
  readonly release: () => void
  /** What the publisher recognised. */
  readonly known: readonly Repeat[]
  /** What it could not. */
  readonly look: ReturnType<FindRepeats['begin']>
}

/** Answers with the events that count in the place of their repeats. One that differs is in the log as a DUPLICATE. */
function answerRepeats(deps: IngestDeps, sender: Sender, { bytes, release, known, look }: Repeated): void {
  const { exchange, identity } = sender
  guard(exchange, deps.logger, async () => {
    const found = look === null ? [] : await look()
    // The older one of a line, if two were found.
    const repeats = [...new Map([...known, ...found].map(repeat => [repeat.line, repeat])).values()]
    const stored = (partition: number, idHash: string) => deps.readEvent(partition, identity, idHash)
    const from = { read: deps.readMessage, stored, meters: deps.meters.of(identity) }
    const body = repeats.length === 0 ? bytes : await showCounting(bytes, repeats, from)
    if (exchange.send({ status: 201, body }) && body === bytes) release()
  })
}

const unavailable = (message: string): AppError =>
  new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
const RETRY_AFTER_SECONDS = 1
