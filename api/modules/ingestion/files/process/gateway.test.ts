// Sending lines: a gateway that is simulated call by call, and what is made of its answers.
import fc from 'fast-check'
import { MockAgent } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import type { LineEvent } from '../mapping/read-line.ts'
import { Gateway, GatewayAway } from './gateway.ts'

const ORIGIN = 'http://gateway.test'
type Reply = { status: number; body?: object; headers?: Record<string, string> }
const agents: MockAgent[] = []
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close()
})

function rig(answer: (references: string[], key: string) => Reply, patienceMs = 60_000) {
  const calls: string[][] = []
  const keys: boolean[] = []
  /** How long it slept each time; no time passes otherwise. */
  const pauses: number[] = []
  const agent = new MockAgent()
  agent.disableNetConnect()
  agents.push(agent)
  agent
    .get(ORIGIN)
    .intercept({ path: '/v1/events/ingest-list', method: 'POST' })
    .reply(({ body, headers }) => {
      const references = (JSON.parse(String(body)) as LineEvent[]).map(event => event.reference)
      calls.push(references)
      const key = (headers as Record<string, string>)['x-api-key'] ?? ''
      const { status, body: data = {}, headers: more = {} } = answer(references, key)
      return { statusCode: status, data, responseOptions: { headers: more } }
    })
    .persist()
  const gateway = new Gateway({
    dispatcher: agent.get(ORIGIN),
    pace: { take: async () => undefined },
    key: async renew => {
      keys.push(renew)
      return renew ? 'new' : 'first'
    },
    signal: new AbortController().signal,
    patienceMs,
    time: {
      now: () => pauses.reduce((sum, ms) => sum + ms, 0),
      sleep: async ms => void pauses.push(ms),
    },
  })
  return { gateway, calls, keys, pauses }
}

const eventOf = (reference: string): LineEvent => ({
  reference,
  customer_reference: 'acme',
  meter_id: 'm',
  timestamp: '2026-01-01T00:00:00Z',
  meter_values: [{ reference: 'tokens', number: '1' }],
  meter_properties: [{ id: 'metp_1', value: 'x' }],
})
const refused = (field: string, message = 'Wrong.', code = 'INVALID_FIELD'): Reply => ({
  status: 400,
  body: { type: 'INVALID_REQUEST', code, field, message },
})

test('of a batch with any wrong events, exactly those are refused, and every other is accepted once', async () => {
  const batch = fc.uniqueArray(fc.record({ name: fc.nat(1_000), wrong: fc.boolean() }), {
    selector: each => each.name,
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(batch, fc.integer({ min: 1, max: 12 }), async (events, limit) => {
      const wrong = new Set(events.filter(event => event.wrong).map(event => `r${event.name}`))
      const accepted: string[] = []
      const { gateway } = rig(references => {
        if (references.length > limit) return refused('', `${references.length} events`, 'INVALID_REQUEST')
        const at = references.findIndex(reference => wrong.has(reference))
        if (at >= 0) return refused(`${at}.meter_values.0.number`)
        accepted.push(...references)
        return { status: 201 }
      })
      const verdicts = await gateway.send(events.map(event => eventOf(`r${event.name}`)))
      expect(verdicts.map(verdict => verdict !== null)).toEqual(events.map(event => event.wrong))
      expect(accepted.toSorted()).toEqual(
        events
          .filter(event => !event.wrong)
          .map(event => `r${event.name}`)
          .toSorted(),
      )
    }),
    { numRuns: 60 },
  )
})

test('a limit that is lower than ours is learnt', async () => {
  const { gateway } = rig(references =>
    references.length > 7 ? refused('', 'too many', 'INVALID_REQUEST') : { status: 201 },
  )
  expect(gateway.batchMax).toBe(50)
  await gateway.send(Array.from({ length: 50 }, (_, at) => eventOf(`r${at}`)))
  expect(gateway.batchMax).toBeLessThanOrEqual(7)
  expect(gateway.batchMax).toBeGreaterThan(3)
})

describe('a refusal is told in words of the file', () => {
  test.each([
    ['0.meter_values.0.number', 'Expected a number.', 'meter_values.tokens.number: Expected a number.'],
    ['0.meter_properties.0.value', 'Not listed.', 'meter_properties.metp_1.value: Not listed.'],
    ['0.reference', 'Expected 1 to 255 characters at 0.reference.', 'Expected 1 to 255 characters at reference.'],
    ['', 'One event is too large.', 'One event is too large.'],
  ])('%s', async (field, message, expected) => {
    const { gateway } = rig(() => refused(field, message))
    expect(await gateway.send([eventOf('r')])).toEqual([expected])
  })
})

test('told to come later it comes later, as often as it must, and nothing is a verdict until then', async () => {
  const answers = [429, 503, 503, 201]
  const { gateway, calls, pauses } = rig(() => ({ status: answers.shift() ?? 500, headers: { 'retry-after': '0' } }))
  expect(await gateway.send([eventOf('r')])).toEqual([null])
  expect(calls).toHaveLength(4)
  expect(pauses).toEqual([250, 500, 1_000])
})

test('it waits as long as it is told to', async () => {
  const answers = [429, 201]
  const { gateway, pauses } = rig(() => ({ status: answers.shift() ?? 500, headers: { 'retry-after': '7' } }))
  await gateway.send([eventOf('r')])
  expect(pauses).toEqual([7_000])
})

test('a key that has ended is replaced', async () => {
  const { gateway, keys } = rig((_references, key) => ({ status: key === 'new' ? 201 : 401 }))
  expect(await gateway.send([eventOf('r')])).toEqual([null])
  expect(keys).toEqual([false, true])
})

test('a gateway that stays away ends the patience', async () => {
  const { gateway, pauses } = rig(() => ({ status: 503, body: { message: 'The usage log is behind' } }), 600)
  await expect(gateway.send([eventOf('r')])).rejects.toThrow(GatewayAway)
  expect(pauses).toEqual([250, 500])
})
