// Everything the aggregator writes to ClickHouse from the log. Each write is idempotent by key: the same rows written
// again, cut otherwise, or by two workers, are the same rows.
import { EVENT_FIELDS, wireTime } from '../../shared/contracts/usage-event.ts'
import type { Environment } from '../../shared/tenant.ts'
import { type ClickHouseClient, insertLines, selectRows } from '../../shared/usage/clickhouse.ts'
import { EVENT_CONTENT, METER_RECORD_ID } from '../../shared/usage/meter-records.ts'
import type { Progress } from '../meter-lists/statements.ts'
import type { Bucket, BucketMark, Place, Position } from '../outcome.ts'
import type { StoredRow } from '../steps/amend.ts'
import { AMENDMENT, markRow, tombstoneVersion } from '../steps/rows.ts'

/** An event of a tenant, by the hash of its reference. */
export type EventName = { readonly idHash: string; readonly platformId: string; readonly environment: Environment }
export type Deletion = EventName & Place
export type PartitionPosition = Position & { readonly partition: number }

export type UsageSink = {
  /** Lines of usage_events, as eventRow makes them. */
  insertEvents(lines: readonly string[]): Promise<void>
  insertDuplicates(lines: readonly string[]): Promise<void>
  insertDeadLetters(lines: readonly string[]): Promise<void>
  /**
   * Writes tombstones for events that are stored; resolves with the bucket of each id hash it found. The first deletion
   * stays: what is deleted already keeps its tombstone.
   */
  deleteEvents(deletions: readonly Deletion[]): Promise<Map<string, Bucket>>
  /** The newest row of each of these events that is stored, by id hash. */
  findEvents(names: readonly EventName[]): Promise<Map<string, StoredRow>>
  /** Lines of usage_amendments, as applyAmendments makes them. */
  insertAmendments(lines: readonly string[]): Promise<void>
  insertMarks(marks: readonly BucketMark[]): Promise<void>
  insertPositions(positions: readonly PartitionPosition[]): Promise<void>
  /** Writes what became of those events that were changed or deleted to the table of meters. */
  copyChanged(names: readonly EventName[]): Promise<void>
  /** Says how far usage_records_by_meter is filled. */
  insertProgress(progress: readonly Progress[]): Promise<void>
}

/** Events in one statement: their hashes travel in the address of the request, which servers bound. */
const EVENTS_PER_STATEMENT = 100

const WHERE_NAMED = `platform_id = {platform_id:String} AND environment = {environment:String}
  AND id_hash IN {id_hashes:Array(String)}`
// Times as the wire has them, so that the row can be inserted again as it was read.
const wireTimeSql = (column: string): string =>
  `concat(leftPad(toString(intDiv(toUnixTimestamp64Milli(${column}), 1000)), 10, '0'), '.',
    leftPad(toString(toUnixTimestamp64Milli(${column}) % 1000), 3, '0'))`
const FIND_ROWS = `SELECT toString(id_hash), toString(content_hash), platform_id, environment, reference, customer_key,
    meter_reference, ${wireTimeSql('timestamp')}, ${wireTimeSql('received_at')}, value_references,
    arrayMap(quantity -> toString(quantity), value_quantities), value_currencies, properties, subscription,
    log_partition, log_seq, log_line, version, deleted
  FROM usage_events FINAL WHERE ${WHERE_NAMED}`
const FIND_DELETED = `SELECT toString(id_hash), customer_key, meter_reference, toUnixTimestamp(toStartOfHour(timestamp))
  FROM usage_events FINAL WHERE ${WHERE_NAMED}`
// Copied inside ClickHouse, so the tombstone has the very key of the row it replaces. Chosen inside, where
// `deleted` is the column and not the one that is written.
const WRITE_TOMBSTONES = `INSERT INTO usage_events SELECT * REPLACE (
    {versions:Array(UInt64)}[indexOf({id_hashes:Array(String)}, toString(id_hash))] AS version, 1 AS deleted)
  FROM (SELECT * FROM usage_events FINAL WHERE ${WHERE_NAMED} AND deleted = 0)`

const COPY_CHANGED = `INSERT INTO usage_records_by_meter SELECT platform_id, environment, meter_reference, timestamp,
    ${METER_RECORD_ID} AS id, 0, received_at, version, deleted, id_hash, customer_key, ${EVENT_CONTENT}
  FROM usage_events FINAL WHERE ${WHERE_NAMED} AND version >= ${AMENDMENT}`

/** The sink that writes to ClickHouse. Every method throws what the client throws; calling it again is always safe. */
export function createUsageSink(client: ClickHouseClient): UsageSink {
  return {
    insertEvents: lines => insertLines(client, 'usage_events', lines),
    insertDuplicates: lines => insertLines(client, 'usage_duplicates', lines),
    insertDeadLetters: lines => insertLines(client, 'usage_dead_letters', lines),
    insertMarks: marks => insertLines(client, 'usage_bucket_marks', marks.map(markRow)),
    insertPositions: positions => insertLines(client, 'usage_positions', positions.map(positionRow)),
    async copyChanged(names) {
      for (const statement of statementsFor(names))
        await client.command({ query: COPY_CHANGED, query_params: paramsOf(statement) })
    },
    insertProgress: progress => insertLines(client, 'usage_records_by_meter_progress', progress.map(progressRow)),
    async deleteEvents(deletions) {
      const found = new Map<string, Bucket>()
      for (const statement of statementsFor(deletions)) await writeTombstones(client, statement, found)
      return found
    },
    async findEvents(names) {
      const found = new Map<string, StoredRow>()
      for (const statement of statementsFor(names)) {
        const params = paramsOf(statement)
        for (const row of await selectRows<FoundRow>(client, FIND_ROWS, params)) found.set(row[0], storedRowOf(row))
      }
      return found
    },
    insertAmendments: lines => insertLines(client, 'usage_amendments', lines),
  }
}

const positionRow = ({ partition, seq, timeMs, streamCreated }: PartitionPosition): string =>
  JSON.stringify([partition, seq, (timeMs / 1000).toFixed(3), streamCreated])

const progressRow = ({ owner, completeBefore, publishedAt, version, meters }: Progress): string =>
  JSON.stringify([owner, wireTime(completeBefore), wireTime(publishedAt), version, meters])

type FoundRow = [idHash: string, ...unknown[]]

function storedRowOf(row: FoundRow): StoredRow {
  const [partition, seq, line, version, deleted] = row.slice(EVENT_FIELDS.length)
  return {
    fields: row.slice(0, EVENT_FIELDS.length),
    place: { partition: Number(partition), seq: Number(seq), line: Number(line) },
    version: BigInt(String(version)),
    deleted: deleted === 1,
  }
}

/** Events of one tenant a statement, each once: what stands first of it in the log. */
function statementsFor<Name extends EventName>(names: readonly Name[]): Name[][] {
  const tenants = new Map<string, Map<string, Name>>()
  for (const name of names) {
    const tenant = `${name.platformId}/${name.environment}`
    const byId = tenants.get(tenant) ?? new Map<string, Name>()
    if (!byId.has(name.idHash)) byId.set(name.idHash, name)
    tenants.set(tenant, byId)
  }
  const statements: Name[][] = []
  for (const byId of tenants.values()) {
    const list = [...byId.values()]
    for (let at = 0; at < list.length; at += EVENTS_PER_STATEMENT) {
      statements.push(list.slice(at, at + EVENTS_PER_STATEMENT))
    }
  }
  return statements
}

function paramsOf(names: readonly EventName[]) {
  const [first] = names
  if (first === undefined) throw new Error('a statement names at least one event')
  const id_hashes = names.map(({ idHash }) => idHash)
  return { platform_id: first.platformId, environment: first.environment, id_hashes }
}

async function writeTombstones(
  client: ClickHouseClient,
  deletions: readonly Deletion[],
  found: Map<string, Bucket>,
): Promise<void> {
  const params = { ...paramsOf(deletions), versions: deletions.map(tombstoneVersion) }
  const rows = await selectRows<[string, string, string, number]>(client, FIND_DELETED, params)
  if (rows.length === 0) return
  await client.command({ query: WRITE_TOMBSTONES, query_params: params })
  for (const [idHash, customerKey, meterReference, hour] of rows) {
    const { platform_id: platformId, environment } = params
    found.set(idHash, { platformId, environment, customerKey, meterReference, hour })
  }
}
