// Events nobody sent before, and how they are sent and what came of it is counted.
import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'
import { headers, ingestUrl } from './target.js'

export const METER = 'k6_requests'
export const VALUE = 'k6_tokens'

export const accepted = new Counter('events_accepted')
/** Of new references only: what must be counted afterwards. */
export const acceptedNew = new Counter('events_accepted_new')
/** New references whose request got no 201: nobody knows whether they are in the log. */
export const unknownNew = new Counter('events_unknown_new')
export const refused = new Counter('requests_refused')
export const throttled = new Counter('requests_throttled')
export const unavailable = new Counter('requests_unavailable')
export const broken = new Counter('requests_broken')
/** Answers that break a promise of the interface. */
export const wrong = new Counter('answers_wrong')
export const ackMs = new Trend('ack_ms', true)

const DAY_MS = 86_400_000
const CUSTOMERS = 20
let made = 0

/** What makes the events of a run its own: made once, in setup, because every user of k6 runs this file for itself. */
export const newRun = () => ({ run: Date.now().toString(36), startMs: Date.now() - 2 * DAY_MS })
export const customersOf = ({ run }) => Array.from({ length: CUSTOMERS + 1 }, (_, place) => `k6-${run}-${place}`)
/** Every timestamp of the run lies in the seconds from the first to the last. */
export const timesOf = ({ startMs }) => ({ from: Math.floor(startMs / 1000), to: Math.floor((startMs + DAY_MS) / 1000) })

/** New events; `hot` of every hundred are of the first customer. */
export function events({ run, startMs }, count, hot = 0) {
  return Array.from({ length: count }, () => {
    made += 1
    return {
      reference: `k6-${run}-${__VU}-${made}`,
      meter_reference: METER,
      customer_reference: `k6-${run}-${Math.random() * 100 < hot ? 0 : 1 + Math.floor(Math.random() * CUSTOMERS)}`,
      timestamp: new Date(startMs + Math.floor(Math.random() * DAY_MS)).toISOString(),
      meter_values: [{ reference: VALUE, number: '1' }],
    }
  })
}

/** Sends a batch once. `isNew`: none of it was sent before. Returns the answer. */
export function send(batch, isNew = true) {
  const answer = http.post(`${ingestUrl}/v1/events/ingest-list`, JSON.stringify({ meter_datas: batch }), {
    headers,
    timeout: '10s',
    tags: { name: 'ingest-list' },
  })
  note(answer, batch, isNew)
  return answer
}

/** Counts what came of a request. */
export function note(answer, batch, isNew) {
  if (answer.status === 201) {
    accepted.add(batch.length)
    ackMs.add(answer.timings.duration)
    if (isNew) acceptedNew.add(batch.length)
    if (answer.json('meter_datas.#') !== batch.length) wrong.add(1)
    return
  }
  // 429 and other refusals store nothing; after 503 or silence nobody knows, and the sender sends again.
  if (answer.status === 429) throttled.add(1)
  else if (answer.status === 503) unavailable.add(1)
  else if (answer.status === 0) broken.add(1)
  else refused.add(1)
  if (isNew && (answer.status === 503 || answer.status === 0)) unknownNew.add(batch.length)
  if ((answer.status === 429 || answer.status === 503) && !(Number(answer.headers['Retry-After']) >= 1)) wrong.add(1)
}

/** Counters that thresholds ask for exist from the start, also when nothing is added to them. */
export function begin() {
  for (const counter of [accepted, acceptedNew, unknownNew, refused, throttled, unavailable, broken, wrong]) counter.add(0)
}
