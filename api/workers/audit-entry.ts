// From the notice of a change to its audit record: who did what to which resource, and which fields it touched.
import type { ChangeHead } from './outbox-row.ts'

export type AuditEntry = {
  readonly action: string
  readonly changedFields: readonly string[]
  readonly message: string
}

/** Changes with every save, so it says nothing. */
const NOISE: ReadonlySet<string> = new Set(['updated_at'])

/** A change as the audit trail takes it. */
export type AuditedChange = ChangeHead & { /** None but of an update. */ readonly changed_fields: readonly string[] }

/** What the audit trail says of a change. It names fields and never their values, which may be personal. */
export function auditEntry(
  row: Pick<AuditedChange, 'type' | 'object_type' | 'object_id' | 'changed_fields'>,
): AuditEntry {
  const action = row.type.slice(row.object_type.length + 1)
  const changedFields = row.changed_fields.filter(name => !NOISE.has(name)).sort()
  const fields = changedFields.length === 0 ? '' : `: ${changedFields.join(', ')}`
  return { action, changedFields, message: `${row.object_type} ${row.object_id} ${action}${fields}` }
}
