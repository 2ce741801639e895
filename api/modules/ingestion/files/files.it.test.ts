// Creating, reading and changing files. What becomes of their lines is tested where the gateway is, in bench/system-tests/files.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTenant } from '../../../../shared/database/database.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { fileProcessingSettingsResource } from '../file-processing-settings/file-processing-settings.ts'
import { base64, contentHash, filesOf } from './testing/files-of.ts'
import { INLINE_BYTES_MAX } from './upload.ts'

let api: ApiHarness
let tenant: TestTenant
let files: Awaited<ReturnType<typeof filesOf>>
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  files = await filesOf(tenant)
})
afterAll(() => api?.close())

describe('POST /v1/files', () => {
  let settings: Row
  beforeAll(async () => {
    settings = await tenant.seed.make(fileProcessingSettingsResource)
  })

  test('with content it is UPLOADED, and the content is not sent back', async () => {
    const file = await files.create({ content: base64('reference,customer_reference\n') })
    expect(file).toMatchObject({
      object_type: 'FILE',
      status: 'UPLOADED',
      content_type: 'text/csv',
      content_bytes: 29,
      lines: { imported: 0, done: 0, skipped: 0, error: 0 },
    })
    expect(file).not.toHaveProperty('content')
    expect(await contentHash(api, tenant, file['id'])).toBe(
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
    const body = JSON.parse(JSON.stringify(files.bodyOf(more)).replaceAll('"made"', `"${settings['id']}"`))
    expect(refusal(await tenant.call('POST', '/v1/files', body))).toEqual([400, 'INVALID_FIELD', field])
  })

  test('a reference is used once, and a meter, customer or settings must exist', async () => {
    const file = await files.create()
    const again = await tenant.call('POST', '/v1/files', files.bodyOf({ reference: file['reference'] }))
    expect(again.status).toBe(409)
    const foreign = await api.tenants.bLive.seed.make(meterResource)
    const body = files.bodyOf({ meter_data: { meter_id: foreign['id'] } })
    expect(refusal(await tenant.call('POST', '/v1/files', body))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'meter_data.meter_id',
    ])
  })

  test('content of up to 16 MiB fits a body, but only for a caller who is known; more is to be streamed', async () => {
    const large = base64('x'.repeat(2 * 1024 * 1024))
    expect((await tenant.call('POST', '/v1/files', files.bodyOf({ content: large }))).status).toBe(201)
    const unknown = await api.app.inject({
      method: 'POST',
      url: '/v1/files',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(files.bodyOf({ content: large })),
    })
    expect(unknown.statusCode).toBe(401)
    const [tooMuch] = [base64('x'.repeat(INLINE_BYTES_MAX + 1))]
    const answer = await tenant.call('POST', '/v1/files', files.bodyOf({ content: tooMuch }))
    expect(refusal(answer)).toEqual([413, 'PAYLOAD_TOO_LARGE', 'content'])
    expect(answer.body['message']).toContain('PUT the CSV')
  })
})

describe('reading and changing', () => {
  test('files are listed by several statuses, not by the single one, and found by reference', async () => {
    const created = await files.create()
    const uploaded = await files.create({ content: base64('a') })
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
    const file = await files.create()
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

test('a file and its bytes are of one tenant', async () => {
  const file = await files.create({ content: base64('reference\n') })
  const rows = await readTenant(api.database, api.tenants.bLive.tenant, uow =>
    uow.tx.execute('select 1 from file_chunks union all select 1 from file_line_blocks'),
  )
  expect(rows.rows).toEqual([])
  expect((await api.tenants.aTest.call('GET', `/v1/files/${file['id']}/lines`)).status).toBe(404)
})
