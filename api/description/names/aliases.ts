// Second addresses of the same operation. They keep working; new code uses the first.
import { type Method, operationIdOf } from './operation-id.ts'

const INGEST: Readonly<Record<string, string>> = {
  'POST /v1/ingest/meter-data': '/v1/events/ingest',
  'POST /v1/ingest/meter-datas': '/v1/events/ingest-list',
  'POST /v1/events/ingest-batch': '/v1/events/ingest-list',
}
const PREFIX = '/v1/ingest/meter-data'

/** The id of the operation this is another address of; null when it is none. */
export function aliasOf(method: Method, path: string): string | null {
  const other =
    INGEST[`${method} ${path}`] ?? (path.startsWith(PREFIX) ? `/v1/events${path.slice(PREFIX.length)}` : null)
  return other === null ? null : operationIdOf({ method, path: other })
}
