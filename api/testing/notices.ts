// What changes left in the outbox, for tests.
import { bodyOf, type StoredBody } from '../../shared/database/outbox.ts'
import type { ApiHarness } from './harness.ts'
import type { Row } from './wire.ts'

/** The notices of one resource in the order they were written, each with the whole resource before and after the change. */
export async function noticesOf(api: Pick<ApiHarness, 'sql'>, objectId: unknown): Promise<Row[]> {
  const rows = await api.sql(
    `select o.*, coalesce(o.data, h.data) as data from outbox o
     left join outbox h on h.platform_id = o.platform_id and h.environment = o.environment and h.id = o.data_in
     where o.object_id = $1 order by o.seq`,
    [objectId],
  )
  return rows.map(row => ({ ...row, ...bodyOf(row as StoredBody) }))
}

/** The types of the notices of one resource, in the order they were written. */
export async function noticeTypesOf(api: Pick<ApiHarness, 'sql'>, objectId: unknown): Promise<string[]> {
  const rows = await api.sql('select type from outbox where object_id = $1 order by seq', [objectId])
  return rows.map(({ type }) => type)
}
