import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createGatewayCaller } from './gateway-caller.ts'

let silent: Server
let pool: Pool
/** How many calls reached the server. */
let reached = 0
beforeEach(async () => {
  reached = 0
  silent = createServer(() => {
    reached += 1
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  pool = new Pool(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, { connections: 2 })
})
afterEach(async () => {
  await pool.destroy()
  silent.closeAllConnections()
  silent.close()
})

const call = (body = 'x', signal = new AbortController().signal) => ({
  path: '/v1/events/ingest',
  headers: [],
  body: Buffer.from(body),
  signal,
})
const outcomeOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'answered',
    error => error,
  )
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', details: { retryAfterSeconds: 1 } }

test('a gateway that is silent: every call is refused in time, those that wait for a connection included', async () => {
  // Without the limit undici waits five minutes for an answer, longer than this test may take.
  const callGateway = createGatewayCaller(pool, { callsMax: 100, bytesMax: 1_000, answerMs: 300 })
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcomeOf(callGateway(call()))))
  for (const outcome of outcomes) expect(outcome).toMatchObject(UNAVAILABLE)
  // A connection whose call has ended may take one more before that one's time is up; most calls never get one.
  expect(reached).toBeLessThan(50)
})

test.each([
  ['calls', { callsMax: 3, bytesMax: 1_000 }],
  ['bytes', { callsMax: 100, bytesMax: 3 }],
])(
  'beyond the bound on %s a call is refused at once, and taken again when others have ended',
  async (_name, bounds) => {
    const callGateway = createGatewayCaller(pool, { ...bounds, answerMs: 60_000 })
    const abort = new AbortController()
    const waiting = Array.from({ length: 3 }, () => outcomeOf(callGateway(call('x', abort.signal))))
    expect(await outcomeOf(callGateway(call()))).toMatchObject({
      ...UNAVAILABLE,
      message: 'Too many calls wait for the gateway; send the events again.',
    })
    abort.abort()
    await Promise.all(waiting)
    const next = new AbortController()
    const later = outcomeOf(callGateway(call('x', next.signal)))
    next.abort()
    expect(await later).toMatchObject({ message: 'The gateway does not answer; send the events again.' })
  },
)
