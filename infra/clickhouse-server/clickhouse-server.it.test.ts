// The embedded ClickHouse through the very client the product uses: what passes here passes against a server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, type Service } from '../services/child.ts'
import { startClickHouse } from '../services/clickhouse.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-clickhouse-'))
let service: Service
let client: ClickHouseClient
const clients: ClickHouseClient[] = []

const connect = (options: NonNullable<Parameters<typeof createClient>[0]> = {}) => {
  const made = createClient({ url: service.url, log: { level: ClickHouseLogLevel.OFF }, ...options })
  clients.push(made)
  return made
}
const start = async () => {
  service = await startClickHouse({ dataDir, port: await freePort(), log: () => {} })
  client = connect()
}
const rows = async <T>(query: string, options: object = {}, from = client): Promise<T[]> =>
  (await from.query({ query, format: 'JSONEachRow', ...options })).json<T>()

beforeAll(start)
afterAll(async () => {
  await Promise.all(clients.map(each => each.close()))
  await service.stop()
  rmSync(dataDir, { recursive: true })
})

describe('statements', () => {
  test('ping, version and an empty answer', async () => {
    expect(await client.ping()).toEqual({ success: true })
    expect(await client.ping({ select: true })).toMatchObject({ success: true })
    expect(await rows('SELECT 1 AS one WHERE 0')).toEqual([])
  })

  test('10,000 rows are inserted and counted, decimals come back exactly', async () => {
    await client.command({ query: 'CREATE DATABASE IF NOT EXISTS shop' })
    await client.command({
      query:
        'CREATE TABLE shop.usage (id UInt64, value Decimal(38, 12), tags Map(LowCardinality(String), String)) ENGINE = MergeTree ORDER BY id',
    })
    const values = Array.from({ length: 10_000 }, (_, id) => [id, `${id}.000000000001`, { n: `é"\\\n${id}` }])
    const inserted = await client.insert({ table: 'shop.usage', values, format: 'JSONCompactEachRow' })
    expect(inserted.summary?.written_rows).toBe('10000')
    const exact = {
      clickhouse_settings: { output_format_json_quote_decimals: 1, output_format_json_quote_64bit_integers: 1 },
    } as const
    expect(await rows('SELECT count() AS n, sum(value) AS total FROM shop.usage', exact)).toEqual([
      { n: '10000', total: '49995000.00000001' },
    ])
    expect(await rows("SELECT tags['n'] AS n FROM shop.usage WHERE id = 7")).toEqual([{ n: 'é"\\\n7' }])
    expect(await rows('SELECT max(value) - 9999 AS v, count() AS n FROM shop.usage')).toEqual([{ v: 1e-12, n: 10000 }])
    const compact = await client.query({
      query: 'SELECT value FROM shop.usage WHERE id = 3',
      format: 'JSONCompact',
      ...exact,
    })
    expect((await compact.json()).data).toEqual([['3.000000000001']])
    const meta = await client.query({ query: 'SELECT value FROM shop.usage WHERE id = 3', format: 'JSON', ...exact })
    expect(await meta.json()).toMatchObject({ rows: 1, meta: [{ name: 'value', type: 'Decimal(38, 12)' }] })
  })

  test('objects, chosen columns, settings in the statement and no rows at all', async () => {
    await client.command({
      query: "CREATE TABLE shop.parts (a Int32, b String DEFAULT '-') ENGINE = MergeTree ORDER BY a",
    })
    await client.insert({ table: 'shop.parts', values: [{ a: 1, b: 'x' }, { a: 2 }], format: 'JSONEachRow' })
    await client.insert({ table: 'shop.parts', values: [[3]], columns: ['a'], format: 'JSONCompactEachRow' })
    await client.insert({ table: 'shop.parts', values: [], format: 'JSONEachRow' })
    await client.insert({
      table: 'shop.parts',
      values: [{ a: 4, unknown: true }],
      format: 'JSONEachRow',
      clickhouse_settings: { input_format_skip_unknown_fields: 1 },
    })
    await client.command({ query: 'INSERT INTO shop.parts SELECT number + 10, toString(number) FROM numbers(2)' })
    await client.command({ query: "INSERT INTO shop.parts VALUES (20, 'INSERT''d')" })
    expect(
      await rows('SELECT groupArray(concat(toString(a), b)) AS all FROM (SELECT * FROM shop.parts ORDER BY a)'),
    ).toEqual([{ all: ['1x', '2-', '3-', '4-', '100', '111', "20INSERT'd"] }])
  })

  test('bound parameters of any content arrive as they were sent', async () => {
    const text = 'it\'s "quoted" \\ back\tslash\nnewline {x:String} ; -- é漢 \u{1F600}'
    const list = ["a'b", 'c\\d', 'é', '']
    expect(
      await rows(
        'SELECT {text:String} AS text, {list:Array(String)} AS list, {n:UInt64} AS n, {d:Decimal(38,12)} AS d',
        {
          query_params: { text, list, n: '18446744073709551615', d: '0.000000000001' },
          clickhouse_settings: { output_format_json_quote_64bit_integers: 1, output_format_json_quote_decimals: 1 },
        },
      ),
    ).toEqual([{ text, list, n: '18446744073709551615', d: '0.000000000001' }])
  })

  test('a bound parameter as long as a server takes arrives whole', async () => {
    // 128 KiB (http_max_field_value_size), which percent-encoding makes longer.
    const times = Array.from({ length: 9_000 }, (_, index) => 1_772_000_000_000 + index)
    expect(
      await rows('SELECT length({times:Array(Int64)}) AS n, {times:Array(Int64)}[9000] AS last', {
        query_params: { times },
        clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
      }),
    ).toEqual([{ n: '9000', last: '1772000008999' }])
  })

  test('gzip both ways', async () => {
    const zipped = connect({ compression: { request: true, response: true } })
    await zipped.insert({ table: 'shop.parts', values: [{ a: 99, b: 'zip' }], format: 'JSONEachRow' })
    expect(await rows('SELECT b FROM shop.parts WHERE a = 99', {}, zipped)).toEqual([{ b: 'zip' }])
  })

  test('raw bytes through exec, as the aggregator inserts', async () => {
    const { Readable } = await import('node:stream')
    const { stream } = await client.exec({
      query: 'INSERT INTO shop.parts (a, b) FORMAT JSONCompactEachRow',
      values: Readable.from([Buffer.from('[200,"é1"]\n[201,"é'), Buffer.from('2"]')], { objectMode: false }),
    })
    stream.destroy()
    expect(await rows('SELECT b FROM shop.parts WHERE a >= 200 ORDER BY a')).toEqual([{ b: 'é1' }, { b: 'é2' }])
  })
})

describe('refusals carry the code and type a server sends', () => {
  for (const [query, code, type] of [
    ['SELECT * FROM shop.nothing', '60', 'UNKNOWN_TABLE'],
    ['SELECT nothing FROM shop.parts', '47', 'UNKNOWN_IDENTIFIER'],
    ['SELECT FROM WHERE', '62', 'SYNTAX_ERROR'],
    ["SELECT throwIf(1, 'asked for')", '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ['SELECT {missing:String}', '456', 'UNKNOWN_QUERY_PARAMETER'],
  ] as const)
    test(query, () => expect(rows(query)).rejects.toMatchObject({ code, type }))

  test('an insert with one bad row inserts nothing', async () => {
    const values = [{ a: 300 }, { a: 'not a number' }]
    await expect(client.insert({ table: 'shop.parts', values, format: 'JSONEachRow' })).rejects.toMatchObject({
      code: '27',
    })
    expect(await rows('SELECT count() AS n FROM shop.parts WHERE a = 300')).toEqual([{ n: 0 }])
  })

  test('an unknown setting, an unknown database', async () => {
    await expect(rows('SELECT 1', { clickhouse_settings: { no_such_setting: 1 } })).rejects.toMatchObject({
      code: '115',
    })
    await expect(rows('SELECT 1', {}, connect({ database: 'nowhere' }))).rejects.toMatchObject({ code: '81' })
  })

  test('a wrong or missing password is refused, and a GET cannot write', async () => {
    await expect(
      rows('SELECT 1', {}, connect({ url: service.url.replace(/:[0-9a-f]{64}@/, ':guess@') })),
    ).rejects.toMatchObject({ code: '516' })
    const { origin, username, password } = new URL(service.url)
    expect((await fetch(`${origin}/?query=SELECT%201`)).status).toBe(403)
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const read = await fetch(`${origin}/?query=SELECT%201`, { headers: { authorization } })
    expect([read.status, await read.text()]).toEqual([200, '1\n'])
    const write = await fetch(`${origin}/?query=DROP%20TABLE%20shop.parts`, { headers: { authorization } })
    expect([write.status, write.headers.get('x-clickhouse-exception-code')]).toEqual([403, '164'])
  })
})

test('requests for two databases run interleaved and never see each other or their settings', async () => {
  const two = await Promise.all(
    ['left', 'right'].map(async database => {
      await client.command({ query: `CREATE DATABASE ${database}` })
      const own = connect({ database })
      await own.command({ query: 'CREATE TABLE t (who String) ENGINE = MergeTree ORDER BY who' })
      await own.insert({ table: 't', values: [{ who: database }], format: 'JSONEachRow' })
      return { database, own }
    }),
  )
  const asked = Array.from({ length: 200 }, async (_, i) => {
    const { database, own } = two[i % 2] ?? { database: '', own: client }
    const quoted = i % 3 === 0 ? 1 : 0
    const [row] = await rows<{ who: string; db: string; n: unknown }>(
      'SELECT who, currentDatabase() AS db, toUInt64({i:UInt64}) AS n FROM t',
      { query_params: { i }, clickhouse_settings: { output_format_json_quote_64bit_integers: quoted } },
      own,
    )
    expect(row).toEqual({ who: database, db: database, n: quoted ? String(i) : i })
  })
  await Promise.all(asked)
  expect(asked.length).toBe(200)
})

test('a question never sees the database, the settings or the values of one before it', async () => {
  const settings = { max_threads: 1 as const, output_format_json_quote_64bit_integers: 1 as const }
  const ask = (query: string, options: object = {}, from = client) => rows(query, options, from)
  const setting = "SELECT getSetting('max_threads') AS threads, currentDatabase() AS db"
  for (const _turn of ['first', 'second', 'third']) {
    for (const value of ['one', 'two'])
      expect(await ask('SELECT {value:String} AS value', { query_params: { value } })).toEqual([{ value }])
    await expect(ask('SELECT {value:String} AS value')).rejects.toMatchObject({ code: '456' })
    await expect(ask('SELECT {value:String} AS value', { query_params: { other: '1' } })).rejects.toMatchObject({
      code: '456',
    })
    expect(await ask(setting, { clickhouse_settings: settings })).toEqual([{ threads: 1, db: 'default' }])
    const [plain] = await ask(`${setting} SETTINGS max_threads = 3`)
    expect(plain).toMatchObject({ threads: 3 })
    const [after] = await ask(setting)
    expect(after).not.toMatchObject({ threads: 3 })
    expect(await ask(setting, { clickhouse_settings: settings }, connect({ database: 'system' }))).toEqual([
      { threads: 1, db: 'system' },
    ])
  }
})

test('inserts and queries side by side lose nothing', async () => {
  await client.command({ query: 'CREATE TABLE shop.busy (id UInt64) ENGINE = ReplacingMergeTree ORDER BY id' })
  await Promise.all(
    Array.from({ length: 40 }, async (_, batch) => {
      const values = Array.from({ length: 500 }, (_row, i) => ({ id: batch * 500 + i }))
      await client.insert({ table: 'shop.busy', values, format: 'JSONEachRow' })
      const [row] = await rows<{ n: number }>(
        'SELECT count() AS n FROM shop.busy FINAL WHERE id >= {from:UInt64} AND id < {to:UInt64}',
        {
          query_params: { from: batch * 500, to: batch * 500 + 500 },
        },
      )
      expect(row?.n).toBe(500)
    }),
  )
  expect(await rows('SELECT count() AS n FROM shop.busy FINAL')).toEqual([{ n: 20_000 }])
})

test('kill -9 in the middle of inserts: every answered row is there after the next start', async () => {
  await client.command({ query: 'CREATE TABLE shop.kept (id UInt64) ENGINE = MergeTree ORDER BY id' })
  const answered: number[] = []
  const writer = (async () => {
    for (let id = 0; ; id += 1) {
      await client.insert({ table: 'shop.kept', values: [{ id }], format: 'JSONEachRow' })
      answered.push(id)
      if (id === 30) setTimeout(() => process.kill(service.child.pid, 'SIGKILL'), 5)
    }
  })()
  await expect(writer).rejects.toThrow()
  expect((await service.child.exited).signal).toBe('SIGKILL')
  await start()
  const kept = new Set((await rows<{ id: number }>('SELECT id FROM shop.kept')).map(row => row.id))
  expect(answered.length).toBeGreaterThan(30)
  expect(answered.filter(id => !kept.has(id))).toEqual([])
  expect(await rows('SELECT count() AS n FROM shop.usage')).toEqual([{ n: 10_000 }])
})

test('an orphan of a killed start is ended by the next one', async () => {
  const orphan = service.child
  const port = await freePort()
  const next = await startClickHouse({ dataDir, port, log: () => {} })
  expect(await orphan.exited).toMatchObject({ code: 0 })
  service = next
  client = connect()
  expect(await rows('SELECT count() AS n FROM shop.usage')).toEqual([{ n: 10_000 }])
})
