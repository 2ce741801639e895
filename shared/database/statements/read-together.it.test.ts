// What is asked together is answered from one moment of one tenant, and a fault spoils nothing that comes after it.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { overOneConnection } from '../../testing/over-one-connection.ts'
import { inTenant, type ReadUow, readTenant, readTenantAtOnce, SERVICE } from '../database.ts'
import { preparedQuery } from './prepared.ts'

const tenant = (platformId: string) => ({ platformId, environment: 'LIVE' }) as const

const database = overOneConnection()

const rows = (name: string | null, text: ReturnType<typeof sql>) => (tx: ReadUow['tx']) =>
  name === null
    ? tx.execute(text).then(found => found.rows as unknown[])
    : preparedQuery(name, (on, named) =>
        on
          .select({ value: sql`${text}` })
          .from(sql`(select 1) as one`)
          .prepare(named),
      )(tx, {})

const whose = ({ tx }: ReadUow): Promise<unknown> =>
  rows(
    null,
    sql`select current_platform() as platform, pg_current_snapshot()::text as at, current_setting('transaction_read_only') as read_only`,
  )(tx)

const both = async (uow: ReadUow) => {
  const [[one], [two]] = (await Promise.all([whose(uow), whose(uow)])) as [[Seen], [Seen]]
  expect(one).toEqual(two)
  return one
}
type Seen = { readonly platform: string; readonly at: string; readonly read_only: string }

test('each sees one moment of its own tenant, beside reads and writes on the same connection', async () => {
  const turn = async (index: number): Promise<void> => {
    const platform = `plat_${index}`
    const door = [readTenantAtOnce, readTenant][index % 2] ?? readTenant
    expect(await door(database(), tenant(platform), both)).toMatchObject({ platform, read_only: 'on' })
    if (index % 5 === 0) await inTenant(database(), tenant(platform), SERVICE, async uow => void (await whose(uow)))
  }
  await Promise.all(Array.from({ length: 100 }, (_, index) => turn(index)))
})

test('every kind of value is read as it is otherwise', async () => {
  const value = sql`array_to_json(${sql.param(['x"', 'y\\', 'NULL', ''])}::text[])::text`
  const read = (uow: ReadUow) =>
    Promise.all([
      rows(
        null,
        sql`select ${'a"b\\c'}::text as a, 1.50::numeric as b, null::text as c, '{"a": [1]}'::jsonb as d, true as e`,
      )(uow.tx),
      rows('kinds', value)(uow.tx),
    ])
  const expected = await readTenant(database(), tenant('plat_a'), read)
  for (const _ of ['first', 'again'])
    expect(await readTenantAtOnce(database(), tenant('plat_a'), read)).toEqual(expected)
})

test('what fails is told, and the next read on the connection is sound', async () => {
  const named = rows('one', sql`1`)
  const failing = readTenantAtOnce(database(), tenant('plat_a'), uow =>
    Promise.all([named(uow.tx), rows('fails', sql`1 / (random() * 0)::int`)(uow.tx), whose(uow)]),
  )
  await expect(failing).rejects.toMatchObject({ cause: { code: '22012' } })
  for (const platform of ['plat_b', 'plat_c']) {
    const read = readTenantAtOnce(database(), tenant(platform), uow => Promise.all([named(uow.tx), both(uow)]))
    expect(await read).toMatchObject([[{ value: 1 }], { platform }])
  }
})

test('it changes nothing', async () => {
  const write = readTenantAtOnce(database(), tenant('plat_a'), ({ tx }) =>
    rows(null, sql`create temporary table t (a int)`)(tx),
  )
  await expect(write).rejects.toMatchObject({ cause: { code: '25006' } })
})

test('a question that comes later is refused, and not asked in the read of another tenant', async () => {
  const late = readTenantAtOnce(database(), tenant('plat_a'), async uow => {
    await whose(uow)
    return await whose(uow)
  })
  await expect(Promise.all([late, readTenantAtOnce(database(), tenant('plat_b'), both)])).rejects.toThrow()
  await expect(late).rejects.toMatchObject({ cause: { message: 'what is read together is asked together' } })
  expect(await readTenantAtOnce(database(), tenant('plat_b'), both)).toMatchObject({ platform: 'plat_b' })
})

test('work that asks nothing, and work that fails by itself, leave the connection as it was', async () => {
  expect(await readTenantAtOnce(database(), tenant('plat_a'), async () => 7)).toBe(7)
  const failing = readTenantAtOnce(database(), tenant('plat_a'), async uow => {
    await whose(uow)
    throw new Error('not that')
  })
  await expect(failing).rejects.toThrow('not that')
  expect(await readTenantAtOnce(database(), tenant('plat_b'), both)).toMatchObject({ platform: 'plat_b' })
})
