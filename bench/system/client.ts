// A sender as the interface asks for one: keep-alive connections, and the same request again, unchanged, for as long as it
// is not answered with 201. Everything it sends and is told goes into the ledger.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { type Ledger, type SentEvent, wireEvent } from './ledger.ts'

type Attempt =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter: string | null; readonly body: string }
  /** The connection ended, or nothing came: the sender knows nothing. */
  | { readonly kind: 'broken'; readonly message: string }

export type SenderCounts = {
  requests: number
  /** Attempts that have to be made again: by status, or `broken`. */
  readonly again: Record<string, number>
}

export type Sender = {
  readonly counts: SenderCounts
  /** One request, made again until it is answered with 201. Throws on any other refusal, and after two minutes. */
  send(events: readonly SentEvent[]): Promise<void>
  /** One request, once; noted in the ledger all the same. */
  attempt(events: readonly SentEvent[]): Promise<Attempt>
  close(): Promise<void>
}

const CONNECTIONS = 16
const ANSWER_TIMEOUT_MS = 10_000
const PATIENCE_MS = 120_000
/** Shorter than `Retry-After` asks: a test of crashes wants the pressure. */
const PAUSE_MS = 50

type SenderOptions = { readonly url: string; readonly apiKey: string; readonly ledger: Ledger }

export function createSender({ url, apiKey, ledger }: SenderOptions): Sender {
  const pool = new Pool(url, {
    connections: CONNECTIONS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  })
  const counts: SenderCounts = { requests: 0, again: {} }

  const attempt = async (events: readonly SentEvent[]): Promise<Attempt> => {
    for (const event of events) ledger.sending(event)
    const [first] = events
    const single = events.length === 1 && first !== undefined
    counts.requests += 1
    try {
      const response = await pool.request({
        method: 'POST',
        path: single ? '/v1/events/ingest' : '/v1/events/ingest-list',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(single ? wireEvent(first) : events.map(wireEvent)),
      })
      const text = await response.body.text()
      const retryAfter = response.headers['retry-after']
      const answer: Attempt = {
        kind: 'answer',
        status: response.statusCode,
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
        body: text,
      }
      if (answer.status === 201) noteAnswer(ledger, events, answer.body)
      return answer
    } catch (error) {
      if (error instanceof LedgerFault || !(error instanceof Error)) throw error
      return { kind: 'broken', message: error.message }
    }
  }
  const send = async (events: readonly SentEvent[]): Promise<void> => {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      const result = await attempt(events)
      if (result.kind === 'answer' && result.status === 201) return
      const reason = result.kind === 'broken' ? 'broken' : String(result.status)
      if (reason !== 'broken' && reason !== '503' && reason !== '429')
        throw new Error(`answered ${reason}: ${JSON.stringify(result)}`)
      if (performance.now() > deadline) throw new Error(`not accepted in two minutes: ${JSON.stringify(result)}`)
      counts.again[reason] = (counts.again[reason] ?? 0) + 1
      await sleep(PAUSE_MS)
    }
  }
  return { counts, attempt, send, close: () => pool.destroy() }
}

class LedgerFault extends Error {}

/** Every event of an accepted request is answered, in its place, with its reference and its lasting id. */
function noteAnswer(ledger: Ledger, events: readonly SentEvent[], body: string): void {
  const answers = readAnswers(body)
  if (answers.length !== events.length) throw new LedgerFault(`${events.length} events, ${answers.length} answers`)
  for (const [place, event] of events.entries()) {
    const { reference, id } = answers[place] ?? {}
    if (reference !== event.reference || typeof id !== 'string')
      throw new LedgerFault(`event ${event.reference} was answered with ${JSON.stringify(answers[place])}`)
    try {
      ledger.answered(reference, id)
    } catch (cause) {
      throw new LedgerFault(`the ledger refuses an answer: ${cause}`, { cause })
    }
  }
}

function readAnswers(body: string): { reference?: unknown; id?: unknown }[] {
  try {
    const value: unknown = JSON.parse(body)
    return (Array.isArray(value) ? value : [value]) as { reference?: unknown; id?: unknown }[]
  } catch (cause) {
    throw new LedgerFault(`a 201 with ${body.slice(0, 200)}`, { cause })
  }
}
