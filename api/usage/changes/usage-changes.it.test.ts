// Marks of many customers and meters, asked for in one statement: held equal to what each question says of the marks themselves.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tenant } from '../../../shared/tenant.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../shared/testing/clickhouse.ts'
import { instantOf, interval } from '../../../shared/time.ts'
import { type ClickHouseClient, createClickHouse, insertLines } from '../../../shared/usage/clickhouse.ts'
import { changedCustomers } from './changed-customers.ts'
import { latestMarks } from './latest-marks.ts'
import { type ChangeQuery, usageChanges } from './usage-changes.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 2, 1)
const tenant: Tenant = { platformId: 'plat_marks', environment: 'TEST' }
let clickhouse: TestClickHouse
let client: ClickHouseClient

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
})
afterAll(async () => {
  await client?.close()
  await clickhouse?.drop()
})

type Mark = {
  readonly customer: string
  readonly meter: string
  readonly hour: number
  readonly partition: number
  readonly seq: number
}
const CUSTOMERS = ['a', 'b', "c'\\"] as const
const METERS = ['tokens', 'hits"'] as const

const anyMark: fc.Arbitrary<Mark> = fc.record({
  customer: fc.constantFrom(...CUSTOMERS),
  meter: fc.constantFrom(...METERS),
  hour: fc.nat(20),
  partition: fc.nat(2),
  seq: fc.integer({ min: 1, max: 7 }),
})
const anyPiece = fc
  .tuple(
    fc.nat(60),
    fc.integer({ min: 1, max: 30 }),
    fc.array(fc.nat(6), { maxLength: 3 }),
    fc.subarray([...CUSTOMERS]),
  )
  .map(([start, length, positions, newKeys]) => ({
    interval: interval(instantOf(START + (start * HOUR) / 4), instantOf(START + ((start + length) * HOUR) / 4)),
    positions,
    newKeys,
  }))
const anyQuestion: fc.Arbitrary<ChangeQuery> = fc.record({
  customerKeys: fc.subarray([...CUSTOMERS]),
  meterReference: fc.constantFrom(...METERS),
  pieces: fc.array(anyPiece, { maxLength: 3 }),
})

async function store(marks: readonly Mark[]): Promise<void> {
  await client.command({ query: 'TRUNCATE TABLE usage_bucket_marks' })
  // Another tenant's marks are nobody's here.
  const rows = marks.flatMap(({ customer, meter, hour, partition, seq }) =>
    [tenant.platformId, 'plat_other'].map((platform, other) =>
      JSON.stringify([platform, 'TEST', customer, meter, START / 1000 + hour * 3600, partition, seq + other * 100]),
    ),
  )
  await insertLines(client, 'usage_bucket_marks', rows)
}

const touches = (mark: Mark, { customerKeys, meterReference }: ChangeQuery): boolean =>
  customerKeys.includes(mark.customer) && meterReference === mark.meter

test('every piece is given what the marks of its customers and its meter say', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMark, { maxLength: 30 }),
      fc.array(anyQuestion, { minLength: 1, maxLength: 5 }),
      async (marks, questions) => {
        await store(marks)
        const expected = questions.map(question =>
          question.pieces.map(({ interval: { start, end }, positions, newKeys }) =>
            marks.some(mark => {
              const at = START + mark.hour * HOUR
              const within = at + HOUR > start && at < end
              const behind = mark.seq > (positions[mark.partition] ?? 0) || newKeys.includes(mark.customer)
              return touches(mark, question) && within && behind
            }),
          ),
        )
        expect(await usageChanges(client, tenant, questions)).toEqual(expected)
      },
    ),
    { numRuns: 40 },
  )
})

test('the last marks are of the names and meters that were asked, and of the hours that meet the time', async () => {
  await store([
    { customer: 'a', meter: 'tokens', hour: 3, partition: 0, seq: 5 },
    { customer: 'a', meter: 'tokens', hour: 4, partition: 0, seq: 4 },
    { customer: 'a', meter: 'tokens', hour: 9, partition: 0, seq: 9 },
    { customer: 'a', meter: 'hits"', hour: 3, partition: 1, seq: 7 },
    { customer: 'b', meter: 'tokens', hour: 3, partition: 0, seq: 6 },
  ])
  const within = interval(instantOf(START + 3.5 * HOUR), instantOf(START + 9 * HOUR))
  const of = (customerKey: string, meterReference: string) => ({ customerKey, meterReference })
  const found = await latestMarks(client, tenant, {
    places: [of('a', 'tokens'), of('b', 'hits"'), of('b', 'tokens'), of('a', 'tokens')],
    interval: within,
  })
  expect(found.toSorted((x, y) => (x.key < y.key ? -1 : 1))).toEqual([
    { key: 'a', meterReference: 'tokens', partition: 0, seq: 5 },
    { key: 'b', meterReference: 'tokens', partition: 0, seq: 6 },
  ])
  expect(await latestMarks(client, tenant, { places: [], interval: within })).toEqual([])
})

test('the customers that were touched are those with a mark behind the positions, of the tenant', async () => {
  await store([
    { customer: 'a', meter: 'tokens', hour: 3, partition: 0, seq: 5 },
    { customer: 'b', meter: 'tokens', hour: 4, partition: 0, seq: 4 },
    { customer: 'b', meter: 'hits"', hour: 4, partition: 1, seq: 2 },
    { customer: "c'\\", meter: 'tokens', hour: 9, partition: 2, seq: 1 },
  ])
  const since = (...positions: number[]) => changedCustomers(client, tenant, positions)
  expect(await since(4, 2, 0)).toEqual([
    { key: 'a', positions: [5, 0, 0] },
    { key: "c'\\", positions: [0, 0, 1] },
  ])
  expect(await since(5, 1, 1)).toEqual([{ key: 'b', positions: [0, 2, 0] }])
  expect(await since(5)).toEqual([
    { key: 'b', positions: [0, 2] },
    { key: "c'\\", positions: [0, 0, 1] },
  ])
  expect(await since(5, 2, 1)).toEqual([])
})

test('among half a million marks those that nothing touched since are passed over', async () => {
  await client.command({ query: 'TRUNCATE TABLE usage_bucket_marks' })
  await client.command({
    query: `INSERT INTO usage_bucket_marks SELECT {platform:String}, 'TEST', concat('customer-', toString(intDiv(number, 100))), 'tokens',
      toDateTime(${START / 1000} + number % 100 * 3600, 'UTC'), number % 4, intDiv(number, 50) + 1 FROM numbers(500000)`,
    query_params: { platform: tenant.platformId },
  })
  const since = [10_000, 10_000, 10_000, 10_000]
  const new_mark = [tenant.platformId, 'TEST', 'customer-17', 'tokens', START / 1000 + 200 * 3600, 2, 10_001]
  await insertLines(client, 'usage_bucket_marks', [JSON.stringify(new_mark)])
  // As after a merge: what is new lies among what is old.
  await client.command({ query: 'OPTIMIZE TABLE usage_bucket_marks FINAL' })
  expect(await changedCustomers(client, tenant, since)).toEqual([{ key: 'customer-17', positions: [0, 0, 10_001, 0] }])
  const explaining: ClickHouseClient = Object.create(client, {
    select: { value: (of: { sql: string }) => client.select({ ...of, sql: `EXPLAIN indexes = 1 ${of.sql}` } as never) },
  })
  const plan = (await changedCustomers(explaining, tenant, since)).map(({ key }) => key).join('\n')
  const [read, all] = /by_position[\s\S]*?Granules: (\d+)\/(\d+)/.exec(plan)?.slice(1).map(Number) ?? []
  expect(read).toBe(1)
  expect(all).toBeGreaterThan(50)
})
