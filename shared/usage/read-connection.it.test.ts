// The short way of questions to ClickHouse says what the client's own way says: values, errors, and what happens to a lost connection.
import { ClickHouseError, createClient, TupleParam } from '@clickhouse/client'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClickHouse, type TestClickHouse } from '../testing/clickhouse.ts'
import { type ServerProxy, startServerProxy } from '../testing/server-proxy.ts'
import { type ClickHouseClient, createClickHouse, isStatementFault, selectCounted, selectRows } from './clickhouse.ts'
import { paramText } from './read-connection.ts'

let clickhouse: TestClickHouse
let client: ClickHouseClient
let own: ReturnType<typeof createClient>
let proxy: ServerProxy
let throughProxy: ClickHouseClient

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  own = createClient({ url: clickhouse.url, database: clickhouse.database })
  proxy = await startServerProxy(clickhouse.url)
  throughProxy = createClickHouse(proxy.url, clickhouse.database)
})
afterAll(async () => {
  await Promise.all([client.close(), own.close(), throughProxy.close()])
  await proxy.takeAway()
  await clickhouse.drop()
})

test('bound texts, numbers and lists come back as they were sent, as the client sends them', async () => {
  const text = fc.string({ unit: 'grapheme' })
  const values = fc.record({
    t: text,
    l: fc.array(text, { maxLength: 4 }),
    n: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  })
  const sql = 'SELECT {t:String}, {l:Array(String)}, {n:UInt64}, {p:Array(Tuple(String, UInt64))}'
  await fc.assert(
    fc.asyncProperty(values, async ({ t, l, n }) => {
      const params = { t, l, n, p: l.map(each => new TupleParam([each, n])) }
      const expected = [t, l, String(n), l.map(each => [each, String(n)])]
      expect(await selectRows(client, sql, params)).toEqual([expected])
      const result = await own.query({
        query: sql,
        query_params: params,
        format: 'JSONCompactEachRow',
        clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
      })
      expect(await result.json()).toEqual([expected])
    }),
    { numRuns: 60 },
  )
  expect(() => paramText({ a: 1 })).toThrow(TypeError)
})

test('what is counted says how many rows there are without the limit, also beyond their end, and as select has them', async () => {
  const sql =
    "SELECT number, 'a\\nb' FROM (SELECT number FROM numbers({n:UInt32})) ORDER BY number DESC LIMIT 2 OFFSET {o:UInt32}"
  const counted = (n: number, o: number) => selectCounted(client, sql, { n, o }, {})
  expect(await counted(70_000, 0)).toEqual({ rows: await selectRows(client, sql, { n: 70_000, o: 0 }), total: 70_000 })
  expect(await counted(3, 2)).toEqual({ rows: [['0', 'a\nb']], total: 3 })
  expect(await counted(3, 9)).toEqual({ rows: [], total: 3 })
  expect(await counted(0, 0)).toEqual({ rows: [], total: 0 })
  await expect(selectCounted(client, 'SELECT 1', {}, {})).rejects.toThrow('has a LIMIT')
  await expect(selectCounted(client, 'SELECT nothing LIMIT 1', {}, {})).rejects.toThrow(ClickHouseError)
})

test('rows are arrays in order, none is none, and exact numbers are texts', async () => {
  const sql =
    "SELECT number, toDecimal128('0.000000000001', 12), concat('a\\nb', toString(number)) FROM numbers({n:UInt32})"
  expect(await selectRows(client, sql, { n: 2 })).toEqual([
    ['0', '0.000000000001', 'a\nb0'],
    ['1', '0.000000000001', 'a\nb1'],
  ])
  expect(await selectRows(client, sql, { n: 0 })).toEqual([])
})

describe('what ClickHouse refuses', () => {
  test.each([
    ['SELECT * FROM nothing', {}, '60'],
    ['SELECT throwIf(number = 3) FROM numbers(10)', {}, '395'],
    ['SELECT sleepEachRow(1) FROM numbers(3)', { max_execution_time: '1' }, '159'],
  ])('%s', async (sql, settings, code) => {
    await expect(selectRows(client, sql, {}, settings)).rejects.toSatisfy(
      error => error instanceof ClickHouseError && error.code === code,
    )
  })
})

test('a connection that was lost has the code of one, and the next question finds another', async () => {
  expect(await selectRows(throughProxy, 'SELECT 1')).toEqual([[1]])
  const long = selectRows(throughProxy, 'SELECT sleep(2)').catch((error: unknown) => error)
  await new Promise(resolve => setTimeout(resolve, 200))
  await proxy.takeAway()
  expect((await long) as Error).toHaveProperty('code', expect.stringMatching(/^ECONN/))
  await expect(selectRows(throughProxy, 'SELECT 1')).rejects.toHaveProperty('code', 'ECONNREFUSED')
  await proxy.bringBack()
  expect(await selectRows(throughProxy, 'SELECT 1')).toEqual([[1]])
})

test('a statement that ClickHouse refuses is not mistaken for a ClickHouse that cannot be reached', async () => {
  const fault = (answer: Promise<unknown>): Promise<unknown> =>
    answer.then(
      () => expect.unreachable('it did not fail'),
      (error: unknown) => error,
    )
  const impatient = createClickHouse(clickhouse.url, clickhouse.database, { commandMs: 200 })
  const unreachable = createClickHouse('http://127.0.0.1:9', 'default')
  const wrong = { query: 'INSERT INTO nothing SELECT 1' }
  try {
    expect(isStatementFault(await fault(client.command(wrong)))).toBe(true)
    expect(isStatementFault(await fault(selectRows(client, 'SELECT wrong')))).toBe(true)
    expect(isStatementFault(await fault(impatient.command({ query: 'SELECT sleep(1) FORMAT Null' })))).toBe(true)
    expect(isStatementFault(await fault(unreachable.command(wrong)))).toBe(false)
    expect(isStatementFault(await fault(selectRows(unreachable, 'SELECT 1')))).toBe(false)
  } finally {
    await Promise.all([impatient.close(), unreachable.close()])
  }
})
