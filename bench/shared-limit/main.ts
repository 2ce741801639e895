// npm run bench:shared-limit: what several gateways let pass of one platform's limit, all flooded at once and with a sender
// that moves from one to the next. Judged by the events answered 201, as the sender sees them.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../load/events.ts'
import { type Running, startModule } from '../processes.ts'
import { type Setup, setUp } from '../setup.ts'

/** Low enough that the limit is what limits, on two cores that do all the rest too. */
const LIMIT = 2_000
const BATCH = 50
const RUN_MS = 10_000
/** Left out of the rate: what a full bucket lets pass at once. */
const WARM_UP_MS = 2_000
const MOVE_MS = 2_000
const CONNECTIONS = 8

type Taken = { readonly atMs: number; readonly events: number }
type Scenario = {
  readonly name: string
  readonly gateways: number
  readonly isBusy: (gateway: number, atMs: number) => boolean
}

const scenarios: readonly Scenario[] = [
  ...[1, 2, 3].map(gateways => ({ name: `${gateways} flooded`, gateways, isBusy: () => true })),
  ...[2, 3].map(gateways => ({
    name: `${gateways}, the sender moves every ${MOVE_MS / 1000} s`,
    gateways,
    isBusy: (gateway: number, atMs: number) => Math.floor(atMs / MOVE_MS) % gateways === gateway,
  })),
]

let counter = 0
function batch(): string {
  const events = Array.from({ length: BATCH }, () => {
    counter += 1
    return {
      reference: `shared-limit-${process.pid}-${counter}`,
      customer_reference: 'acme',
      meter_reference: METER_REFERENCE,
      meter_values: VALUE_REFERENCES.map(reference => ({ reference, number: '1' })),
      meter_properties: [{ reference: PROPERTY_REFERENCE, value: 'm' }],
    }
  })
  return JSON.stringify(events)
}

async function flood(scenario: Scenario, gateway: number, { port }: Running, apiKey: string): Promise<Taken[]> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
  const startedAt = performance.now()
  const taken: Taken[] = []
  const sender = async (): Promise<void> => {
    for (;;) {
      const atMs = performance.now() - startedAt
      if (atMs > RUN_MS) return
      if (!scenario.isBusy(gateway, atMs)) {
        await sleep(10)
        continue
      }
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/v1/events/ingest-list',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: batch(),
      })
      const answer = await body.text()
      if (statusCode === 201) taken.push({ atMs: performance.now() - startedAt, events: BATCH })
      else if (statusCode === 429) await sleep(20)
      else throw new Error(`answered ${statusCode}: ${answer}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, sender))
  } finally {
    await pool.close()
  }
  return taken
}

/** The most events that passed in any stretch of time beyond what the limit lets pass in it. */
function mostBeyond(taken: readonly Taken[]): number {
  let most = 0
  let level = 0
  let last = 0
  for (const { atMs, events } of taken) {
    level = Math.max(0, level - ((atMs - last) * LIMIT) / 1000) + events
    last = atMs
    most = Math.max(most, level)
  }
  return Math.round(most)
}

async function run(setup: Setup, scenario: Scenario): Promise<Record<string, string | number>> {
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: setup.databaseUrl,
    NATS_URL: setup.natsUrl,
    INGEST_RATE_LIVE: String(LIMIT),
  }
  const gateways: Running[] = []
  try {
    while (gateways.length < scenario.gateways) gateways.push(await startModule('ingest/main', env))
    await sleep(1_000)
    const taken = (
      await Promise.all(gateways.map((gateway, index) => flood(scenario, index, gateway, setup.apiKey)))
    ).flat()
    taken.sort((a, b) => a.atMs - b.atMs)
    const settled = taken.filter(({ atMs }) => atMs > WARM_UP_MS && atMs <= RUN_MS)
    const events = settled.reduce((sum, each) => sum + each.events, 0)
    return {
      gateways: scenario.name,
      'of the limit, sustained': (events / ((RUN_MS - WARM_UP_MS) / 1000) / LIMIT).toFixed(3),
      'most at once, in seconds of the limit': (mostBeyond(taken) / LIMIT).toFixed(2),
    }
  } finally {
    for (const gateway of gateways) await gateway.stop()
  }
}

const setup = await setUp()
try {
  const rows: Record<string, string | number>[] = []
  for (const scenario of scenarios) rows.push(await run(setup, scenario))
  console.table(rows)
} finally {
  await setup.stop()
}
