import { expect, test } from 'vitest'
import { customersOf, eventMaker, SCENARIOS, timesOf } from './scenarios.ts'
import { findTarget } from './target.ts'

const env = { DATA_DIR: 'no-such-folder', API_KEY: 'key' }

test('load goes to this machine, and elsewhere only when somebody said so', () => {
  const local = { baseUrl: 'http://127.0.0.1:1', ingestUrl: 'http://127.0.0.1:1', apiKey: 'key' }
  expect(findTarget({ ...env, BASE_URL: 'http://127.0.0.1:1/' })).toEqual(local)
  for (const url of ['https://billing.example', 'http://127.0.0.1.example', 'http://localhost@billing.example']) {
    expect(() => findTarget({ ...env, BASE_URL: url })).toThrow(/is not this machine.*ALLOW_REMOTE=yes/)
    expect(() => findTarget({ ...env, BASE_URL: 'http://localhost:1', INGEST_URL: url })).toThrow(/ALLOW_REMOTE/)
    expect(findTarget({ ...env, BASE_URL: url, ALLOW_REMOTE: 'yes' }).baseUrl).toBe(url)
  }
  expect(() => findTarget({ DATA_DIR: 'no-such-folder' })).toThrow(/BASE_URL and API_KEY are not set/)
})

test('the events of a run are its own, within its times, and as hot as the scenario says', () => {
  const run = { name: 'r', startMs: 1_700_000_000_000 }
  let seed = 1
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const scenario = SCENARIOS['hot-customer']
  if (!scenario) throw new Error('there is no such scenario')
  const make = eventMaker(run, scenario, random)
  const events = [...make(500), ...make(500)]
  expect(new Set(events.map(({ reference }) => reference)).size).toBe(1_000)
  const { from, to } = timesOf(run)
  for (const { customer_reference, timestamp } of events) {
    expect(customersOf(run)).toContain(customer_reference)
    const second = Math.floor(Date.parse(timestamp) / 1000)
    expect(second >= from && second <= to).toBe(true)
  }
  const hot = events.filter(({ customer_reference }) => customer_reference === customersOf(run)[0]).length
  expect(hot).toBeGreaterThan(850)
  expect(hot).toBeLessThan(950)
})
