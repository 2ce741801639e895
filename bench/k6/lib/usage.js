// Before the load: the meter, through the interface. After it: what the interface says was counted, which is what matters.
import { sleep } from 'k6'
import http from 'k6/http'
import { Gauge } from 'k6/metrics'
import { begin, customersOf, METER, newRun, timesOf, VALUE } from './events.js'
import { baseUrl, headers } from './target.js'

export const counted = new Gauge('usage_counted')
export const countedAfter = new Gauge('usage_counted_after_s')

/** A list tells how many match up to here. */
const LIST_DEPTH = 10_000
const SETTLES_WITHIN_S = 90
const STEADY_POLLS = 3

const call = (method, path, body) => {
  const answer = http.request(method, `${baseUrl}${path}`, body && JSON.stringify(body), {
    headers,
    timeout: '60s',
    tags: { name: `${method} ${path.split('?')[0]}` },
  })
  return { status: answer.status, body: answer.body ? answer.json() : null }
}

function ensure(path, body) {
  const found = call('GET', `${path}/${body.reference}`)
  if (found.status === 200) return found.body
  const made = call('POST', path, body)
  if (made.status !== 201)
    throw new Error(`POST ${path} answers ${made.status}: ${JSON.stringify(made.body)}. The key must be allowed to make a meter, or make ${body.reference} first.`)
  return made.body
}

/** For setup: the meter of these runs, found, or made when the key may. Returns what the run's events are made from. */
export function ensureMeter() {
  begin()
  const value = ensure('/v1/meter-values', { reference: VALUE, name: 'k6 tokens', type: 'NUMBER', status: 'ACTIVE' })
  ensure('/v1/meters', {
    reference: METER,
    name: 'k6 requests',
    status: 'ACTIVE',
    meter_values: [{ id: value.id, required: true }],
  })
  // A gateway knows a new meter within a second.
  sleep(1)
  return newRun()
}

const stamp = seconds => new Date(seconds * 1000).toISOString()

/**
 * How many events of a customer count, over halves of the time where there are more than a list tells. The range of a list
 * holds its last second whole.
 */
function countOf(customer, from, to) {
  const range = encodeURIComponent(`[${stamp(from)},${stamp(to)}]`)
  const { status, body } = call('GET', `/v1/events?customer_id=${customer}&timestamp=${range}&limit=1&deleted=false`)
  if (status !== 200) throw new Error(`GET /v1/events answers ${status}: ${JSON.stringify(body)}`)
  const found = body.data.length === 0 ? 0 : body.total_number_of_pages
  if (found < LIST_DEPTH) return found - duplicatesOf(customer, range)
  const middle = Math.floor((from + to) / 2)
  return countOf(customer, from, middle) + countOf(customer, middle + 1, to)
}

function duplicatesOf(customer, range) {
  const { body } = call(
    'GET',
    `/v1/events?customer_id=${customer}&timestamp=${range}&limit=1&deleted=false&processed_details_type=DUPLICATE`,
  )
  return body.data.length === 0 ? 0 : body.total_number_of_pages
}

function total(data) {
  const { from, to } = timesOf(data)
  return customersOf(data).reduce((sum, customer) => sum + countOf(customer, from, to), 0)
}

/** For teardown: waits until the count stands still, and notes it. */
export function countUsage(data) {
  const begun = Date.now()
  let [last, steady] = [-1, 0]
  while (steady < STEADY_POLLS && Date.now() - begun < SETTLES_WITHIN_S * 1000) {
    const now = total(data)
    steady = now === last ? steady + 1 : 0
    if (now !== last) countedAfter.add((Date.now() - begun) / 1000)
    last = now
    sleep(1)
  }
  counted.add(last)
}
