// The calls on files and file processing settings. What becomes of their lines is tested where the gateway is, in bench/system-tests/files.
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, readTenant } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { instantOf } from '../../../../shared/time.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { fileProcessingSettingsResource } from '../file-processing-settings/file-processing-settings.ts'
import { streamContent } from './content.ts'
import { removeAbandonedUpload } from './receive-content.ts'
import { INLINE_BYTES_MAX } from './upload.ts'

let api: ApiHarness
let tenant: TestTenant
let base: string
let meterId: string
const FILE_BYTES_MAX = 8 * 1024 * 1024
beforeAll(async () => {
  api = await startApi({ files: { fileBytesMax: FILE_BYTES_MAX, storageBytesMax: 40 * 1024 * 1024 } })
  tenant = api.tenants.aLive
  base = await api.app.listen({ port: 0, host: '127.0.0.1' })
  meterId = (await tenant.seed.make(meterResource))['id']
})
afterAll(() => api?.close())

const bodyOf = (more: object = {}) => ({
  reference: tenant.seed.unique('file'),
  file_name: 'usage.csv',
  type: 'METER_DATA',
  processing_type: 'DEFAULT',
  meter_data: { meter_id: meterId },
  ...more,
})
const base64 = (text: string) => Buffer.from(text).toString('base64')
const create = async (more: object = {}) => {
  const { status, body } = await tenant.call('POST', '/v1/files', bodyOf(more))
  expect(status).toBe(201)
  return body
}
const put = (id: string, body: Buffer, type = 'text/csv') =>
  tenant.call('PUT', `/v1/files/${id}/content`, body, { 'content-type': type })
const chunksOf = async (id: string) =>
  await api.sql('select upload_id, length(bytes) as size from file_chunks where file_id = $1 order by number', [id])
const contentHash = async (id: string) => {
  const [file] = await api.sql('select upload_id from files where id = $1', [id])
  const hash = createHash('sha256')
  const key = { fileId: idOf('file', id), uploadId: file?.['upload_id'] }
  for await (const bytes of streamContent(api.database, tenant.tenant, key, 0)) hash.update(bytes)
  return hash.digest('hex')
}

describe('POST /v1/files', () => {
  test('with content it is UPLOADED, and the content is not sent back', async () => {
    const file = await create({ content: base64('reference,customer_reference\n') })
    expect(file).toMatchObject({
      object_type: 'FILE',
      status: 'UPLOADED',
      content_type: 'text/csv',
      content_bytes: 29,
      lines: { imported: 0, done: 0, skipped: 0, error: 0 },
    })
    expect(file).not.toHaveProperty('content')
    expect(await contentHash(file['id'])).toBe(
      createHash('sha256').update('reference,customer_reference\n').digest('hex'),
    )
  })

  test.each([
    ['CUSTOM', { processing_type: 'CUSTOM' }, 'processing_type'],
    ['DEFAULT without a meter', { meter_data: null }, 'meter_data.meter_id'],
    ['DEFAULT with settings', { file_processing_settings_id: 'made' }, 'file_processing_settings_id'],
    ['SETTINGS without settings', { processing_type: 'SETTINGS', meter_data: null }, 'file_processing_settings_id'],
    [
      'SETTINGS with a meter',
      { processing_type: 'SETTINGS', file_processing_settings_id: 'made' },
      'meter_data.meter_id',
    ],
    [
      'a download from this machine',
      { download_settings: { external_location: 'https://127.0.0.1/' } },
      'download_settings.external_location',
    ],
    [
      'a download and content',
      { download_settings: { external_location: 'https://files.example.com/' }, content: 'QUJD' },
      'download_settings',
    ],
    [
      'a download with a secret of its own',
      { download_settings: { external_location: 'https://files.example.com/', token: 'x' } },
      'download_settings.token',
    ],
    ['no base64', { content: 'a,b' }, 'content'],
    ['base64 with line ends', { content: `${'QUJD'.repeat(4)}\n${'QUJD'}` }, 'content'],
    ['a path as a name', { file_name: '../usage.csv' }, 'file_name'],
    ['another type', { content_type: 'text/html' }, 'content_type'],
    ['a status', { status: 'DONE' }, 'status'],
  ])('refuses %s by name', async (_name, more, field) => {
    const made = await tenant.seed.make(fileProcessingSettingsResource)
    const body = JSON.parse(JSON.stringify(bodyOf(more)).replaceAll('"made"', `"${made['id']}"`))
    expect(refusal(await tenant.call('POST', '/v1/files', body))).toEqual([400, 'INVALID_FIELD', field])
  })

  test('a reference is used once, and a meter, customer or settings must exist', async () => {
    const file = await create()
    const again = await tenant.call('POST', '/v1/files', bodyOf({ reference: file['reference'] }))
    expect(again.status).toBe(409)
    const foreign = await api.tenants.bLive.seed.make(meterResource)
    const body = bodyOf({ meter_data: { meter_id: foreign['id'] } })
    expect(refusal(await tenant.call('POST', '/v1/files', body))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'meter_data.meter_id',
    ])
  })

  test('content of up to 16 MiB fits a body, but only for a caller who is known; more is to be streamed', async () => {
    const large = base64('x'.repeat(2 * 1024 * 1024))
    expect((await tenant.call('POST', '/v1/files', bodyOf({ content: large }))).status).toBe(201)
    const unknown = await api.app.inject({
      method: 'POST',
      url: '/v1/files',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(bodyOf({ content: large })),
    })
    expect(unknown.statusCode).toBe(401)
    const [tooMuch] = [base64('x'.repeat(INLINE_BYTES_MAX + 1))]
    const answer = await tenant.call('POST', '/v1/files', bodyOf({ content: tooMuch }))
    expect(refusal(answer)).toEqual([413, 'PAYLOAD_TOO_LARGE', 'content'])
    expect(answer.body['message']).toContain('PUT the CSV')
  })
})

describe('PUT /v1/files/{id}/content', () => {
  test('streams what a body of JSON could not hold, in chunks of one size', async () => {
    const file = await create()
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
    expect(await contentHash(file['id'])).toBe(createHash('sha256').update(content).digest('hex'))
    expect(refusal(await put(file['id'], content))).toEqual([400, 'INVALID_OPERATION', 'status'])
  })

  test('refuses what is no CSV, too much, and too much in all', async () => {
    const file = await create()
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
    for (let each = 0; each < 6; each += 1) {
      const { id } = (
        await api.tenants.aTest.call('POST', '/v1/files', {
          ...bodyOf(),
          meter_data: { meter_id: (await api.tenants.aTest.seed.make(meterResource))['id'] },
        })
      ).body
      const path = `/v1/files/${id}/content`
      const { status } = await api.tenants.aTest.call('PUT', path, Buffer.alloc(FILE_BYTES_MAX), {
        'content-type': 'text/csv',
      })
      statuses.push(status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 413])
  })

  test('one that breaks off leaves the file CREATED, to be sent again; of two the later goes on', async () => {
    const file = await create()
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
    const file = await create()
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
      inTenant(api.database, tenant.tenant, { id: null, requestId: null }, uow =>
        removeAbandonedUpload(uow, file['id'], instantOf(Date.parse(before))),
      )
    await remove('2026-01-02T00:00:00Z')
    expect(await chunksOf(file['id'])).toHaveLength(1)
    await remove('2026-01-02T00:00:01Z')
    expect(await chunksOf(file['id'])).toEqual([])
  })
})

describe('reading and changing', () => {
  test('files are listed by several statuses, not by the single one, and found by reference', async () => {
    const created = await create()
    const uploaded = await create({ content: base64('a') })
    const list = async (query: string) =>
      (await tenant.call('GET', `/v1/files?limit=100&${query}`)).body['data'].map((file: { id: string }) => file.id)
    expect(await list('statuses[]=CREATED&statuses[]=DONE')).toContain(created['id'])
    expect(await list('statuses[]=CREATED&statuses[]=DONE')).not.toContain(uploaded['id'])
    expect(await list('statuses[]=CREATED&statuses[]=UPLOADED')).toEqual(
      expect.arrayContaining([created['id'], uploaded['id']]),
    )
    expect(refusal(await tenant.call('GET', '/v1/files?status=CREATED'))).toEqual([400, 'INVALID_FIELD', 'status'])
    expect(refusal(await tenant.call('GET', '/v1/files?statuses[]=LOST')).slice(0, 2)).toEqual([400, 'INVALID_FIELD'])
    expect((await tenant.call('GET', `/v1/files/${created['reference']}`)).body['id']).toBe(created['id'])
  })

  test('a PATCH changes name and description and nothing else', async () => {
    const file = await create()
    const path = `/v1/files/${file['id']}`
    const { body } = await tenant.call('PATCH', path, { name: 'May', description: 'All of it' })
    expect(body).toMatchObject({ name: 'May', description: 'All of it', reference: file['reference'] })
    for (const field of ['reference', 'file_name', 'status', 'meter_data', 'content', 'customer_id']) {
      expect(refusal(await tenant.call('PATCH', path, { [field]: 'x' }))).toEqual([400, 'INVALID_FIELD', field])
    }
  })

  test('the header of a meter is CSV, also where a reference needs quotes', async () => {
    const reference = `${tenant.seed.unique('v')},"x"`
    const value = await tenant.call('POST', '/v1/meter-values', { reference, name: 'n', type: 'NUMBER' })
    const body = { reference: tenant.seed.unique('m'), meter_values: [{ id: value.body['id'] }] }
    const meter = await tenant.call('POST', '/v1/meters', body)
    const answer = await tenant.call('GET', `/v1/meters/${meter.body['id']}/meter-data-file`)
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
    const column = `"meter_values.${reference.replaceAll('"', '""')}.number"`
    expect(answer.body['text']).toBe(`reference,customer_reference,timestamp,${column}\n`)
  })
})

describe('GET /v1/files/{id}/lines', () => {
  // Blocks as the worker leaves them: three lines, three lines and one.
  async function withLines() {
    const text = 'h1,h2\na,1\nb,2\n"c\n",3\nd,4\ne,5\nf,6\ng,7'
    const file = await create({ content: base64(text) })
    const insert = (values: unknown[]) =>
      api.sql(
        `insert into file_line_blocks (platform_id, environment, file_id, number, first_line, lines, byte_start, byte_end, statuses,
           messages, imported, done, skipped, error) values ($1, 'LIVE', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        [tenant.tenant.platformId, file['id'], ...values],
      )
    await insert([0, 1, 3, 6, 21, 'DSE', { 1: 'known', 2: 'wrong' }, 0, 1, 1, 1])
    await insert([1, 4, 3, 21, 33, 'DDE', { 2: 'bad' }, 0, 2, 0, 1])
    await insert([2, 7, 1, 33, 36, 'I', {}, 1, 0, 0, 0])
    await api.sql(
      'update files set lines_imported = 1, lines_done = 3, lines_skipped = 1, lines_error = 2 where id = $1',
      [file['id']],
    )
    return file['id']
  }
  const lines = async (id: string, query: string) => {
    const { status, body } = await tenant.call('GET', `/v1/files/${id}/lines?${query}`)
    expect(status).toBe(200)
    return body
  }
  const numbers = async (id: string, query: string) =>
    (await lines(id, query))['data'].map((line: { line_item_number: number }) => line.line_item_number)

  test('each line with its text, status and message; several statuses, and the deprecated single one', async () => {
    const id = await withLines()
    expect((await lines(id, 'limit=3'))['data']).toEqual([
      { file_id: id, line_item_number: 1, data: 'a,1', status: 'DONE', message: null },
      { file_id: id, line_item_number: 2, data: 'b,2', status: 'SKIPPED', message: 'known' },
      { file_id: id, line_item_number: 3, data: '"c\n",3', status: 'ERROR', message: 'wrong' },
    ])
    expect(await numbers(id, '')).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(await numbers(id, 'statuses[]=ERROR&statuses[]=SKIPPED&statuses[]=ERROR')).toEqual([2, 3, 6])
    expect(await numbers(id, 'statuses[]=IMPORTED')).toEqual([7])
    expect(await numbers(id, 'status=DONE')).toEqual([1, 4, 5])
    const both = await tenant.call('GET', `/v1/files/${id}/lines?status=DONE&statuses[]=ERROR`)
    expect(refusal(both)).toEqual([400, 'INVALID_FIELD', 'status'])
    expect((await tenant.call('GET', `/v1/files/${id}/lines?statuses[]=LOST`)).status).toBe(400)
  })

  test('pages of any size show every line once, in order, with a true number of pages', async () => {
    const id = await withLines()
    const cases = [
      ['', [1, 2, 3, 4, 5, 6, 7]],
      ['statuses[]=DONE', [1, 4, 5]],
      ['statuses[]=DONE&statuses[]=IMPORTED', [1, 4, 5, 7]],
    ] as const
    for (const [query, expected] of cases) {
      for (let limit = 1; limit <= 8; limit += 1) {
        const pages = Math.max(1, Math.ceil(expected.length / limit))
        const found: number[] = []
        for (let page = 1; page <= pages + 1; page += 1) {
          expect((await lines(id, `${query}&limit=${limit}&page=${page}`))['total_number_of_pages']).toBe(pages)
          found.push(...(await numbers(id, `${query}&limit=${limit}&page=${page}`)))
        }
        expect(found).toEqual(expected)
      }
    }
    expect((await lines(id, 'limit=2&statuses[]=DONE'))['links'].next).toContain('statuses%5B%5D=DONE')
  })

  test('cursors lead through every line once, both ways, also past lines whose status changes meanwhile', async () => {
    const id = await withLines()
    const through = async (query: string, way: 'next' | 'previous') => {
      const found: number[][] = []
      for (let url: string | null = `/v1/files/${id}/lines?${query}`; url !== null; ) {
        const { body } = await tenant.call('GET', url)
        found.push(body['data'].map((line: { line_item_number: number }) => line.line_item_number))
        expect(body['has_more']).toBe(body['links'][way] !== null)
        url = body['links'][way]
      }
      return found
    }
    const done = 'statuses[]=DONE&statuses[]=IMPORTED&limit=2'
    expect(await through(`${done}&starting_after=1`, 'next')).toEqual([[4, 5], [7]])
    expect(await through(`${done}&ending_before=7`, 'previous')).toEqual([[4, 5], [1]])
    expect(await through('limit=3&starting_after=2', 'next')).toEqual([
      [3, 4, 5],
      [6, 7],
    ])
    expect(await through('limit=3&ending_before=6', 'previous')).toEqual([
      [3, 4, 5],
      [1, 2],
    ])
    // Line 2 is SKIPPED: a place all the same, for a reader of DONE lines whose last one became another.
    expect(await numbers(id, 'statuses[]=DONE&starting_after=2')).toEqual([4, 5])
    expect(await lines(id, 'starting_after=7')).toMatchObject({ data: [], has_more: false, links: { next: null } })
    for (const [query, field] of [
      ['starting_after=8', 'starting_after'],
      ['ending_before=0', 'ending_before'],
      ['starting_after=x', 'starting_after'],
      ['starting_after=1&page=2', 'page'],
    ]) {
      const refused = await tenant.call('GET', `/v1/files/${id}/lines?${query}`)
      expect([refused.status, refused.body['field']], query).toEqual([400, field])
    }
  })
})

describe('file processing settings', () => {
  const mapping = (more: object = {}) => ({
    meter_reference_mapping: { reference: 'calls' },
    ingest_reference_mapping: { column: 'ref' },
    ...more,
  })
  const value = { reference: 'tokens', column: { number: 'n' } }
  test.each([
    ['bucket_location', { bucket_location: 's3://x' }, 'bucket_location'],
    ['download_settings', { download_settings: {} }, 'download_settings'],
    ['no mappings', { meter_data: { mappings: [] } }, 'meter_data.mappings'],
    [
      'a custom field',
      { meter_data: { mappings: [mapping()], customer_reference_mapping: { column: 'c', custom_field: 'x' } } },
      'meter_data.customer_reference_mapping.custom_field',
    ],
    [
      'values without a column to choose by',
      { meter_data: { mappings: [mapping({ column_values: ['a'] })] } },
      'meter_data.mappings.0.column_values',
    ],
    [
      'two mappings of one value',
      {
        meter_data: {
          mapping_column: 'k',
          mappings: [mapping({ column_values: ['a'] }), mapping({ column_values: ['a'] })],
        },
      },
      'meter_data.mappings.1.column_values',
    ],
    [
      'two mappings of the rest',
      { meter_data: { mappings: [mapping(), mapping()] } },
      'meter_data.mappings.1.column_values',
    ],
    [
      'a meter by two names',
      { meter_data: { mappings: [mapping({ meter_reference_mapping: { column: 'm', reference: 'x' } })] } },
      'meter_data.mappings.0.meter_reference_mapping.column',
    ],
    [
      'a value without a source',
      { meter_data: { mappings: [mapping({ meter_value_mappings: [{ reference: 'tokens' }] })] } },
      'meter_data.mappings.0.meter_value_mappings.0.column',
    ],
    [
      'half an amount',
      {
        meter_data: {
          mappings: [mapping({ meter_value_mappings: [{ reference: 'c', column: { amount: { quantity: 'q' } } }] })],
        },
      },
      'meter_data.mappings.0.meter_value_mappings.0.column',
    ],
    [
      'a property without a source',
      { meter_data: { mappings: [mapping({ meter_property_mappings: [{ reference: 'p' }] })] } },
      'meter_data.mappings.0.meter_property_mappings.0.column',
    ],
    ['a customer without a name', { included_customers: [{}] }, 'included_customers.0.id'],
  ])('refuses %s by name', async (_name, more, field) => {
    const body = {
      reference: tenant.seed.unique('set'),
      type: 'METER_DATA',
      meter_data: { mappings: [mapping({ meter_value_mappings: [value] })] },
      ...more,
    }
    expect(refusal(await tenant.call('POST', '/v1/file-processing-settings', body))).toEqual([
      400,
      'INVALID_FIELD',
      field,
    ])
  })

  test('are created, read, changed, and leave their events', async () => {
    const made = await tenant.seed.make(fileProcessingSettingsResource)
    const path = `/v1/file-processing-settings/${made['id']}`
    expect((await tenant.call('GET', path)).body).toEqual(made)
    const changed = await tenant.call('PATCH', path, {
      excluded_customers: [],
      meter_data: { mappings: made['meter_data'].mappings, customer_reference_mapping: { column: 'c' } },
    })
    expect(changed.body).toMatchObject({
      excluded_customers: [],
      meter_data: { customer_reference_mapping: { column: 'c' } },
    })
    expect(changed.body['meter_data'].mappings).toEqual(made['meter_data'].mappings)
    const events = await api.sql('select type from outbox where object_id = $1 order by seq', [made['id']])
    expect(events.map(event => event['type'])).toEqual([
      'FILE_PROCESSING_SETTINGS.CREATED',
      'FILE_PROCESSING_SETTINGS.UPDATED',
    ])
  })
})

test('a file and its bytes are of one tenant', async () => {
  const file = await create({ content: base64('reference\n') })
  const rows = await readTenant(api.database, api.tenants.bLive.tenant, uow =>
    uow.tx.execute('select 1 from file_chunks union all select 1 from file_line_blocks'),
  )
  expect(rows.rows).toEqual([])
  expect((await api.tenants.aTest.call('GET', `/v1/files/${file['id']}/lines`)).status).toBe(404)
})
