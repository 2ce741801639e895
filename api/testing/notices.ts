// What changes left in the outbox, for tests.
import { previousDataOf } from '../../shared/database/outbox.ts'
import type { ApiHarness } from './harness.ts'
import type { Row } from './wire.ts'

/** The notices of one resource in the order they were written, each with the whole resource before the change. */
export async function noticesOf(api: Pick<ApiHarness, 'sql'>, objectId: unknown): Promise<Row[]> {
  const rows = await api.sql('select * from outbox where object_id = $1 order by seq', [objectId])
  return rows.map(row => ({ ...row, previous_data: previousDataOf(row as Parameters<typeof previousDataOf>[0]) }))
}
