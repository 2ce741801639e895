// What drizzle writes with columns that are kept is what it writes by itself, the first time and again.
import { eq, getTableColumns, getTableName, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { alias, boolean, type PgTable, pgSchema, pgTable, text } from 'drizzle-orm/pg-core'
import { expect, test, vi } from 'vitest'
import { drizzleOn } from './drizzle-on.ts'

const connection = { query: vi.fn() } as never
const plain = drizzle(connection)
const kept = drizzleOn(connection)

const things = pgTable('things', { id: text(), name: text('the "name"'), isNew: boolean('is_new') })
const others = pgTable('others', { id: text(), thingId: text('thing_id') })
const elsewhere = pgSchema('elsewhere').table('things', { id: text(), name: text() })

type Written = { toSQL(): { readonly sql: string; readonly params: readonly unknown[] } }

const STATEMENTS: Readonly<Record<string, (db: NodePgDatabase) => Written>> = {
  'all columns': db => db.select().from(things),
  'some columns, under other names': db => db.select({ second: things.name, first: things.id }).from(things),
  'columns in a part': db => db.select({ of: { id: things.id }, name: things.name }).from(things),
  'columns of two tables': db => db.select().from(things).innerJoin(others, eq(others.thingId, things.id)),
  'columns of a schema': db => db.select().from(elsewhere).leftJoin(others, eq(others.thingId, elsewhere.id)),
  'columns under an alias': db => {
    const again = alias(things, 'again')
    return db.select({ a: things.id, b: again.id }).from(things).innerJoin(again, eq(again.name, things.name))
  },
  'expressions before, between and after columns': db =>
    db
      .select({
        none: sql`${'a'}::text`,
        id: things.id,
        upper: sql`upper(${things.name})`.as('upper'),
        name: things.name,
        one: sql`${1}::int`,
      })
      .from(things)
      .where(eq(things.id, 'b')),
  'expressions alone': db => db.select({ count: sql`count(*)` }).from(things),
  'columns of a subquery': db => {
    const inner = db
      .select({ id: things.id, much: sql`1`.as('much') })
      .from(things)
      .as('inner')
    return db.select().from(inner)
  },
  'what an insert returns': db => db.insert(things).values({ id: 'a' }).returning(),
  'what an update returns': db =>
    db.update(things).set({ name: 'b' }).where(eq(things.id, 'a')).returning({ id: things.id }),
  'what a deletion returns': db => db.delete(things).returning(),
}

test.each(Object.entries(STATEMENTS))('%s', (_, statement) => {
  const expected = statement(plain).toSQL()
  for (const _ of ['first', 'again']) expect(statement(kept).toSQL()).toEqual(expected)
})

test('a column of a table that is not read is refused, also after it was written', () => {
  for (const db of [plain, kept]) {
    db.select({ id: others.id }).from(others).toSQL()
    const wrong = db.select({ id: others.id }).from(things)
    expect(() => wrong.toSQL()).toThrow('is not part of the query')
  }
})

test('a column is written by drizzle once', () => {
  const table: PgTable = pgTable('written', { id: text(), name: text() })
  const { dialect } = kept as unknown as { readonly dialect: { escapeName(name: string): string } }
  const escapes = vi.spyOn(dialect, 'escapeName')
  const ask = () => kept.select(getTableColumns(table)).from(table).toSQL()
  const names = () => escapes.mock.calls.flat().filter(name => name !== getTableName(table))
  ask()
  expect(names()).toEqual(['id', 'name'])
  ask()
  expect(names()).toEqual(['id', 'name'])
})
