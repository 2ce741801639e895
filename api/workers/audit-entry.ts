// From the notice of a change to its audit record: who did what to which resource, and which fields it touched.
import { isDeepStrictEqual } from 'node:util'
import type { OutboxRow } from './outbox-row.ts'

export type AuditEntry = {
  readonly action: string
  readonly changedFields: readonly string[]
  readonly message: string
}

/** Changes with every save, so it says nothing. */
const NOISE: ReadonlySet<string> = new Set(['updated_at'])

/**
 * What the audit trail says of a change. It names fields and never their values, which may be personal. Only an update has
 * a previous state, so only an update has changed fields.
 */
export function auditEntry(
  row: Pick<OutboxRow, 'type' | 'object_type' | 'object_id' | 'data' | 'previous_data'>,
): AuditEntry {
  const action = row.type.slice(row.object_type.length + 1)
  const changedFields = changesBetween(row.previous_data, row.data)
  const fields = changedFields.length === 0 ? '' : `: ${changedFields.join(', ')}`
  return { action, changedFields, message: `${row.object_type} ${row.object_id} ${action}${fields}` }
}

function changesBetween(previous: Record<string, unknown> | null, data: Record<string, unknown>): string[] {
  if (previous === null) return []
  const names = new Set([...Object.keys(previous), ...Object.keys(data)])
  return [...names]
    .filter(name => !NOISE.has(name) && !isDeepStrictEqual(previous[name] ?? null, data[name] ?? null))
    .sort()
}
