// A ClickHouse client that knows the statements of the aggregator and no others: the sink, the roller and the rebuild of an
// index run as they are, over tables in memory. A statement may be refused, done without an answer, done after its answer was
// given up, or done in part.
import { sortedRecords } from '../../../aggregator/index/record.ts'
import type { ClickHouseClient } from '../../../shared/usage/clickhouse.ts'
import type { ReadQuery } from '../../../shared/usage/read-connection.ts'
import { answerRollups, writeRollups } from './clickhouse-rollups.ts'
import type { Tampering } from './sabotage.ts'
import {
  claimsOf,
  type EventRow,
  idHashOf,
  insertInto,
  meterOf,
  type Params,
  placeText,
  putEvent,
  recordsOf,
  type Tables,
} from './tables.ts'
import { call, InjectedFault, type Life, type World } from './world.ts'

type Statement = { readonly query: string; readonly query_params?: Params; readonly values?: { read(): Buffer | null } }

export function clientOf(world: World, life: Life, tables: Tables, tampering: Tampering): ClickHouseClient {
  const ask = <T>(effect: () => T): Promise<T> => call(world, life, effect)
  const client = {
    select: ({ sql, params }: ReadQuery): Promise<unknown[]> => ask(() => answer(tables, sql, params)),
    async exec({ query, query_params = {}, values }: Statement) {
      const table = /^INSERT INTO (\w+) FORMAT JSONCompactEachRow$/.exec(query)?.[1]
      if (table !== undefined) {
        const lines = String(values?.read() ?? '').split('\n')
        await insert(world, ask, { tables, table, lines })
        return { stream: [] }
      }
      if (!query.endsWith('FORMAT RowBinary')) throw unknown(query)
      const claims = await ask(() => claimsOf(tables, Number(query_params['partition'])))
      return { stream: pieces(world, life, sortedRecords(claims, claims.length)) }
    },
    async command({ query, query_params = {} }: Statement) {
      if (query.startsWith('INSERT INTO usage_events SELECT')) {
        const rows = await ask(() => tombstonesOf(tables, query_params, tampering))
        await ask(() => rows.map(row => putEvent(tables, row)))
        return
      }
      // What it reads and when it can be read itself are two moments, in a storm far apart.
      const write = await ask(() => {
        // None has that many records here.
        if (query.startsWith('INSERT INTO usage_records_by_meter_progress')) return () => undefined
        if (query.startsWith('INSERT INTO usage_records_by_meter')) return copyRecords(tables, query, tampering)
        if (query.trimStart().startsWith('INSERT INTO usage_rollups_by_grain'))
          return writeRollups(tables, query, query_params, tampering)
        throw unknown(query)
      })
      await new Promise<void>(resolve => world.deliver(life, world.random.below(world.weather.statementMs), resolve))
      await ask(write)
    },
  }
  const unknown = (query: string): Error => {
    const error = new Error(`a statement the simulation does not know: ${query}`)
    world.fail(error)
    return error
  }
  return client as unknown as ClickHouseClient
}

type Insert = { readonly tables: Tables; readonly table: string; readonly lines: readonly string[] }

/** Blocks of several ClickHouse partitions are written one after the other, so an insert that fails may be there in part. */
async function insert(
  world: World,
  ask: (effect: () => void) => Promise<void>,
  { tables, table, lines }: Insert,
): Promise<void> {
  if (lines.length > 1 && world.chance(world.weather.unanswered)) {
    const part = lines.filter(() => world.random.below(2) === 0)
    await ask(() => insertInto(tables, table, part))
    world.faults += 1
    throw new InjectedFault('done in part')
  }
  await ask(() => insertInto(tables, table, lines))
}

/** Bytes cut anywhere, as they come from a socket. */
async function* pieces(world: World, life: Life, bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + world.random.below(100)
    await world.pass(life)
    if (world.chance(world.weather.unanswered)) throw new InjectedFault('the answer broke off')
    yield bytes.subarray(at, end)
    at = end
  }
}

function answer(tables: Tables, query: string, params: Params): unknown[][] {
  const text = query.trimStart()
  if (text.startsWith('SELECT log_partition, log_seq')) {
    return [...tables.positions].map(([partition, { seq, timeMs, streamCreated }]) => [
      partition,
      `${seq}`,
      `${timeMs}`,
      streamCreated,
    ])
  }
  if (text.startsWith('SELECT count() FROM usage_events')) {
    return [[`${claimsOf(tables, Number(params['partition'])).length}`]]
  }
  if (text.startsWith('SELECT toString(id_hash), toString(content_hash)')) {
    return named(tables, params).map(row => [...row.fields, ...row.place, row.version.toString(), row.deleted])
  }
  if (text.startsWith('SELECT toString(id_hash), customer_key')) {
    return named(tables, params).map(row => [
      idHashOf(row),
      row.fields[5],
      row.fields[6],
      Math.floor(Number(row.fields[7]) / 3_600) * 3_600,
    ])
  }
  if (text.startsWith('SELECT owner, ')) {
    return [...tables.progress].map(([owner, { completeBefore, publishedAt, version, meters }]) => [
      owner,
      `${completeBefore}`,
      `${publishedAt}`,
      `${version}`,
      meters,
    ])
  }
  return answerRollups(tables, text, params)
}

/** Copies the records that were received in the stretches which the statement names. */
function copyRecords(tables: Tables, query: string, tampering: Tampering): () => void {
  const time = String.raw`fromUnixTimestamp64Milli\((\d+), 'UTC'\)`
  const stretch = new RegExp(`received_at >= ${time}(?: AND received_at < ${time})?`, 'g')
  const stretches = [...query.matchAll(stretch)].map(([, from, before]) => [Number(from), Number(before ?? Infinity)])
  const copied = tampering
    .copied(recordsOf(tables))
    .filter(({ receivedMs }) => stretches.some(([from = 0, before = 0]) => receivedMs >= from && receivedMs < before))
  return () => {
    for (const { text } of copied) tables.byMeter.add(text)
  }
}

/** The events a statement names by tenant and hash. */
function named({ events }: Tables, params: Params): EventRow[] {
  const hashes = new Set(params['id_hashes'] as string[])
  const tenant = `${params['platform_id']}/${params['environment']}/`
  return [...events.values()].filter(row => hashes.has(idHashOf(row)) && meterOf(row.fields).startsWith(tenant))
}

function tombstonesOf(tables: Tables, params: Params, tampering: Tampering): EventRow[] {
  const hashes = params['id_hashes'] as string[]
  const versions = params['versions'] as bigint[]
  return named(tables, params)
    .filter(row => row.deleted === 0)
    .map(row => {
      const version = versions[hashes.indexOf(idHashOf(row))]
      if (version === undefined) throw new Error(`no version for ${placeText(row.place)}`)
      return { ...row, version: tampering.tombstoneVersion(version), deleted: 1 }
    })
}
