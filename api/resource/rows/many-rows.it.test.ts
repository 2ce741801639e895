import { readdirSync } from 'node:fs'
import { getTableColumns, getTableName, is, sql } from 'drizzle-orm'
import { boolean, integer, PgTable, pgTable, text } from 'drizzle-orm/pg-core'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE, type Uow } from '../../../shared/database/database.ts'
import { type ApiHarness, startApi } from '../../testing/harness.ts'
import { decimalText, tenantColumns, wireJson } from '../columns.ts'
import { insertMany, updateMany } from './many-rows.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

const many = pgTable('many_rows_of_test', {
  ...tenantColumns(),
  name: text(),
  amount: decimalText(),
  is_on: boolean(),
  place: integer(),
  tags: text().array(),
  small: wireJson<unknown>(),
  large: wireJson<unknown>(),
})

/** Works with that table, which is there in this transaction alone. */
const withTable = <T>(work: (uow: Uow) => Promise<T>): Promise<T> =>
  inTenant(api.database, api.tenants.aTest.tenant, SERVICE, async uow => {
    await uow.tx.execute(
      sql`create temp table many_rows_of_test (platform_id text, environment environment, id text, created_at timestamptz,
        updated_at timestamptz, name text default 'none', amount numeric, is_on boolean, place integer, tags text[], small jsonb,
        large jsonb) on commit drop`,
    )
    return await work(uow)
  })
const stored = (uow: Uow) => uow.tx.select().from(many).orderBy(many.id)

const AT = '2026-03-01T00:00:00Z'
// Few values, so that rows have them in common or not.
const row = fc.record({
  name: fc.constantFrom(null, 'a', '"b"', 'ë'),
  amount: fc.constantFrom(null, '1', '-0.000000000001', '123456789012345678901234567890'),
  is_on: fc.constantFrom(null, true, false),
  place: fc.constantFrom(null, 0, 7),
  tags: fc.constantFrom(null, [], ['x', 'y,"z"']),
  small: fc.constantFrom<unknown>(null, {}, { a: [null, '1'] }, [], 'text'),
  large: fc.constantFrom<unknown>({ of: 'x'.repeat(50) }, [1, null], 'text'),
})
const rows = fc.array(row, { minLength: 1, maxLength: 4 })
const withIds = <R extends object>(given: readonly R[]) =>
  given.map((each, place) => ({ id: `${place}`, created_at: AT, updated_at: AT, ...each }))
const LARGE = fc.constantFrom(undefined, 'large')

test('rows are inserted and changed as they are given, whatever they have in common', async () => {
  const { platformId: platform_id, environment } = api.tenants.aTest.tenant
  await withTable(async uow => {
    await fc.assert(
      fc.asyncProperty(rows, rows, LARGE, async (first, second, apart) => {
        await uow.tx.delete(many)
        const made = withIds(first)
        await insertMany(uow, many, made, apart)
        const now = made.map(each => ({ ...each, platform_id, environment }))
        expect(await stored(uow)).toEqual(now)
        const changed = withIds(second).slice(0, made.length)
        await updateMany(uow, many, changed, apart)
        expect(await stored(uow)).toEqual(now.map((each, place) => ({ ...each, ...changed[place] })))
      }),
      { numRuns: 60 },
    )
  })
})

test('rows that are all the same are as many as were given, and columns that no row has keep their defaults', async () => {
  await withTable(async uow => {
    const same = { id: 'one', created_at: AT, updated_at: AT, place: 1 }
    await insertMany(uow, many, [same, same, same])
    expect((await stored(uow)).map(({ id, name, place }) => [id, name, place])).toEqual(
      [1, 2, 3].map(() => ['one', 'none', 1]),
    )
  })
})

test('a row that is not there is an error', async () => {
  await withTable(async uow => {
    await insertMany(uow, many, withIds([{ place: 1 }]))
    const two = withIds([{ place: 2 }, { place: 3 }])
    await expect(updateMany(uow, many, two)).rejects.toThrow('2 rows were to be updated, and 1 are there')
  })
})

/** Every table that the modules declare. */
async function moduleTables(): Promise<PgTable[]> {
  const root = new URL('../../modules/', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('table.ts'))
  const found = await Promise.all(files.map(async name => Object.values(await import(new URL(name, root).href))))
  return found.flat().filter((value): value is PgTable => is(value, PgTable))
}

/** Drizzle's names where PostgreSQL prints others. */
const PRINTED: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone' }

// Rows of many are read from JSON by the types of the table here, and stored by those of the database.
test('the columns of every table have the types here that they have in the database', async () => {
  const { rows } = await inTenant(api.database, api.tenants.aTest.tenant, SERVICE, uow =>
    uow.tx.execute<{
      column: string
      type: string
    }>(sql`select c.relname || '.' || a.attname as column, format_type(a.atttypid, a.atttypmod) as type
      from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = 'public'::regnamespace and a.attnum > 0`),
  )
  const stored = new Map(rows.map(({ column, type }) => [column, type]))
  const tables = await moduleTables()
  const differences = tables.flatMap(table =>
    Object.values(getTableColumns(table)).flatMap(column => {
      // All rows of a statement have it in common, and PostgreSQL takes that by the type it has there.
      if (column.name === 'environment') return []
      const place = `${getTableName(table)}.${column.name}`
      const type = column.getSQLType()
      return stored.get(place) === (PRINTED[type] ?? type) ? [] : [`${place}: ${type} is ${stored.get(place)}`]
    }),
  )
  expect(tables.length).toBeGreaterThan(40)
  expect(differences).toEqual([])
})
