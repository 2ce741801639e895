// A file whose worker is killed with -9 at every stage, and an upload whose api is: the file goes on, and each line counts once.
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { selectRows } from '../../shared/usage/clickhouse.ts'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../load/events.ts'
import { insertMeter } from '../setup.ts'
import { type System, startSystem } from '../system/start-system.ts'

let system: System
let apiKey: string
let meterId: string
beforeAll(async () => {
  system = await startSystem({ processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'] })
  apiKey = system.platforms[0].environments.LIVE.api_key
  await insertMeter(system.databaseUrl, system.platforms[0].id)
  meterId = (await call('GET', `/v1/meters/${METER_REFERENCE}`))['id']
})
afterAll(() => system?.stop())

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

const create = (prefix: string, content?: string) =>
  call('POST', '/v1/files', {
    reference: `file-${prefix}`,
    file_name: 'usage.csv',
    type: 'METER_DATA',
    processing_type: 'DEFAULT',
    meter_data: { meter_id: meterId },
    ...(content === undefined ? {} : { content: Buffer.from(content).toString('base64') }),
  })

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
    await system.restart('worker')
    await finish(id)
    const file = await call('GET', `/v1/files/${id}`)
    expect(file.lines).toEqual({ imported: 0, done: LINES, skipped: 0, error: 0 })
    await expect.poll(() => counted(prefix), { timeout: 20_000 }).toEqual([LINES, LINES * 2])
  },
  150_000,
)

const residentMiB = async (name: 'api' | 'worker'): Promise<number> => {
  const text = await (await fetch(`${system.urlOf(name)}/metrics`)).text()
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
}, 180_000)

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
