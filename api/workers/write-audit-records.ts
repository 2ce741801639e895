// The audit records of a batch of changes, each carrying the hash of the one before it in its tenant.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import { type ChainedRecord, type Head, hashRecord, NO_RECORD } from '../modules/accounts/audit/chain.ts'
import { type AuditedChange, auditEntry } from './audit-entry.ts'

type Positioned = { readonly row: AuditedChange; readonly position: string }

const tenantOf = (row: { readonly platform_id: string; readonly environment: string }): string =>
  `${row.platform_id} ${row.environment}`

/**
 * Writes the records in the order of `rows`. Only the one relay at work may call it: the head it continues from is the last
 * that was committed, and the unique sequence of a tenant's records would stop a second one.
 */
export async function writeAuditRecords(
  tx: SystemTransaction,
  rows: readonly AuditedChange[],
  positions: readonly string[],
): Promise<void> {
  const names = await namesOf(tx, rows)
  const heads = await lockHeads(tx, rows)
  const records = rows.map((row, index) => {
    const key = tenantOf(row)
    const head = heads.get(key) ?? NO_RECORD
    const sequence = String(BigInt(head.sequence) + 1n)
    const record = recordOf({ row, position: positions[index] ?? '' }, sequence, names)
    const hash = hashRecord(head.hash, record)
    heads.set(key, { sequence, hash })
    return { previous_hash: head.hash, hash, ...record }
  })
  await insertRecords(tx, records)
  await saveHeads(tx, records)
}

function recordOf({ row, position }: Positioned, sequence: string, names: ReadonlyMap<string, string>): ChainedRecord {
  const { action, changedFields, message } = auditEntry(row)
  const nameOf = (id: string | null): string | null =>
    id === null ? null : (names.get(`${tenantOf(row)} ${id}`) ?? null)
  return {
    platform_id: row.platform_id,
    environment: row.environment,
    sequence,
    id: newId('audr'),
    position,
    created_at: row.created_at,
    user_id: row.actor_id,
    user_name: nameOf(row.actor_id),
    impersonated_user_id: row.impersonated_user_id,
    impersonated_user_name: nameOf(row.impersonated_user_id),
    credential_id: row.credential_id,
    ip: row.ip,
    target_resource_type: row.object_type,
    target_id: row.object_id,
    action,
    message,
    changed_fields: changedFields,
    request_id: row.request_id,
    idempotency_key: row.idempotency_key,
  }
}

/** What the actors of these rows are called, by tenant and id: the e-mail of a user, the description of an API key. */
async function namesOf(tx: SystemTransaction, rows: readonly AuditedChange[]): Promise<Map<string, string>> {
  const actors = rows.flatMap(({ platform_id, environment, actor_id, impersonated_user_id }) =>
    [actor_id, impersonated_user_id].filter(id => id !== null).map(id => ({ platform_id, environment, id })),
  )
  const found = await tx.execute<{ platform_id: string; environment: string; id: string; name: string | null }>(sql`
    select distinct a.platform_id, a.environment, a.id, coalesce(u.username, k.description) as name
    from jsonb_to_recordset(${JSON.stringify(actors)}::jsonb) as a(platform_id text, environment text, id text)
    left join users u on u.id = a.id
    left join api_keys k on k.platform_id = a.platform_id and k.environment = a.environment and k.id = a.id`)
  const named = found.rows.flatMap(row =>
    row.name === null ? [] : [[`${tenantOf(row)} ${row.id}`, row.name] as const],
  )
  return new Map(named)
}

async function lockHeads(tx: SystemTransaction, rows: readonly AuditedChange[]): Promise<Map<string, Head>> {
  const tenants = [...new Map(rows.map(row => [tenantOf(row), row])).values()].map(({ platform_id, environment }) => ({
    platform_id,
    environment,
  }))
  const found = await tx.execute<{ platform_id: string; environment: string } & Head>(sql`
    select c.platform_id, c.environment, c.sequence::text as sequence, c.hash from audit_chains c
    join jsonb_to_recordset(${JSON.stringify(tenants)}::jsonb) as t(platform_id text, environment text)
      on t.platform_id = c.platform_id and t.environment = c.environment
    for update of c`)
  return new Map(found.rows.map(row => [tenantOf(row), { sequence: row.sequence, hash: row.hash }]))
}

type Chained = ChainedRecord & { readonly previous_hash: string; readonly hash: string }

async function insertRecords(tx: SystemTransaction, records: readonly Chained[]): Promise<void> {
  await tx.execute(sql`
    insert into audit_records (platform_id, environment, id, position, user_id, user_name, impersonated_user_id,
      impersonated_user_name, credential_id, ip, target_resource_type, target_id, action, message, changed_fields, request_id,
      idempotency_key, created_at, sequence, previous_hash, hash)
    select * from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as r(platform_id text, environment text, id text,
      position bigint, user_id text, user_name text, impersonated_user_id text, impersonated_user_name text,
      credential_id text, ip text, target_resource_type text, target_id text, action text, message text,
      changed_fields text[], request_id text, idempotency_key text, created_at timestamptz, sequence bigint,
      previous_hash text, hash text)`)
}

async function saveHeads(tx: SystemTransaction, records: readonly Chained[]): Promise<void> {
  const heads = [...new Map(records.map(record => [tenantOf(record), record])).values()].map(
    ({ platform_id, environment, sequence, hash }) => ({ platform_id, environment, sequence, hash }),
  )
  await tx.execute(sql`
    insert into audit_chains (platform_id, environment, sequence, hash)
    select * from jsonb_to_recordset(${JSON.stringify(heads)}::jsonb)
      as h(platform_id text, environment text, sequence bigint, hash text)
    on conflict (platform_id, environment) do update set sequence = excluded.sequence, hash = excluded.hash`)
}
