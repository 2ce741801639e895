// Every batch of 20 is sent, and then again up to five times at once, half of the repeats with other values: a client that
// times out too early. Every repeat is answered 201 with the same ids, and counts nothing.
import http from 'k6/http'
import { constantRate } from './lib/constant-rate.js'
import { events, note, send, wrong } from './lib/events.js'
import { summary } from './lib/summary.js'
import { headers, ingestUrl } from './lib/target.js'
import { countUsage, ensureMeter } from './lib/usage.js'

const BATCH = 20
const REPEATS_MAX = 5
const meanSends = 1 + (1 + REPEATS_MAX) / 2

export const options = constantRate(BATCH * meanSends)

const idsOf = answer => JSON.stringify(answer.json('meter_datas.#.id'))

export const setup = ensureMeter
export const teardown = countUsage
export const handleSummary = summary('resend storm')
export default function (data) {
  const batch = events(data, BATCH)
  const first = send(batch)
  if (first.status !== 201) return
  const other = batch.map(event => ({ ...event, meter_values: [{ ...event.meter_values[0], number: '2' }] }))
  const repeats = Array.from({ length: 1 + Math.floor(Math.random() * REPEATS_MAX) }, (_, place) => ({
    method: 'POST',
    url: `${ingestUrl}/v1/events/ingest-list`,
    body: JSON.stringify({ meter_datas: place % 2 === 0 ? batch : other }),
    params: { headers, timeout: '10s', tags: { name: 'ingest-list' } },
  }))
  for (const answer of http.batch(repeats)) {
    note(answer, batch, false)
    if (answer.status === 201 && idsOf(answer) !== idsOf(first)) wrong.add(1)
  }
}
