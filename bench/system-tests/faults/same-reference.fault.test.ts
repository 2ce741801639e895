// One reference in many requests at once with content that differs, and the whole log replayed: the first copy in the
// order of the log counts, for ever.
import { jetstream } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamSubject } from '../../../shared/contracts/streams.ts'
import { brokerAddress } from '../../../shared/log/address.ts'
import { selectRows } from '../../../shared/usage/clickhouse.ts'
import { type IngestSystem, startIngestSystem } from '../../system/ingest-system.ts'
import { contentOf, type SentEvent, wireEvent } from '../../system/ledger.ts'
import { startLoad } from '../../system/load.ts'
import { randomFrom, runSeed } from '../../system/random.ts'
import { readLog, recordsOf } from '../../system/read-log.ts'
import { settle } from '../../system/reconcile.ts'

const COPIES = 1_000
const seed = runSeed()
let world: IngestSystem
beforeAll(async () => {
  console.log(`FAULT_SEED=${seed}`)
  world = await startIngestSystem()
})
afterAll(() => world?.stop())

/** Copies of one reference that agree in nothing else: other months and years, customers, values and models. */
const copyOf = (reference: string, place: number): SentEvent => ({
  reference,
  customer: `customer-${place % 5}`,
  timestampMs: Date.UTC(2024 + (place % 3), place % 9, 1 + (place % 28), place % 24),
  quantities: [String(place), `${place}.5`],
  model: `model-${place}`,
})

async function sendAtOnce(events: readonly SentEvent[]): Promise<string[]> {
  const pool = new Pool(world.system.ingestUrl, { connections: events.length })
  try {
    return await Promise.all(
      events.map(async event => {
        const { statusCode, body } = await pool.request({
          method: 'POST',
          path: '/v1/events/ingest',
          headers: { 'x-api-key': world.apiKey, 'content-type': 'application/json' },
          body: JSON.stringify(wireEvent(event)),
        })
        return `${statusCode} ${((await body.json()) as { id?: string }).id}`
      }),
    )
  } finally {
    await pool.close()
  }
}

async function countedAs(reference: string): Promise<string[]> {
  const rows = await selectRows<[string, string, [string, string], Record<string, string>]>(
    world.system.clickhouse,
    `SELECT customer_key, toUnixTimestamp64Milli(timestamp), value_quantities, properties FROM usage_events FINAL
     WHERE reference = {reference:String} AND deleted = 0`,
    { reference },
  )
  return rows.map(([customer, timestampMs, quantities, { model = '' }]) =>
    contentOf({ reference, customer, timestampMs: Number(timestampMs), quantities, model }),
  )
}

test('one reference 1,000 times at once, with other months and values: every answer has the same id, the first of the log counts, the others are kept as duplicates', async () => {
  const reference = 'the-same'
  const copies = Array.from({ length: COPIES }, (_, place) => copyOf(reference, place))
  const answers = new Set(await sendAtOnce(copies))
  expect([...answers]).toEqual([expect.stringMatching(/^201 meda_[0-9a-f]{32}$/)])
  await settle(world.system)
  const [first, ...others] = recordsOf(await readLog(world.system), reference)
  expect(others).toHaveLength(COPIES - 1)
  const winner = copies.find(copy => copy.model === first?.properties['model'])
  expect(await countedAs(reference)).toEqual([winner && contentOf(winner)])
  const duplicates = await selectRows<[string, string]>(
    world.system.clickhouse,
    'SELECT count(), sum(content_differs) FROM usage_duplicates FINAL WHERE reference = {reference:String}',
    { reference },
  )
  expect(duplicates).toEqual([[String(COPIES - 1), String(COPIES - 1)]])
  // Later copies, other content again, through a gateway and an aggregator that were started anew.
  await world.system.restart('ingest')
  await world.system.restart('aggregator')
  expect(new Set(await sendAtOnce(copies.map((_, place) => copyOf(reference, place + COPIES))))).toEqual(answers)
  await settle(world.system)
  expect(await countedAs(reference)).toEqual([winner && contentOf(winner)])
})

test('every message of the log replayed, in another order: no sum changes', async () => {
  const { system, sender } = world
  // Kept out of the sums of the run: its customers are not the load's, and it was sent past the ledger.
  const before = new Set((await readLog(system)).map(({ body }) => body))
  const load = startLoad({ sender, random: randomFrom(seed), run: 'replayed' })
  await load.accepted(150)
  await load.stop()
  await settle(system)
  const counted = await allRows()
  const messages = (await readLog(system)).filter(({ body }) => !before.has(body))
  const nats = await connect(brokerAddress(system.natsUrl))
  // Without a message id the broker takes them for new, as it takes any message once its window has passed.
  for (const { partition, body } of messages.toReversed()) await jetstream(nats).publish(streamSubject(partition), body)
  await nats.close()
  await settle(system)
  expect(messages.length).toBeGreaterThan(20)
  expect(await allRows()).toEqual(counted)
  // The index of who was first is a cache: without it, it is made again from what is counted.
  await system.kill('aggregator')
  system.removeIndex()
  await system.restart('aggregator')
  await world.resendEverything()
  await settle(system)
  expect(await allRows()).toEqual(counted)
})

const allRows = () =>
  selectRows(
    world.system.clickhouse,
    `SELECT reference, customer_key, timestamp, value_references, value_quantities, properties, log_partition, log_seq, log_line
     FROM usage_events FINAL WHERE deleted = 0 ORDER BY reference`,
  )
