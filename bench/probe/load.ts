// Sends a scenario at its rate, whatever the answers take, and counts what came of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { eventMaker, type ProbeEvent, type Run, type Scenario } from './scenarios.ts'
import type { Target } from './target.ts'

export type LoadCounts = {
  accepted: number
  /** Of new references: what must be counted afterwards. */
  acceptedNew: number
  /** New references that never got a 201: nobody knows whether they are in the log. */
  unknownNew: number
  /** Answers by status; 0: none came. */
  readonly refused: Map<number, number>
  /** Answers that break a promise of the interface. */
  wrong: number
  /** Requests that were due and not sent, because too many waited for their answer. */
  notSent: number
  readonly ackMs: number[]
}
export type LoadOptions = {
  readonly target: Target
  readonly scenario: Scenario
  readonly run: Run
  readonly rate: number
  readonly seconds: number
  readonly random: () => number
}
type Answer = { readonly status: number; readonly retryAfter: number; readonly ids: readonly unknown[] }

const CONNECTIONS = 64
const WAITING_MAX = 512
const TIMEOUT_MS = 10_000
const TURN_MS = 10
const ATTEMPTS_MAX = 20
const STORES_NOTHING = 429

/** Resolves when every request was answered. */
export async function sendLoad(options: LoadOptions): Promise<LoadCounts> {
  const { target, scenario, run, rate, seconds, random } = options
  const pool = new Pool(target.ingestUrl, {
    connections: CONNECTIONS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  })
  const counts: LoadCounts = {
    accepted: 0,
    acceptedNew: 0,
    unknownNew: 0,
    refused: new Map(),
    wrong: 0,
    notSent: 0,
    ackMs: [],
  }
  const make = eventMaker(run, scenario, random)
  const waiting = new Set<Promise<void>>()
  const start = performance.now()
  let [due, last] = [0, start]
  for (let now = start; now < start + seconds * 1000; now = performance.now()) {
    due += ((now - last) / 1000) * rate * scenario.load((now - start) / 1000 / seconds)
    last = now
    while (due > 0) {
      const repeats = scenario.repeats(random)
      const batch = make(scenario.size(random))
      due -= batch.length * (1 + repeats)
      if (waiting.size >= WAITING_MAX) {
        counts.notSent += 1
        continue
      }
      const request = sendOne({ pool, target, scenario, counts }, batch, repeats)
      waiting.add(request)
      void request.finally(() => waiting.delete(request))
    }
    await sleep(TURN_MS)
  }
  await Promise.all(waiting)
  await pool.destroy()
  return counts
}

type Sending = Pick<LoadOptions, 'target' | 'scenario'> & { readonly pool: Pool; readonly counts: LoadCounts }

async function sendOne(sending: Sending, batch: readonly ProbeEvent[], repeats: number): Promise<void> {
  let first = await attempt(sending, batch, true)
  for (
    let tried = 1;
    first.status === STORES_NOTHING && sending.scenario.overLimit && tried < ATTEMPTS_MAX;
    tried += 1
  ) {
    await sleep(first.retryAfter * 1000)
    first = await attempt(sending, batch, true)
  }
  if (first.status !== 201) return
  const others = batch.map(event => ({ ...event, meter_values: [{ reference: 'k6_tokens', number: '2' }] }))
  const again = Array.from({ length: repeats }, (_, place) => attempt(sending, place % 2 === 0 ? batch : others, false))
  for (const { status, ids } of await Promise.all(again))
    if (status === 201 && ids.join() !== first.ids.join()) sending.counts.wrong += 1
}

async function attempt(
  { pool, target, counts }: Sending,
  batch: readonly ProbeEvent[],
  isNew: boolean,
): Promise<Answer> {
  const begun = performance.now()
  const answer = await post(pool, target.apiKey, batch)
  if (answer.status === 201) {
    counts.ackMs.push(performance.now() - begun)
    counts.accepted += batch.length
    if (isNew) counts.acceptedNew += batch.length
    if (answer.ids.length !== batch.length) counts.wrong += 1
    return answer
  }
  counts.refused.set(answer.status, (counts.refused.get(answer.status) ?? 0) + 1)
  const refusedForNow = answer.status === STORES_NOTHING || answer.status === 503
  if (refusedForNow && !(answer.retryAfter >= 1)) counts.wrong += 1
  if (isNew && (answer.status === 503 || answer.status === 0)) counts.unknownNew += batch.length
  return answer
}

async function post(pool: Pool, apiKey: string, batch: readonly ProbeEvent[]): Promise<Answer> {
  try {
    const response = await pool.request({
      method: 'POST',
      path: '/v1/events/ingest-list',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ meter_datas: batch }),
    })
    const body = (await response.body.json()) as { meter_datas?: { id: unknown }[] }
    const ids = (body.meter_datas ?? []).map(({ id }) => id)
    return { status: response.statusCode, retryAfter: Number(response.headers['retry-after'] ?? 0), ids }
  } catch {
    return { status: 0, retryAfter: 0, ids: [] } // Counted as an answer that did not come.
  }
}
