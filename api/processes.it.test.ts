// The api, its worker and the identity host as real processes, with the gateway and the aggregator beside them. What they stand on is
// behind proxies, which make it hang.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Child, freePort, startChild } from '../infra/services/child.ts'
import { nodeArgs } from '../infra/services/project.ts'
import { STOP_TIMEOUT_MS } from '../infra/start/processes.ts'
import { createPlatform } from '../shared/access/create-platform.ts'
import { createTestClickHouse, type TestClickHouse } from '../shared/testing/clickhouse.ts'
import { testLogins } from '../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../shared/testing/nats.ts'
import { createTestDatabase, type TestDatabase } from '../shared/testing/postgres.ts'
import { type ServerProxy, startServerProxy } from '../shared/testing/server-proxy.ts'
import { prepareJobSchema } from './jobs/job-schema.ts'
import type { Row } from './testing/wire.ts'

const MODULES = {
  identity: 'identity/main',
  ingest: 'ingest/main',
  aggregator: 'aggregator/main',
  worker: 'api/worker',
  api: 'api/main',
}
type Name = keyof typeof MODULES
const NAMES = Object.keys(MODULES) as Name[]

let folder: string
let testDatabase: TestDatabase
let clickhouse: TestClickHouse
let nats: TestNats
let ports: Record<Name, number>
/** Of the processes that serve the public; a worker and an aggregator have one port for everything. */
let metricsPorts: Record<Name, number>
let key: string
const proxies: ServerProxy[] = []
/** Of what the processes stand on, through the proxies. */
let urls: { readonly database: string; readonly nats: string; readonly clickhouse: string }
const children = new Map<Name, Child>()

const originOf = (name: Name): string => `http://127.0.0.1:${ports[name]}`
const isPublic = (name: Name): boolean => name !== 'worker' && name !== 'aggregator'
const metricsOf = (name: Name): string => `http://127.0.0.1:${isPublic(name) ? metricsPorts[name] : ports[name]}`

/** The logins of a process, and no others. */
function databaseOf(name: Name): NodeJS.ProcessEnv {
  const { millrace_app, millrace_gateway, millrace_identity, millrace_worker } = testLogins(urls.database)
  if (name === 'identity') return { DATABASE_URL: millrace_identity }
  if (name === 'worker') return { DATABASE_URL: millrace_worker, APP_DATABASE_URL: millrace_app }
  return name === 'api'
    ? { DATABASE_URL: millrace_app, KEYS_DATABASE_URL: millrace_gateway }
    : { DATABASE_URL: millrace_gateway }
}

async function start(name: Name): Promise<void> {
  children.set(name, await spawn(name, name))
}

/** `as` is the folder and the names of its files. */
function spawn(name: Name, as: string, more: NodeJS.ProcessEnv = {}): Promise<Child> {
  const env = {
    ...process.env,
    DATA_DIR: join(folder, as),
    PORT: String(ports[name]),
    METRICS_PORT: String(metricsPorts[name]),
    HOST: '0.0.0.0',
    LOG_LEVEL: 'info',
    ...databaseOf(name),
    NATS_URL: urls.nats,
    PARTITIONS: '2',
    DURABILITY: 'local',
    CLICKHOUSE_URL: urls.clickhouse,
    CLICKHOUSE_DATABASE: clickhouse.database,
    INGEST_URL: originOf('ingest'),
    BASE_URL: originOf('api'),
    IDENTITY_URL: originOf('identity'),
    IDENTITY_SECRET: 'a secret of the tests, long enough for them',
    DATA_SECRET: 'another secret of the tests, as long as that',
    ...more,
  }
  return startChild({
    name,
    command: process.execPath,
    args: nodeArgs(MODULES[name]),
    env,
    port: Number(env.PORT),
    pidFile: join(folder, `${as}.pid.json`),
    logFile: join(folder, `${as}.log`),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
}

const freePorts = async (): Promise<Record<Name, number>> =>
  Object.fromEntries(await Promise.all(NAMES.map(async name => [name, await freePort()]))) as Record<Name, number>

type Answered = { status: number; body: Row; text: string }
async function call(method: string, url: string, body?: unknown): Promise<Answered> {
  const response = await fetch(url, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : {} }
}

/** Sends a call to the api that must succeed. */
async function make(path: string, body: unknown, method = 'POST'): Promise<Row> {
  const answer = await call(method, `${originOf('api')}/v1/${path}`, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 45_000
  while (!(await condition().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`it did not come about: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
const becomesReady = (name: Name) =>
  until(`${name} is ready`, async () => (await fetch(`${originOf(name)}/health/ready`)).ok)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-processes-'))
  const [database, usage, log] = [await createTestDatabase(), await createTestClickHouse(), await startTestNats()]
  await prepareJobSchema(database.url)
  testDatabase = database
  clickhouse = usage
  nats = log
  const through = async (url: string): Promise<string> => {
    const proxy = await startServerProxy(url)
    proxies.push(proxy)
    return proxy.url
  }
  urls = {
    database: await through(database.url),
    nats: await through(log.url),
    clickhouse: await through(inject('clickhouseUrl')),
  }
  ports = await freePorts()
  metricsPorts = await freePorts()
  key = (await createPlatform(testDatabase.url, 'Platform')).environments.LIVE.api_key
  for (const name of NAMES) await start(name)
  for (const name of NAMES) await becomesReady(name)
})
afterAll(async () => {
  await Promise.all([...children.values()].map(child => child.kill()))
  for (const proxy of proxies) await proxy.takeAway()
  await nats.stop()
  await clickhouse.drop()
  await testDatabase.drop()
  rmSync(folder, { recursive: true })
})

test.each(NAMES)('%s is alive, ready and measured', async name => {
  for (const path of ['/health/live', '/health/ready', '/metrics'])
    expect((await fetch(metricsOf(name) + path)).status).toBe(200)
  expect(await (await fetch(`${metricsOf(name)}/metrics`)).text()).toMatch(/^process_cpu_seconds_total [0-9]/m)
})

test.each(NAMES.filter(isPublic))('%s is alive and ready on its public port, where its metrics are not', async name => {
  expect((await fetch(`${originOf(name)}/health/live`)).status).toBe(200)
  const ready = await fetch(`${originOf(name)}/health/ready`)
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }])
  expect((await fetch(`${originOf(name)}/metrics`)).status).toBe(404)
})

test.each(NAMES)('the metrics of %s are on loopback alone, though HOST is every address', async name => {
  // Any server on every address answers at the rest of 127.0.0.0/8 too; one on 127.0.0.1 does not.
  const elsewhere = metricsOf(name).replace('127.0.0.1', '127.0.0.2')
  await expect(fetch(`${elsewhere}/health/live`)).rejects.toThrow()
})

test('an aggregator that still waits for ClickHouse says so, and a signal ends it at once', async () => {
  const [PORT, nobody] = [String(await freePort()), await freePort()]
  const child = await spawn('aggregator', 'waiting', { PORT, CLICKHOUSE_URL: `http://127.0.0.1:${nobody}` })
  try {
    await until('it says what it waits for', async () => {
      const ready = await fetch(`http://127.0.0.1:${PORT}/health/ready`)
      return ready.status === 503 && (await ready.text()).includes('it waits for ClickHouse')
    })
    await child.stop()
    // Not by the end of its patience or of its grace: those are code 1.
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' })
  } finally {
    await child.kill()
  }
})

test('a key is taken by api and gateway as soon as it is made, and by neither five seconds after it was ended', async () => {
  const made = await make('api-keys', { role_type: 'ADMINISTRATOR' })
  const headers = { 'x-api-key': made['api_key'], 'content-type': 'application/json' }
  // No event at all is refused for what it is, once it is known who sends it.
  const ask = () =>
    Promise.all([
      fetch(`${originOf('api')}/v1/customers`, { headers }).then(({ status }) => status),
      fetch(`${originOf('ingest')}/v1/events/ingest`, { method: 'POST', headers, body: '{}' }).then(
        ({ status }) => status,
      ),
    ])
  expect(await ask()).toEqual([200, 400])
  await make(`api-keys/${made['id']}/revoke`, undefined)
  await expect.poll(ask, { timeout: 60_000 }).toEqual([401, 401])
})

test('an activated subscription gets its invoice from the worker, with the usage sent through the api', async () => {
  const value = await make('meter-values', { reference: 'tokens', name: 'Tokens', type: 'NUMBER', status: 'ACTIVE' })
  const meter = await make('meters', {
    reference: 'inference',
    name: 'M',
    status: 'ACTIVE',
    meter_values: [{ id: value['id'] }],
  })
  const calculation = await make('meter-value-calculations', {
    reference: 'sum',
    name: 'Sum',
    calculation_type: 'SUM',
    meter_id: meter['id'],
    meter_value_id: value['id'],
  })
  const product = await make('products', { reference: 'p', name: 'P', status: 'ACTIVE' })
  const item = await make('product-items', {
    reference: 'i',
    name: 'Tokens',
    product_id: product['id'],
    model_type: 'USAGE_BASED',
    usage_based: { meter_value_calculation_id: calculation['id'] },
    status: 'ACTIVE',
  })
  const plan = await make('pricing-plans', { reference: 'plan', name: 'Plan' })
  const version = await make('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  await make('pricings', {
    pricing_plan_version_id: version['id'],
    name: 'Tokens',
    product_ids: [product['id']],
    items: [
      {
        product_item_ids: [item['id']],
        configs: [{ pricing_type: 'FLAT', bands: [{ amount: { quantity: '0.015', currency: 'EUR' } }] }],
      },
    ],
  })
  await make(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' }, 'PATCH')
  const entity = await make('billing-entities', {
    reference: 'e',
    legal_name: 'E',
    registered_address: { country: 'NL' },
  })
  const customer = await make('customers', {
    reference: 'acme',
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { registered_address: { country: 'NL' } },
  })
  await make('events/ingest', {
    reference: 'event-1',
    customer_reference: 'acme',
    meter_reference: 'inference',
    meter_values: [{ reference: 'tokens', number: '1000' }],
  })
  const subscription = await make('pricing-plan-subscriptions', {
    customer_id: customer['id'],
    billing_entity_id: entity['id'],
    billing_currency: 'EUR',
  })
  // In this month: a start in the month before would bring a second invoice.
  const now = new Date()
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
  const start_at = new Date(Math.max(now.getTime() - 3_600_000, month)).toISOString()
  await make('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: version['id'],
    start_at,
  })
  await make(`pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' }, 'PATCH')
  const invoices = () =>
    call('GET', `${originOf('api')}/v1/invoices?pricing_plan_subscription_id=${subscription['id']}&include_lines=true`)
  await until('the invoice', async () => (await invoices()).body['data'].length === 1)
  expect((await invoices()).body['data'][0]).toMatchObject({ status: 'OPEN', customer_id: customer['id'] })
  const trail = await call(
    'GET',
    `${originOf('api')}/v1/audit-records?target_id=${subscription['id']}&order_direction=asc`,
  )
  expect(trail.body['data'].map((record: { action: string }) => record.action).slice(0, 3)).toEqual([
    'CREATED',
    'UPDATED',
    'ACTIVATED',
  ])
})

test('the api is not ready while a process it fronts is down, and says which to operators and not to the public', async () => {
  await children.get('identity')?.kill()
  await until('the api says so', async () => {
    const { status, body } = await call('GET', `${metricsOf('api')}/health/ready`)
    return status === 503 && /identity host/.test(body['reason'])
  })
  const { status, body } = await call('GET', `${originOf('api')}/health/ready`)
  expect([status, body]).toEqual([503, { status: 'not_ready' }])
  await start('identity')
  await becomesReady('api')
})

test('a worker that is killed leaves work to the next one', async () => {
  await children.get('worker')?.kill()
  const customer = await make('customers', { type: 'INDIVIDUAL' })
  await start('worker')
  await until('its change is relayed', async () => {
    const trail = await call('GET', `${originOf('api')}/v1/audit-records?target_id=${customer['id']}`)
    return trail.body['data'].length === 1
  })
})

test('identity ends in order when it is asked to', async () => {
  const child = children.get('identity')
  await child?.stop()
  expect(await child?.exited).toEqual({ code: 0, signal: null })
  await start('identity')
  await becomesReady('identity')
})

test('all that they stand on hangs: calls in progress are answered, and each process ends by itself', async () => {
  for (const proxy of proxies) proxy.hang()
  // Connections of these are kept open: they too must not hold up a process.
  const meter_values = [{ reference: 'tokens', number: '1' }]
  const event = { reference: 'event-2', customer_reference: 'acme', meter_reference: 'inference', meter_values }
  const body = JSON.stringify(event)
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answers = [
    fetch(`${originOf('api')}/v1/customers`, { headers }),
    fetch(`${originOf('api')}/v1/events`, { headers }),
    fetch(`${originOf('identity')}/.well-known/jwks.json`),
    fetch(`${originOf('ingest')}/v1/events/ingest`, { method: 'POST', headers, body }),
  ]
  // The last of them is with its process by then.
  await until('a call waits', async () => (await fetch(`${metricsOf('api')}/health/ready`)).status === 503)
  const ends = await Promise.all(
    NAMES.map(async name => {
      const child = children.get(name)
      await child?.stop()
      return [name, await child?.exited]
    }),
  )
  expect(ends).toEqual(NAMES.map(name => [name, { code: 0, signal: null }]))
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([503, 503, 503, 503])
})
