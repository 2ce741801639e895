// What an event costs, asked before it is sent, of a customer with a million events this month on ten metered lines; and how much of a
// feature that customer has left. Through the api as it ships.

import { findStaleBuckets, rollBuckets } from '../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../aggregator/rollups/roll-days.ts'
import { type ClickHouseClient, createClickHouse } from '../../shared/usage/clickhouse.ts'
import {
  type Call,
  caller,
  KINDS,
  METERS,
  makeTemplate,
  meterReference,
  PROPERTY,
  VALUES,
} from '../billing-run/platform.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import type { Costs } from '../cpu.ts'
import { COUNTER_DIGITS } from '../load/events.ts'
import type { LoadOptions, LoadResult } from '../load/generator.ts'
import { DATABASE } from '../measure/readable.ts'
import { type Running, runModule } from '../processes.ts'
import { startApi, UNLIMITED } from '../product.ts'
import { type Setup, setUp } from '../setup.ts'

const EVENTS = 1_000_000
const PARTITIONS = 4
/** A machine that other work keeps busy takes its time for the events. */
const FILL_MS = 300_000
const CLIENTS = 16
const RATE = 200
const MEASURE_MS = 8_000
const CHECKS = 2_000

export type Predictions = {
  readonly perSecond: number
  readonly p99Ms: number
  /** Microseconds of processor time a prediction, by process. */
  readonly costs: Costs
  /** Of the check of an entitlement, 99 of 100. */
  readonly checkP99Ms: number
}

/** Measures both. Prints as it goes. */
export async function costPredictions(): Promise<Predictions> {
  const setup = await setUp()
  const running: Running[] = []
  try {
    const clickhouseUrl = await setup.startClickHouse()
    running.push(await setup.startAggregator(clickhouseUrl, DATABASE))
    const api = await startApi(setup, clickhouseUrl, UNLIMITED)
    const { port } = api
    running.push(api)
    const call = caller(`http://127.0.0.1:${port}`, setup.apiKey)
    const month = new Date()
    month.setUTCDate(1)
    month.setUTCHours(0, 0, 0, 0)
    let feature = ''
    await makeTemplate(call, `${month.toISOString().slice(0, 19)}Z`, {
      schedule: async () => {
        feature = await makeFeature(call)
        return { entitlements: [{ feature_id: feature, number: '1000000000' }] }
      },
    })
    const client = createClickHouse(clickhouseUrl, DATABASE, { commandMs: FILL_MS })
    try {
      await fill(client, setup, month.getTime())
    } finally {
      await client.close()
    }
    const pids = { api: api.pid, clickhouse: setup.pids['clickhouse'] ?? 0, postgres: setup.pids['postgres'] ?? 0 }
    await predict(setup, port, {}) // what was just started compiles what it runs
    const count = countTrees(pids)
    const paced = await predict(setup, port, { eventsPerSecond: RATE })
    const milliseconds = count(paced.acceptedEvents)
    const costs = Object.fromEntries(Object.entries(milliseconds).map(([of, each]) => [of, Math.round(each * 1_000)]))
    const checkP99Ms = await check(call, feature)
    const perSecond = Math.round(paced.events / paced.seconds)
    console.log(
      `  ${perSecond} predictions/s, p50 ${paced.p50Ms.toFixed(1)} ms, p99 ${paced.p99Ms.toFixed(1)} ms, ` +
        `µs of processor each: ${JSON.stringify(costs)}; check of an entitlement p99 ${checkP99Ms.toFixed(1)} ms`,
    )
    return { perSecond, p99Ms: paced.p99Ms, costs, checkP99Ms }
  } finally {
    for (const each of running.reverse()) await each.stop()
    await setup.stop()
  }
}

/** A million events of the template's customer since the month began, rolled up as the aggregator does. */
async function fill(client: ClickHouseClient, { tenant }: Setup, start: number): Promise<void> {
  const seq = '(intDiv(n, 50) + 1)'
  const from = `(SELECT number AS n, concat('${meterReference(0).slice(0, -1)}', toString(n % ${METERS})) AS meter,
    fromUnixTimestamp64Milli(toInt64(${start} + intDiv(n * ${Date.now() - start}, ${EVENTS})), 'UTC') AS at FROM numbers(${EVENTS}))`
  const query_params = { platform: tenant.platformId, environment: tenant.environment }
  const names = VALUES.map(value => `'${value}'`).join(', ')
  for (const query of [
    `INSERT INTO usage_events SELECT lower(hex(sipHash128(n))), substring(lower(hex(sipHash128(n))), 1, 16), {platform:String},
      {environment:String}, concat('req-', toString(n)), 'template', meter, at, at, [${names}],
      [toDecimal128((n * 7919) % 1000 / 8, 12), toDecimal128(1, 12)], ['', ''],
      map('${PROPERTY}', concat('kind-', toString(n % ${KINDS}))), '', n % ${PARTITIONS}, ${seq}, n % 50, ${seq}, 0 FROM ${from}`,
    `INSERT INTO usage_bucket_marks SELECT {platform:String}, {environment:String}, 'template', meter, toStartOfHour(at) AS hour,
      n % ${PARTITIONS} AS log_partition, max(${seq}) FROM ${from} GROUP BY meter, hour, log_partition`,
  ])
    await client.command({ query, query_params })
  await rollBuckets(client, await findStaleBuckets(client, 10_000))
  await rollDays(client, await findStaleDays(client, 10_000))
}

/** A feature whose use the first line measures. */
async function makeFeature(call: Call): Promise<string> {
  const { data } = (await call('GET', 'meter-value-calculations?limit=100')) as unknown as {
    data: { id: string; reference: string }[]
  }
  const sum = data.find(({ reference }) => reference === 'line_0')
  const made = { reference: 'units', type: 'NUMBER', meter_value_calculation_id: sum?.id }
  return (await call('POST', 'features', made)).id
}

let runs = 0

async function predict({ apiKey }: Setup, port: number, pace: Partial<LoadOptions>): Promise<LoadResult> {
  runs += 1
  const run = `${process.pid}-${runs}`
  const reference = `req-${run}-${'0'.repeat(COUNTER_DIGITS)}`
  const body = JSON.stringify({
    reference,
    customer_reference: 'template',
    meter_reference: meterReference(0),
    meter_values: VALUES.map(value => ({ reference: value, number: '3' })),
    meter_properties: [{ reference: PROPERTY, value: 'kind-1' }],
  })
  const result = await runModule<LoadResult>('bench/load/generator', [
    JSON.stringify({
      port,
      path: '',
      apiKey,
      connections: CLIENTS,
      eventsPerRequest: 1,
      warmUpMs: 2_000,
      measureMs: MEASURE_MS,
      run,
      requests: [{ path: '/v1/events/calculate', body }],
      ...pace,
    } satisfies LoadOptions),
  ])
  if (Object.keys(result.others).length > 0) throw new Error(`not all answered: ${JSON.stringify(result.others)}`)
  return result
}

async function check(call: Call, feature: string): Promise<number> {
  const taken: number[] = []
  for (let each = 0; each < CHECKS; each += 1) {
    const startedAt = performance.now()
    await call('GET', `customers/template/entitlements/${feature}`)
    taken.push(performance.now() - startedAt)
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(CHECKS * 0.99)] ?? 0
}
