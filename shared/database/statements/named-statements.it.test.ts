// A read with named statements gives the same answers as any other read, and prepares each of its statements once.
import { type SQL, sql } from 'drizzle-orm'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import type {} from '../../testing/global-setup.ts'
import { overOneConnection } from '../../testing/over-one-connection.ts'
import { inTenant, type ReadUow, readTenant, SERVICE } from '../database.ts'
import { withNamedStatements } from './named-statements.ts'

const tenant = (platformId: string) => ({ platformId, environment: 'LIVE' }) as const

const database = overOneConnection()

const ask = async ({ tx }: ReadUow, value: number) => {
  const { rows } = await tx.execute(sql`select ${value}::int + 1 as next, current_platform() as platform`)
  return rows[0]
}

test('each tenant and value is answered for itself, however often the question was asked', async () => {
  for (let value = 0; value < 8; value += 1) {
    const platform = `plat_${value}`
    const answer = readTenant(database(), tenant(platform), uow => ask(withNamedStatements(uow), value))
    expect(await answer).toEqual({ next: value + 1, platform })
  }
  const { rows } = await readTenant(database(), tenant('plat_a'), ({ tx }) =>
    tx.execute(
      sql`select name, generic_plans::int as generic from pg_prepared_statements where statement like '%as next%'`,
    ),
  )
  expect(rows).toEqual([{ name: expect.stringMatching(/^kept \d+$/), generic: expect.any(Number) }])
  expect(Number(rows[0]?.['generic'])).toBeGreaterThan(0)
})

test('a query that fails throws as any other does, and can be sent again', async () => {
  const divide = (by: number) =>
    readTenant(database(), tenant('plat_a'), async uow => {
      const { rows } = await withNamedStatements(uow).tx.execute(sql`select 6 / ${by}::int as part`)
      return rows[0]
    })
  await expect(divide(0)).rejects.toMatchObject({ cause: { code: '22012' } })
  expect(await divide(2)).toEqual({ part: 3 })
})

test('a change succeeds although a migration changed a column type that its connection had prepared a statement for', async () => {
  const work = (statement: SQL) =>
    inTenant(database(), tenant('plat_a'), SERVICE, async ({ tx }) => (await tx.execute(statement)).rows)
  const [{ name } = {}] = await work(sql`select current_database() as name`)
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${name}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query(
      'create table changing (size int); insert into changing values (3); grant select on changing to public',
    )
    const sizes = () => work(sql`select size from changing where size > ${1}`)
    for (const _ of ['first', 'named', 'again']) expect(await sizes()).toEqual([{ size: 3 }])
    await client.query('alter table changing alter column size type text using size::text || $$0$$')
    await expect(work(sql`select size from changing`)).resolves.toEqual([{ size: '30' }])
    const named = () => work(sql`select size from changing where size::int > ${1}`)
    for (const _ of ['first', 'named']) expect(await named()).toEqual([{ size: '30' }])
    await client.query('alter table changing alter column size type int using size::int')
    expect(await named()).toEqual([{ size: 30 }])
  } finally {
    await client.query('drop table changing')
    await client.end()
  }
})
