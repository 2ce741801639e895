// The news between gateways, on the broker they all have: the demand at each, several times a second, kept by nobody.
// A message that is lost is made good by the next one; a request never waits for any of this.
import type { NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../../shared/process/logger.ts'
import { type Demands, INTERVAL_MS, type ShareBook, type ShareReport, WINDOW } from './share-book.ts'

const SUBJECT = 'ingest.limits'
/** How long a gateway that starts waits for the others to answer; without an answer it is alone. */
const GREETING_MS = 150
/** How long a gateway that stops waits for the broker to have its farewell. */
const FAREWELL_MS = 500

/** `hello`: tell me what you know. `demands`: a report. `bye`: this gateway stops. */
type News = { readonly kind: 'hello' | 'demands' | 'bye'; readonly report: ShareReport }

export type ShareNews = {
  /** When we joined others, by `nowMs`; null when we were the first. */
  readonly joinedAt: number | null
  close(): Promise<void>
}

/**
 * Tells and hears the news from now on. When there are other gateways, resolves only after they have made room for us, so
 * that the shares of all never add up to more than the limit.
 */
export async function joinShareNews(options: {
  connection: NatsConnection
  /** Whether the broker is there; while it is not, nothing is sent, since the client would keep it all. */
  connected: () => boolean
  book: ShareBook
  measure: () => Demands
  gateway: string
  nowMs: () => number
  logger: Logger
}): Promise<ShareNews> {
  const { connection, connected, book, gateway } = options
  const tell = (kind: News['kind'], report: ShareReport): void => {
    if (connected()) connection.publish(SUBJECT, encodeNews({ kind, report }))
  }
  let isHeard = true
  const takeTurn = (): void => {
    const report = book.report(options.measure(), isHeard && connected())
    isHeard = connected()
    tell('demands', report)
  }
  const subscription = connection.subscribe(SUBJECT, {
    callback: (error, message) => {
      const news = error ? null : decodeNews(message.data)
      if (!news) options.logger.warn({ err: error }, 'news of the shared rate limit could not be read')
      else if (news.report.gateway === gateway) return
      else if (news.kind === 'bye') book.forget(news.report.gateway)
      else {
        book.hear(news.report)
        const last = book.lastReport()
        if (news.kind === 'hello' && last) tell('demands', last)
      }
    },
  })
  tell('hello', book.report(new Map(), true))
  const timer = setInterval(takeTurn, INTERVAL_MS)
  await sleep(GREETING_MS)
  const isAlone = book.gateways() === 1
  if (!isAlone) await sleep(WINDOW * INTERVAL_MS)
  return {
    joinedAt: isAlone ? null : options.nowMs(),
    close: async () => {
      clearInterval(timer)
      subscription.unsubscribe()
      tell('bye', { gateway, seq: 0, demands: new Map() })
      // With or without it the others notice: no gateway is silent for long. A broker that hangs never says that it has read all.
      const flushed = connected() ? connection.flush().catch(() => undefined) : null
      await Promise.race([flushed, sleep(FAREWELL_MS)])
    },
  }
}

const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** News as bytes: `[kind, gateway, seq, {tenant: demand}]`. */
export const encodeNews = ({ kind, report }: News): Uint8Array =>
  Buffer.from(JSON.stringify([kind, report.gateway, report.seq, Object.fromEntries(report.demands)]))

/** The news in `bytes`, or null when they are none: another build may share the broker. */
export function decodeNews(bytes: Uint8Array): News | null {
  try {
    const [kind, gateway, seq, demands]: unknown[] = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (kind !== 'hello' && kind !== 'demands' && kind !== 'bye') return null
    if (typeof gateway !== 'string' || typeof seq !== 'number' || !Number.isSafeInteger(seq)) return null
    if (typeof demands !== 'object' || demands === null) return null
    const entries: [string, unknown][] = Object.entries(demands)
    const isDemand = (entry: [string, unknown]): entry is [string, number] =>
      typeof entry[1] === 'number' && Number.isFinite(entry[1]) && entry[1] >= 0
    return entries.every(isDemand) ? { kind, report: { gateway, seq, demands: new Map(entries) } } : null
  } catch {
    return null // no JSON, or no list
  }
}
