// Everything the aggregator writes to ClickHouse from the log. Each write is idempotent by key: the same rows written
// again, cut otherwise, or by two workers, are the same rows.
import type { Environment } from '../../shared/tenant.ts'
import { type ClickHouseClient, insertLines, selectRows } from '../../shared/usage/clickhouse.ts'
import type { Bucket, BucketMark, Position } from '../outcome.ts'
import { markRow, TOMBSTONE_VERSION } from '../steps/rows.ts'

export type Deletion = {
  readonly idHash: string
  readonly platformId: string
  readonly environment: Environment
  readonly seq: number
}
export type PartitionPosition = Position & { readonly partition: number }

export type UsageSink = {
  /** Lines of usage_events, as eventRow makes them. */
  insertEvents(lines: readonly string[]): Promise<void>
  insertDuplicates(lines: readonly string[]): Promise<void>
  insertDeadLetters(lines: readonly string[]): Promise<void>
  /** Writes tombstones for events that are stored; resolves with the bucket of each id hash it found. */
  deleteEvents(deletions: readonly Deletion[]): Promise<Map<string, Bucket>>
  insertMarks(marks: readonly BucketMark[]): Promise<void>
  insertPositions(positions: readonly PartitionPosition[]): Promise<void>
}

/** Deletions in one statement: their hashes travel in the address of the request, which servers bound. */
const DELETIONS_PER_STATEMENT = 100

const WHERE_DELETED = `platform_id = {platform_id:String} AND environment = {environment:String}
  AND id_hash IN {id_hashes:Array(String)}`
const FIND_DELETED = `SELECT toString(id_hash), customer_key, meter_reference, toUnixTimestamp(toStartOfHour(timestamp))
  FROM usage_events FINAL WHERE ${WHERE_DELETED}`
// Copied inside ClickHouse, so the tombstone has the very key of the row it replaces.
const WRITE_TOMBSTONES = `INSERT INTO usage_events SELECT * REPLACE (
    {versions:Array(UInt64)}[indexOf({id_hashes:Array(String)}, toString(id_hash))] AS version, 1 AS deleted)
  FROM usage_events FINAL WHERE ${WHERE_DELETED}`

/** The sink that writes to ClickHouse. Every method throws what the client throws; calling it again is always safe. */
export function createUsageSink(client: ClickHouseClient): UsageSink {
  return {
    insertEvents: lines => insertLines(client, 'usage_events', lines),
    insertDuplicates: lines => insertLines(client, 'usage_duplicates', lines),
    insertDeadLetters: lines => insertLines(client, 'usage_dead_letters', lines),
    insertMarks: marks => insertLines(client, 'usage_bucket_marks', marks.map(markRow)),
    insertPositions: positions => insertLines(client, 'usage_positions', positions.map(positionRow)),
    async deleteEvents(deletions) {
      const found = new Map<string, Bucket>()
      for (const statement of statementsFor(deletions)) await writeTombstones(client, statement, found)
      return found
    },
  }
}

const positionRow = ({ partition, seq, timeMs, streamCreated }: PartitionPosition): string =>
  JSON.stringify([partition, seq, (timeMs / 1000).toFixed(3), streamCreated])

/** Deletions of one tenant a statement, each id once with its last sequence. */
function statementsFor(deletions: readonly Deletion[]): Deletion[][] {
  const tenants = new Map<string, Map<string, Deletion>>()
  for (const deletion of deletions) {
    const tenant = `${deletion.platformId}/${deletion.environment}`
    const byId = tenants.get(tenant) ?? new Map<string, Deletion>()
    const known = byId.get(deletion.idHash)
    if (known === undefined || known.seq < deletion.seq) byId.set(deletion.idHash, deletion)
    tenants.set(tenant, byId)
  }
  const statements: Deletion[][] = []
  for (const byId of tenants.values()) {
    const list = [...byId.values()]
    for (let at = 0; at < list.length; at += DELETIONS_PER_STATEMENT) {
      statements.push(list.slice(at, at + DELETIONS_PER_STATEMENT))
    }
  }
  return statements
}

async function writeTombstones(
  client: ClickHouseClient,
  deletions: readonly Deletion[],
  found: Map<string, Bucket>,
): Promise<void> {
  const [first] = deletions
  if (first === undefined) return
  const { platformId, environment } = first
  const params = {
    platform_id: platformId,
    environment,
    id_hashes: deletions.map(({ idHash }) => idHash),
    versions: deletions.map(({ seq }) => TOMBSTONE_VERSION + BigInt(seq)),
  }
  const rows = await selectRows<[string, string, string, number]>(client, FIND_DELETED, params)
  if (rows.length === 0) return
  await client.command({ query: WRITE_TOMBSTONES, query_params: params })
  for (const [idHash, customerKey, meterReference, hour] of rows) {
    found.set(idHash, { platformId, environment, customerKey, meterReference, hour })
  }
}
