// Content that is sent as it comes: its bounds, and what is left of one that breaks off.
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { instantOf } from '../../../../shared/time.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { removeAbandonedUpload } from './receive-content.ts'
import { contentHash, filesOf } from './testing/files-of.ts'

const FILE_BYTES_MAX = 6 * 1024 * 1024
let api: ApiHarness
let tenant: TestTenant
let files: Awaited<ReturnType<typeof filesOf>>
let base: string
beforeAll(async () => {
  api = await startApi({ files: { fileBytesMax: FILE_BYTES_MAX, storageBytesMax: 2 * FILE_BYTES_MAX } })
  tenant = api.tenants.aLive
  base = await api.app.listen({ port: 0, host: '127.0.0.1' })
  files = await filesOf(tenant)
})
afterAll(() => api?.close())

const put = (id: string, body: Buffer, type = 'text/csv') =>
  tenant.call('PUT', `/v1/files/${id}/content`, body, { 'content-type': type })
const chunksOf = async (id: string) =>
  await api.sql('select upload_id, length(bytes) as size from file_chunks where file_id = $1 order by number', [id])

describe('PUT /v1/files/{id}/content', () => {
  test('streams what a body of JSON could not hold, in chunks of one size', async () => {
    const file = await files.create()
    expect(file['status']).toBe('CREATED')
    const content = Buffer.alloc(5_000_000, 'reference,customer_reference\n')
    const response = await fetch(`${base}/v1/files/${file['id']}/content`, {
      method: 'PUT',
      headers: { 'x-api-key': tenant.key, 'content-type': 'text/csv; charset=utf-8' },
      body: Readable.toWeb(Readable.from(content.subarray(0), { highWaterMark: 10_000 })) as ReadableStream,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'UPLOADED', content_bytes: 5_000_000 })
    const chunks = await chunksOf(file['id'])
    expect(new Set(chunks.slice(0, -1).map(chunk => chunk['size']))).toEqual(new Set([262_144]))
    expect(await contentHash(api, tenant, file['id'])).toBe(createHash('sha256').update(content).digest('hex'))
    expect(refusal(await put(file['id'], content))).toEqual([400, 'INVALID_OPERATION', 'status'])
  })

  test('refuses what is no CSV, too much, and too much in all', async () => {
    const file = await files.create()
    expect((await put(file['id'], Buffer.from('{}'), 'application/json')).status).toBe(415)
    expect((await put('file_0000000000000000000000', Buffer.from('a'))).status).toBe(404)
    expect((await put(file['id'], Buffer.alloc(FILE_BYTES_MAX + 1))).status).toBe(413)
    // The same without a length to judge it by: it is found on the way, and nothing is left of it.
    const unannounced = await fetch(`${base}/v1/files/${file['id']}/content`, {
      method: 'PUT',
      headers: { 'x-api-key': tenant.key, 'content-type': 'text/csv' },
      body: Readable.toWeb(Readable.from(Buffer.alloc(FILE_BYTES_MAX + 1))) as ReadableStream,
      duplex: 'half',
    } as RequestInit).then(
      response => response.status,
      () => 'reset',
    )
    expect([413, 'reset']).toContain(unannounced)
    await expect.poll(() => chunksOf(file['id'])).toEqual([])
    const statuses: number[] = []
    const inTest = await filesOf(api.tenants.aTest)
    for (let each = 0; each < 3; each += 1) {
      const { id } = await inTest.create()
      const path = `/v1/files/${id}/content`
      const { status } = await api.tenants.aTest.call('PUT', path, Buffer.alloc(FILE_BYTES_MAX), {
        'content-type': 'text/csv',
      })
      statuses.push(status)
    }
    expect(statuses).toEqual([200, 200, 413])
  })

  test('one that breaks off leaves the file CREATED, to be sent again; of two the later goes on', async () => {
    const file = await files.create()
    const { port } = new URL(base) as unknown as AddressInfo
    const open = () => {
      const started = request({
        port,
        host: '127.0.0.1',
        method: 'PUT',
        path: `/v1/files/${file['id']}/content`,
        headers: { 'x-api-key': tenant.key, 'content-type': 'text/csv', 'transfer-encoding': 'chunked' },
      })
      const answered = new Promise<number | null>(resolve => {
        started.on('response', response => resolve(response.resume().statusCode ?? null))
        started.on('error', () => resolve(null))
      })
      started.write(Buffer.alloc(1_200_000, 'a'))
      return { started, answered }
    }
    const broken = open()
    await expect.poll(async () => (await chunksOf(file['id'])).length).toBeGreaterThan(0)
    broken.started.destroy()
    await expect.poll(() => chunksOf(file['id'])).toEqual([])
    const early = open()
    await expect.poll(async () => (await chunksOf(file['id'])).length).toBeGreaterThan(0)
    expect((await put(file['id'], Buffer.from('reference\n'))).status).toBe(200)
    early.started.end(Buffer.alloc(1_200_000, 'a'))
    expect(await early.answered).toBe(409)
    expect((await tenant.call('GET', `/v1/files/${file['id']}`)).body).toMatchObject({
      status: 'UPLOADED',
      content_bytes: 10,
    })
    expect(await chunksOf(file['id'])).toHaveLength(1)
  })

  test('what a process that died has left is removed after its time, and what is being sent is not', async () => {
    const file = await files.create()
    await api.sql('insert into file_chunks select platform_id, environment, id, $2, 0, $3 from files where id = $1', [
      file['id'],
      'upload',
      Buffer.from('abc'),
    ])
    await api.sql(
      "update files set upload_id = 'upload', content_bytes = 3, upload_at = '2026-01-02T00:00:00Z' where id = $1",
      [file['id']],
    )
    const remove = (before: string) =>
      inTenant(api.database, tenant.tenant, SERVICE, uow =>
        removeAbandonedUpload(uow, file['id'], instantOf(Date.parse(before))),
      )
    await remove('2026-01-02T00:00:00Z')
    expect(await chunksOf(file['id'])).toHaveLength(1)
    await remove('2026-01-02T00:00:01Z')
    expect(await chunksOf(file['id'])).toEqual([])
  })
})
