// ClickHouse and the plain evaluator answer the same, for any condition on any properties.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { anyCondition, anyProperties, anyProperty } from '../../shared/testing/conditions.ts'
import { type ClickHouseClient, createClickHouse, insertLines, selectRows } from '../../shared/usage/clickhouse.ts'
import { distinctText, matcherOf, type UsageCondition } from '../../shared/usage/condition.ts'
import { conditionSql, distinctTextSql, textSql } from './condition-sql.ts'

const EVENTS = 200
let clickhouse: TestClickHouse
let client: ClickHouseClient

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  await client.command({
    query: `CREATE TABLE probe (place UInt32, properties Map(LowCardinality(String), String))
      ENGINE = MergeTree ORDER BY place`,
  })
})
afterAll(async () => {
  await client.close()
  await clickhouse.drop()
})

async function store(events: readonly Record<string, string>[]): Promise<void> {
  await client.command({ query: 'TRUNCATE TABLE probe' })
  await insertLines(
    client,
    'probe',
    events.map((properties, place) => JSON.stringify([place, properties])),
  )
}

async function held(condition: UsageCondition): Promise<boolean[]> {
  const sql = `SELECT place, toUInt8(${conditionSql('properties', condition)}) FROM probe ORDER BY place`
  const rows = await selectRows<[number, number]>(client, sql, {}, { max_query_size: '67108864' })
  return rows.map(([, holds]) => holds === 1)
}

describe('a condition', () => {
  test('holds in ClickHouse for the events it holds for here', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyProperties, { minLength: EVENTS, maxLength: EVENTS }),
        fc.array(anyCondition, { minLength: 8, maxLength: 8 }),
        async (events, conditions) => {
          await store(events)
          for (const condition of conditions) {
            expect(await held(condition), JSON.stringify(condition)).toEqual(events.map(matcherOf(condition)))
          }
        },
      ),
      { numRuns: 25 },
    )
  }, 120_000)

  test('may list ten thousand values several times over, of texts and of numbers', async () => {
    await store([{ region: 'r-9999', size: '4999.50' }, { region: 'r-10000', size: '9999' }, { region: "r-'1" }, {}])
    const region = { reference: 'region', type: 'STRING' as const }
    const size = { reference: 'size', type: 'NUMBER' as const }
    const regions = Array.from({ length: 10_000 }, (_, i) => `r-${i === 1 ? "'" : ''}${i}`)
    const sizes = Array.from({ length: 10_000 }, (_, i) => `${i / 2}`)
    expect(await held({ property: region, comparator: 'IN', values: regions })).toEqual([true, false, true, false])
    expect(await held({ property: region, comparator: 'NOT_IN', values: regions })).toEqual([false, true, false, true])
    expect(await held({ property: size, comparator: 'IN', values: sizes })).toEqual([true, false, false, false])
    const many: UsageCondition = {
      operator: 'AND',
      operands: Array.from({ length: 12 }, (_, list) => ({
        property: region,
        comparator: 'NOT_IN' as const,
        values: regions.map(value => `${value}-of-list-${list}`),
      })),
    }
    expect(await held(many)).toEqual([true, true, true, true])
  })

  test('of more than a statement can hold is refused', () => {
    const values = Array.from({ length: 100 }, () => 'x'.repeat(300_000))
    const condition = { property: { reference: 'p', type: 'STRING' as const }, comparator: 'IN' as const, values }
    expect(() => conditionSql('properties', condition)).toThrow(/more values than one usage query can hold/)
  })
})

test('texts arrive as they are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), async texts => {
      const [row] = await selectRows<string[]>(client, `SELECT ${texts.map(textSql).join(', ')}`)
      expect(row).toEqual(texts.map(text => Buffer.from(text).toString()))
    }),
    { numRuns: 50 },
  )
})

test('values are told apart alike', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyProperties, { minLength: EVENTS, maxLength: EVENTS }),
      anyProperty,
      async (events, property) => {
        await store(events)
        const sql = `SELECT place, ${distinctTextSql('properties', property)} FROM probe ORDER BY place`
        const found = await selectRows<[number, string]>(client, sql)
        const { reference, type } = property
        expect(found.map(([, text]) => text)).toEqual(events.map(each => distinctText(type, each[reference] ?? '')))
      },
    ),
    { numRuns: 12 },
  )
})
