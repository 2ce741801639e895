// An insert that is written once stores and gives back what drizzle's own does, whichever columns are given.
import { sql } from 'drizzle-orm'
import { boolean, customType, jsonb, numeric, pgTable, text } from 'drizzle-orm/pg-core'
import { expect, test } from 'vitest'
import { overOneConnection } from '../../testing/over-one-connection.ts'
import { inTenant, SERVICE, type Uow } from '../database.ts'
import { insertOnce } from './insert-once.ts'

const tenant = { platformId: 'plat_a', environment: 'LIVE' } as const

const database = overOneConnection()

const upper = customType<{ data: string; driverData: string }>({
  dataType: () => 'text',
  toDriver: value => value.toLowerCase(),
  fromDriver: value => value.toUpperCase(),
})
const things = pgTable('things', {
  name: text(),
  code: upper(),
  price: numeric(),
  shape: jsonb(),
  list: text().array(),
  flag: boolean(),
})

const onThings = (work: (uow: Uow) => Promise<unknown>) =>
  inTenant(database(), tenant, SERVICE, async uow => {
    await uow.tx.execute(
      sql`create temporary table things (name text default 'none', code text, price numeric, shape jsonb, list text[], flag boolean) on commit drop`,
    )
    return await work(uow)
  })

const ROWS: readonly Record<string, unknown>[] = [
  { name: 'a', code: 'Ab', price: '1.50', shape: { a: [1, null] }, list: ['x"', 'y\\', 'NULL', ''], flag: true },
  { name: 'b', code: null, price: null, shape: null, list: null, flag: null },
  { code: 'x', shape: [] },
  { name: undefined, flag: false, list: [] },
  { name: sql`upper('c')`, shape: 'text' },
]

test('a row is stored and given back as by drizzle, the first time and again', async () => {
  const expected = await onThings(async ({ tx }) => {
    const found: unknown[] = []
    for (const row of ROWS) found.push(...(await tx.insert(things).values(row).returning()))
    return found
  })
  for (const _ of ['first', 'again']) {
    const inserted = await onThings(async uow => {
      const found: unknown[] = []
      for (const row of ROWS) found.push(...(await insertOnce(uow, things, row)))
      expect(await uow.tx.select().from(things)).toEqual(found)
      return found
    })
    expect(inserted).toEqual(expected)
  }
})

test('a refusal says what drizzle says', async () => {
  const insert = onThings(uow => insertOnce(uow, things, { price: 'none' }))
  await expect(insert).rejects.toMatchObject({ cause: { code: '22P02' } })
})
