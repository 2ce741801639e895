// Files for tests, created through the API, and what is stored of them.
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { idOf } from '../../../../../shared/ids.ts'
import type { ApiHarness, TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { meterResource } from '../../../catalog/meters/meter.ts'
import { streamContent } from '../content.ts'

export const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Files of one tenant, for one meter of it. */
export async function filesOf({ call, seed }: TestTenant) {
  const meterId = (await seed.make(meterResource))['id']
  const bodyOf = (more: object = {}) => ({
    reference: seed.unique('file'),
    file_name: 'usage.csv',
    type: 'METER_DATA',
    processing_type: 'DEFAULT',
    meter_data: { meter_id: meterId },
    ...more,
  })
  async function create(more: object = {}): Promise<Row> {
    const { status, body } = await call('POST', '/v1/files', bodyOf(more))
    expect(status).toBe(201)
    return body
  }
  return { bodyOf, create }
}

/** The SHA-256 of the content that is stored. */
export async function contentHash(api: ApiHarness, { tenant }: TestTenant, id: string): Promise<string> {
  const [file] = await api.sql('select upload_id from files where id = $1', [id])
  const hash = createHash('sha256')
  const key = { fileId: idOf('file', id), uploadId: file?.['upload_id'] }
  for await (const bytes of streamContent(api.database, tenant, key, 0)) hash.update(bytes)
  return hash.digest('hex')
}
