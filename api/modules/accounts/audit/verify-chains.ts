// Goes through the audit chains of every tenant and says where one does not hold.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../shared/database/database.ts'
import { type ChainFault, checkHead, checkRecords, type Head, NO_RECORD, type StoredRecord } from './chain.ts'

export type TenantFault = ChainFault & { readonly platform_id: string; readonly environment: string }

/** The head of one tenant's chain, as it is printed, and given back to a later verification. */
export type TenantHead = Head & { readonly platform_id: string; readonly environment: string }

export type Verification = {
  readonly records: number
  readonly heads: readonly TenantHead[]
  readonly faults: readonly TenantFault[]
}

const BATCH = 2_000
/** Not 0: a record that was put before the first would not be seen. */
const BEFORE_ALL = '-9223372036854775808'

/**
 * Verifies every chain. `anchors` are heads of an earlier verification, kept where nobody who can write the database could
 * change them: without them a chain that was written anew from some record on would hold in itself. `database` acts as
 * millrace_worker; each tenant is read in one snapshot, so that the relay may go on meanwhile.
 */
export async function verifyChains(database: Database, anchors: readonly TenantHead[] = []): Promise<Verification> {
  const tenants = await asSystem(database, 'verify-audit', listTenants)
  const known = new Set(tenants.map(keyOf))
  const faults: TenantFault[] = anchors
    .filter(anchor => !known.has(keyOf(anchor)))
    .map(anchor => ({ ...tenantOf(anchor), kind: 'MISSING', sequence: '1', detail: 'there is no chain any more' }))
  const heads: TenantHead[] = []
  let records = 0
  for (const tenant of tenants) {
    const own = anchors.filter(anchor => keyOf(anchor) === keyOf(tenant))
    const result = await asSystem(database, 'verify-audit', tx => verifyOne(tx, tenant, own), SNAPSHOT)
    faults.push(...result.faults.map(fault => ({ ...tenant, ...fault })))
    heads.push({ ...tenant, ...result.head })
    records += result.records
  }
  return { records, heads, faults }
}

const SNAPSHOT = { accessMode: 'read only', isolationLevel: 'repeatable read' } as const

type TenantKey = { readonly platform_id: string; readonly environment: string }
const tenantOf = ({ platform_id, environment }: TenantKey): TenantKey => ({ platform_id, environment })
const keyOf = ({ platform_id, environment }: TenantKey): string => `${platform_id} ${environment}`

/** Those with records or with a head: where the one is gone, the other shows it. */
async function listTenants(tx: SystemTransaction): Promise<TenantKey[]> {
  const { rows } = await tx.execute<TenantKey>(sql`
    select platform_id, environment from audit_records union select platform_id, environment from audit_chains
    order by platform_id, environment`)
  return rows
}

async function verifyOne(
  tx: SystemTransaction,
  tenant: TenantKey,
  anchors: readonly TenantHead[],
): Promise<{ faults: ChainFault[]; head: Head; records: number }> {
  const faults: ChainFault[] = []
  let last = { ...NO_RECORD, position: '0' }
  let records = 0
  for (let after = BEFORE_ALL; ; after = last.sequence) {
    const batch = await readRecords(tx, tenant, after)
    if (batch.length === 0) break
    const checked = checkRecords(last, batch)
    faults.push(...checked.faults, ...checkAnchors(batch, anchors))
    last = checked.last
    records += batch.length
  }
  const [head] = (
    await tx.execute<Head>(sql`
      select sequence::text as sequence, hash from audit_chains
      where platform_id = ${tenant.platform_id} and environment = ${tenant.environment}`)
  ).rows
  faults.push(...checkHead(last, head ?? null))
  const cut = anchors.filter(anchor => BigInt(anchor.sequence) > BigInt(last.sequence))
  faults.push(
    ...cut.map(({ sequence }) => ({ kind: 'MISSING' as const, sequence, detail: 'an earlier verification saw it' })),
  )
  return { faults, head: { sequence: last.sequence, hash: last.hash }, records }
}

/** The records at which an earlier verification saw another hash. */
function checkAnchors(batch: readonly StoredRecord[], anchors: readonly TenantHead[]): ChainFault[] {
  return anchors.flatMap(anchor => {
    const record = batch.find(({ sequence }) => sequence === anchor.sequence)
    if (!record || record.hash === anchor.hash) return []
    return [
      { kind: 'CHANGED', sequence: anchor.sequence, detail: `an earlier verification saw the hash ${anchor.hash}` },
    ]
  })
}

async function readRecords(tx: SystemTransaction, tenant: TenantKey, after: string): Promise<StoredRecord[]> {
  const { rows } = await tx.execute<StoredRecord>(sql`
    select platform_id, environment, sequence::text as sequence, id, position::text as position,
      to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at, user_id, user_name,
      impersonated_user_id, impersonated_user_name, credential_id, ip, target_resource_type, target_id, action, message,
      changed_fields, request_id, idempotency_key, previous_hash, hash
    from audit_records
    where platform_id = ${tenant.platform_id} and environment = ${tenant.environment} and audit_records.sequence > ${after}::bigint
    order by audit_records.sequence limit ${BATCH}`)
  return rows
}
