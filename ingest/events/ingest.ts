// The ingest paths, in order: who sends, the body, what it says, the rate, the log, the answer. Everything up to the log is
// one synchronous run when the key and the meter are in memory; nothing is stored unless all of it is right.
import type { ApiKeyIdentity, LiveKeys } from '../../shared/access/live-keys.ts'
import { MESSAGE_BYTES_MAX } from '../../shared/contracts/streams.ts'
import { partitionOf } from '../../shared/contracts/usage-event.ts'
import { AppError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/logger.ts'
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
import { encodeUsageEvent, viewOf, wholeSeconds } from './encode.ts'
import type { LiveMeters } from './live-meters.ts'
import { type ParseContext, parseBatch, parseSingle, type UsageEvent } from './parse.ts'
import type { PublishEvent, Publisher } from './publish.ts'
import { checkQuery } from './query.ts'
import { quoteOf } from './quote.ts'
import { createTimestampReader } from './timestamp.ts'

export type IngestDeps = {
  readonly keys: LiveKeys
  readonly meters: LiveMeters
  readonly limits: LiveLimits
  readonly rates: RateLimits
  readonly publisher: Publisher
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
  readonly counts: IngestCounts
  readonly partitions: number
}

/** What the answer looks like: one event, a list, or a list in an object. */
type Form = 'single' | 'list'
type Body = { readonly value: unknown; readonly scan: JsonScan }
/** A line must fit a message beside the version. */
const LINE_BYTES_MAX = MESSAGE_BYTES_MAX - 16

/** The handler of one of the ingest paths. */
export function ingestHandler(deps: IngestDeps, form: Form): Handler {
  const readTimestamp = createTimestampReader()

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
    const { lines, views, ascii } = encodeAll(deps, identity, parsed.events, body.scan, context)
    const answer = form === 'single' ? views : parsed.wrapped ? `{"meter_datas":[${views}]}` : `[${views}]`
    // Bytes, because the answer waits for the ack: long-lived text costs more than everything that made it.
    publish(deps, exchange, lines, Buffer.from(answer, ascii ? 'latin1' : 'utf8'))
    return undefined
  }

  return (exchange, req) => {
    const head = readHead(req)
    checkQuery(head.query)
    const identity = authenticate(deps.keys, head)
    deps.bodies.read(exchange, head.contentLength, buffer =>
      guard(exchange, deps.logger, () => {
        const body = parseJson(buffer)
        if (!(identity instanceof Promise)) return accept(exchange, identity, body, false)
        return identity.then(found => accept(exchange, found, body, false))
      }),
    )
    // Its refusal is answered as soon as it is known, whether or not the body ever comes.
    return identity instanceof Promise ? identity.then(() => undefined) : undefined
  }
}

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

function encodeAll(
  deps: IngestDeps,
  identity: ApiKeyIdentity,
  events: readonly UsageEvent[],
  scan: JsonScan,
  { now }: ParseContext,
): { lines: PublishEvent[]; views: string; ascii: boolean } {
  const quote = quoteOf(scan)
  const createdAt = wholeSeconds(now)
  const lines: PublishEvent[] = []
  let views = ''
  let ascii = true
  for (const event of events) {
    const { idHash, contentHash, line } = encodeUsageEvent(identity, event, now, quote)
    const plain = scan.plain && event.meter.plain
    const bytes = plain ? line.length : Buffer.byteLength(line)
    ascii &&= plain
    if (bytes > LINE_BYTES_MAX) throw new AppError('PAYLOAD_TOO_LARGE', 'One event is too large to be stored.')
    lines.push({ partition: partitionOf(idHash, deps.partitions), idHash, contentHash, line, bytes })
    views += views === '' ? viewOf(event, idHash, createdAt, quote) : `,${viewOf(event, idHash, createdAt, quote)}`
  }
  return { lines, views, ascii }
}

function publish(deps: IngestDeps, exchange: Exchange, lines: readonly PublishEvent[], answer: Buffer): void {
  const taken = deps.publisher.offer(lines, outcome => {
    if (outcome === 'acked') {
      deps.counts.acceptedEvents += lines.length
      deps.counts.acceptedRequests += 1
      exchange.send({ status: 201, body: answer })
      return
    }
    exchange.refuse(unavailable('The usage log did not confirm every event; send the request again unchanged.'))
  })
  if (taken === 'full') throw unavailable('The usage log is behind; send the request again unchanged.')
}

const unavailable = (message: string): AppError =>
  new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
const RETRY_AFTER_SECONDS = 1
