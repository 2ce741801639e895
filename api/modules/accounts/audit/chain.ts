// The audit chain: what each record's hash is taken of, and what is wrong with a row of records. Pure. A record of a tenant
// carries the hash of the record before it, so that none can be changed, removed or put elsewhere without the next one
// showing it; the head of the chain, kept apart, shows what is missing at the end (security 3).
import { hash } from 'node:crypto'

/** What of a record is hashed: everything it says. Times to the microsecond, in UTC. */
export type ChainedRecord = {
  readonly platform_id: string
  readonly environment: string
  readonly sequence: string
  readonly id: string
  readonly position: string
  readonly created_at: string
  readonly user_id: string | null
  readonly user_name: string | null
  readonly impersonated_user_id: string | null
  readonly impersonated_user_name: string | null
  readonly credential_id: string | null
  readonly ip: string | null
  readonly target_resource_type: string
  readonly target_id: string
  readonly action: string
  readonly message: string
  readonly changed_fields: readonly string[]
  readonly request_id: string | null
  readonly idempotency_key: string | null
}

export type Head = { readonly sequence: string; readonly hash: string }

/** What stands before the first record of a tenant. */
export const NO_RECORD: Head = { sequence: '0', hash: '0'.repeat(64) }

/** How many bytes, a colon, and the text: no two lists of values make the same text. */
const part = (value: string | null): string => (value === null ? '-' : `${Buffer.byteLength(value)}:${value}`)

/** The hash of a record that follows the one with `previousHash`: SHA-256, hex. */
export function hashRecord(previousHash: string, record: ChainedRecord): string {
  const values = [
    previousHash,
    record.platform_id,
    record.environment,
    record.sequence,
    record.id,
    record.position,
    record.created_at,
    record.user_id,
    record.user_name,
    record.impersonated_user_id,
    record.impersonated_user_name,
    record.credential_id,
    record.ip,
    record.target_resource_type,
    record.target_id,
    record.action,
    record.message,
    String(record.changed_fields.length),
    ...record.changed_fields,
    record.request_id,
    record.idempotency_key,
  ]
  return hash('sha256', values.map(part).join(''), 'hex')
}

/** A record as it is stored. */
export type StoredRecord = ChainedRecord & { readonly previous_hash: string; readonly hash: string }

/** `sequence`: of the record at which the chain does not hold. */
export type ChainFault = {
  readonly kind: 'MISSING' | 'CHANGED' | 'OUT_OF_ORDER' | 'UNLINKED' | 'HEAD'
  readonly sequence: string
  readonly detail: string
}

/**
 * What is wrong with `records`, which follow `before` in the order of their sequence. A record is CHANGED when its hash is not
 * that of what it says, UNLINKED when it does not carry the hash of the one before it, OUT_OF_ORDER when it was made before
 * that one; MISSING names the first that is not there.
 */
export function checkRecords(
  before: Head & { readonly position: string },
  records: readonly StoredRecord[],
): { readonly faults: ChainFault[]; readonly last: Head & { readonly position: string } } {
  const faults: ChainFault[] = []
  let last = before
  for (const record of records) {
    const { sequence, position } = record
    const next = BigInt(last.sequence) + 1n
    if (BigInt(sequence) !== next) {
      faults.push({ kind: 'MISSING', sequence: String(next), detail: `the next one there is ${sequence}` })
    } else if (record.previous_hash !== last.hash) {
      faults.push({ kind: 'UNLINKED', sequence, detail: 'it does not follow the record before it' })
    }
    if (BigInt(position) <= BigInt(last.position)) {
      faults.push({ kind: 'OUT_OF_ORDER', sequence, detail: `position ${position} after ${last.position}` })
    }
    if (hashRecord(record.previous_hash, record) !== record.hash) {
      faults.push({ kind: 'CHANGED', sequence, detail: `record ${record.id} does not say what it said` })
    }
    last = { sequence, hash: record.hash, position }
  }
  return { faults, last }
}

/** What is wrong with the end of a chain whose last record is `last`, against the head kept apart. */
export function checkHead(last: Head, head: Head | null): ChainFault[] {
  const kept = head ?? NO_RECORD
  if (kept.sequence === last.sequence && kept.hash === last.hash) return []
  if (BigInt(kept.sequence) > BigInt(last.sequence)) {
    const first = String(BigInt(last.sequence) + 1n)
    return [{ kind: 'MISSING', sequence: first, detail: `the chain had ${kept.sequence} records` }]
  }
  return [{ kind: 'HEAD', sequence: last.sequence, detail: `the kept head is ${kept.sequence} ${kept.hash}` }]
}
