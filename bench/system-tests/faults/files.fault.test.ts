// A file whose worker is killed with -9 at every stage, also while it is downloaded, and an upload whose api is: the file goes on,
// and each line counts once. And a migration of subscriptions whose worker is killed.
import { randomUUID } from 'node:crypto'
import { createServer, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { selectRows } from '../../../shared/usage/clickhouse.ts'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../../load/events.ts'
import { insertMeter } from '../../setup.ts'
import { type System, startSystem } from '../../system/start-system.ts'

let system: System
/** Of the database, past every process. */
let owner: pg.Client
let apiKey: string
let meterId: string
/** Where files are downloaded from; on this machine, which the settings allow by its host and port. */
let source: Server
let sourceHost: string
let serve: (response: ServerResponse) => unknown
beforeAll(async () => {
  source = createServer((_request, response) => serve(response))
  await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
  sourceHost = `127.0.0.1:${(source.address() as AddressInfo).port}`
  system = await startSystem({
    processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'],
    env: { OUTBOUND_HOSTS: sourceHost },
  })
  apiKey = system.platforms[0].environments.LIVE.api_key
  owner = new pg.Client({ connectionString: system.databaseUrl })
  await owner.connect()
  await insertMeter(system.databaseUrl, system.platforms[0].id)
  meterId = (await call('GET', `/v1/meters/${METER_REFERENCE}`))['id']
})
afterAll(async () => {
  source?.closeAllConnections()
  source?.close()
  await owner?.end()
  await system?.stop()
})

// biome-ignore lint/suspicious/noExplicitAny: the answers of many calls.
async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${system.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer
}

const create = (prefix: string, content?: string, more: object = {}) =>
  call('POST', '/v1/files', {
    reference: `file-${prefix}`,
    file_name: 'usage.csv',
    type: 'METER_DATA',
    processing_type: 'DEFAULT',
    meter_data: { meter_id: meterId },
    ...(content === undefined ? {} : { content: Buffer.from(content).toString('base64') }),
    ...more,
  })
const download = (prefix: string) =>
  create(prefix, undefined, { download_settings: { external_location: `http://${sourceHost}/${prefix}.csv` } })

function csvOf(prefix: string, lines: number): string {
  const values = VALUE_REFERENCES.map(reference => `meter_values.${reference}.number`)
  const header = ['reference', 'customer_reference', `meter_properties.${PROPERTY_REFERENCE}`, ...values]
  const line = (at: number) => [`${prefix}-${at}`, 'acme', 'gpt', ...values.map(() => '2')].join(',')
  return [header.join(','), ...Array.from({ length: lines }, (_, at) => line(at))].join('\n')
}

/** Events of the file that count, and what they sum up to in its first value. */
async function counted(prefix: string): Promise<[number, number]> {
  const rows = await selectRows<[string, string]>(
    system.clickhouse,
    `SELECT count(), toString(sum(value_quantities[1])) FROM usage_events FINAL WHERE deleted = 0 AND startsWith(reference, {p:String})`,
    { p: `${prefix}-` },
  )
  return [Number(rows[0]?.[0]), Number(rows[0]?.[1])]
}

const LINES = 4_000
const finish = (id: string) =>
  expect
    .poll(async () => (await call('GET', `/v1/files/${id}`)).status, { timeout: 100_000, interval: 500 })
    .toBe('DONE')

test.each(['files.after-import', 'files.after-check', 'files.after-send', 'files.after-block'])(
  'the worker killed at %s: the file goes on, each line counts once and none is taken for a repeat of itself',
  async point => {
    const prefix = randomUUID()
    const dead = system.dieAt('worker', point)
    const { id } = await create(prefix, csvOf(prefix, LINES))
    await dead
    // As if its lease, of 15 seconds, were over.
    await owner.query(`update files set worked_until = now() - interval '1 second' where id = $1`, [id])
    await system.restart('worker')
    await finish(id)
    const file = await call('GET', `/v1/files/${id}`)
    expect(file.lines).toEqual({ imported: 0, done: LINES, skipped: 0, error: 0 })
    await expect.poll(() => counted(prefix)).toEqual([LINES, LINES * 2])
  },
  300_000,
)

const residentMiB = async (name: 'api' | 'worker'): Promise<number> => {
  const text = await (await fetch(`${system.metricsUrl(name)}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / 1_048_576
}

test('memory does not grow with the file: 20,000 lines of 24 MB are streamed in, and worked off', async () => {
  const prefix = randomUUID()
  const lines = 20_000
  // As long as a property may be, nearly.
  const csv = csvOf(prefix, lines).replaceAll(',gpt,', `,${'x'.repeat(990)},`)
  const { id } = await create(prefix)
  const before = { api: await residentMiB('api'), worker: await residentMiB('worker') }
  const most = { ...before }
  const look = async () => {
    for (const name of ['api', 'worker'] as const) most[name] = Math.max(most[name], await residentMiB(name))
  }
  const response = await fetch(`${system.baseUrl}/v1/files/${id}/content`, {
    method: 'PUT',
    headers: { 'x-api-key': apiKey, 'content-type': 'text/csv' },
    body: csv,
  })
  expect(response.status).toBe(200)
  await look()
  await expect
    .poll(
      async () => {
        await look()
        return (await call('GET', `/v1/files/${id}`)).status
      },
      { timeout: 120_000, interval: 500 },
    )
    .toBe('DONE')
  expect((await call('GET', `/v1/files/${id}`)).lines.done).toBe(lines)
  // What a process that has done little so far may need for its own code and its garbage, and then some.
  expect(most.api - before.api).toBeLessThan(200)
  expect(most.worker - before.worker).toBeLessThan(250)
}, 300_000)

test('the worker killed in the middle of a download: the file is asked for again, and each line counts once', async () => {
  const prefix = randomUUID()
  // More than is stored at once, so that some is stored when the worker dies.
  const lines = 20_000
  const content = Buffer.from(csvOf(prefix, lines))
  let asked = 0
  serve = response => {
    asked += 1
    response.writeHead(200, { 'content-length': content.length })
    // The first time all of it but its end, for which the worker waits.
    if (asked === 1) response.write(content.subarray(0, -100))
    else response.end(content)
  }
  const { id } = await download(prefix)
  // Some of it is stored, and stays behind.
  await expect.poll(async () => (await call('GET', `/v1/files/${id}`)).content_bytes).toBeGreaterThan(0)
  await system.kill('worker')
  expect(await call('GET', `/v1/files/${id}`)).toMatchObject({ status: 'DOWNLOADING', message: null })
  // It goes on when the lease of the dead worker has ended.
  await system.restart('worker')
  await finish(id)
  expect(asked).toBe(2)
  expect(await call('GET', `/v1/files/${id}`)).toMatchObject({
    content_bytes: content.length,
    lines: { imported: 0, done: lines, skipped: 0, error: 0 },
  })
  await expect.poll(() => counted(prefix)).toEqual([lines, 2 * lines])
}, 300_000)

test('memory does not grow with a file that is downloaded: 96 MiB', async () => {
  const prefix = randomUUID()
  const mebibyte = Buffer.alloc(1_048_576, 'not a header of any meter\n')
  serve = response => {
    // The next one when the one before is taken.
    const send = (left: number): unknown =>
      left === 0 ? response.end() : response.write(mebibyte, () => send(left - 1))
    response.writeHead(200, { 'content-length': 96 * mebibyte.length })
    send(96)
  }
  const before = await residentMiB('worker')
  let most = before
  const { id } = await download(prefix)
  const look = async () => {
    most = Math.max(most, await residentMiB('worker'))
    return await call('GET', `/v1/files/${id}`)
  }
  await expect.poll(async () => (await look()).status, { timeout: 100_000, interval: 200 }).toBe('ERROR')
  expect(await look()).toMatchObject({
    content_bytes: 96 * mebibyte.length,
    message: expect.stringContaining('column'),
  })
  expect(most - before).toBeLessThan(96)
}, 300_000)

test('the api killed in the middle of an upload: the file waits for its content, which is sent again', async () => {
  const prefix = randomUUID()
  const { id } = await create(prefix)
  const content = Buffer.from(csvOf(prefix, LINES))
  const upload = request(`${system.baseUrl}/v1/files/${id}/content`, {
    method: 'PUT',
    headers: { 'x-api-key': apiKey, 'content-type': 'text/csv' },
  })
  const broken = new Promise<void>(resolve => upload.once('error', () => resolve()))
  upload.write(Buffer.alloc(3_000_000, content))
  await expect.poll(async () => (await call('GET', `/v1/files/${id}`)).content_bytes).toBeGreaterThan(0)
  await system.kill('api')
  await broken
  await system.restart('api')
  expect((await call('GET', `/v1/files/${id}`)).status).toBe('CREATED')
  const again = await fetch(`${system.baseUrl}/v1/files/${id}/content`, {
    method: 'PUT',
    headers: { 'x-api-key': apiKey, 'content-type': 'text/csv' },
    body: content,
  })
  expect(await again.json()).toMatchObject({ status: 'UPLOADED', content_bytes: content.length })
  await finish(id)
  expect((await call('GET', `/v1/files/${id}`)).lines.done).toBe(LINES)
})

/** Subscriptions to one version of a plan, and a second version of it. */
async function onOneVersion(count: number): Promise<{ version: string; next: string; subscriptions: string[] }> {
  const name = `fault-${randomUUID()}`
  const post = async (path: string, body: object) => (await call('POST', `/v1/${path}`, body)).id
  const active = { status: 'ACTIVE' }
  const product_id = await post('products', { reference: name, name, ...active })
  const item = await post('product-items', { reference: name, name, product_id, model_type: 'RECURRING', ...active })
  const pricing_plan_id = await post('pricing-plans', { reference: name, name })
  const version = await post('pricing-plan-versions', { pricing_plan_id })
  const config = { pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: '10', currency: 'EUR' } }] }
  const items = [{ product_item_ids: [item], configs: [config] }]
  await post('pricings', { pricing_plan_version_id: version, name, product_ids: [product_id], items })
  await call('PATCH', `/v1/pricing-plan-versions/${version}`, active)
  const next = await post('pricing-plan-versions', { pricing_plan_id, copied_from_pricing_plan_version_id: version })
  await call('PATCH', `/v1/pricing-plan-versions/${next}`, active)
  const customer_id = await post('customers', { reference: name, type: 'ORGANIZATION', ...active })
  const billing_entity_id = await post('billing-entities', { reference: name, legal_name: name })
  const subscriptions: string[] = []
  while (subscriptions.length < count) {
    const body = { customer_id, billing_entity_id, billing_currency: 'EUR' }
    const pricing_plan_subscription_id = await post('pricing-plan-subscriptions', body)
    const start_at = '2026-01-01T00:00:00Z'
    await post('pricing-plan-schedules', { pricing_plan_subscription_id, pricing_plan_version_id: version, start_at })
    await call('PATCH', `/v1/pricing-plan-subscriptions/${pricing_plan_subscription_id}`, active)
    subscriptions.push(pricing_plan_subscription_id)
  }
  return { version, next, subscriptions }
}

test('the worker killed in the middle of a migration of all subscriptions of a version: each is moved, and once', async () => {
  const { version, next, subscriptions } = await onOneVersion(4)
  const to = { pricing_plan_version_id: next, type: 'IMMEDIATE' }
  const { id } = await call('POST', `/v1/pricing-plan-versions/${version}/migrate`, to)
  const read = () => call('GET', `/v1/pricing-plan-version-migrations/${id}`)
  const reaches = (status: string) =>
    expect.poll(async () => (await read()).status, { timeout: 100_000, interval: 500 }).toBe(status)
  await reaches('PREVIEWED')
  const dead = system.dieAt('worker', 'migrate.after-subscription')
  await call('POST', `/v1/pricing-plan-version-migrations/${id}/start`)
  await dead
  const { rows } = await owner.query(
    `select count(*) filter (where status = 'MOVED')::int as moved, count(*)::int as all from migrated_subscriptions where migration_id = $1`,
    [id],
  )
  expect(rows).toEqual([{ moved: 1, all: subscriptions.length }])
  // As if the lock that the queue keeps for it, of hours, were over.
  await owner.query('update graphile_worker._private_jobs set locked_at = null, locked_by = null')
  await owner.query('update graphile_worker._private_job_queues set locked_at = null, locked_by = null')
  await system.restart('worker')
  await reaches('DONE')
  expect((await read()).result).toMatchObject({ number_of_moved: subscriptions.length, number_of_failed: 0 })
  for (const subscription of subscriptions) {
    const { data } = await call('GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${subscription}`)
    const sold = data.map((row: { pricing_plan_version_id: string }) => row.pricing_plan_version_id)
    expect(sold.toSorted()).toEqual([version, next].toSorted())
  }
}, 300_000)
