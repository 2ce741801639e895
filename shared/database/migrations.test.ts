// The owner of the schema may be no superuser (docs/operating.md): row-level security that is forced hides every row from it.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDER = 'shared/database/migrations'
/** Earlier ones have run, and never change. */
const FROM = '20261123'

const fillsHidden = (sql: string): string[] =>
  [...sql.matchAll(/^update (\w+)/gim)]
    .map(([, table]) => table ?? '')
    .filter(
      table =>
        !sql.includes(`alter table ${table} no force row level security;`) ||
        !sql.includes(`alter table ${table} force row level security;`),
    )

test.each([
  ['update payments set a = 1;', ['payments']],
  ['alter table payments no force row level security;\nupdate payments set a = 1;', ['payments']],
  [
    'alter table a no force row level security;\nupdate a set b = 1;\nalter table a force row level security;\nUPDATE b set c = 1;',
    ['b'],
  ],
])('the check finds a migration whose update reaches no row: %#', (sql, tables) => {
  expect(fillsHidden(sql)).toEqual(tables)
})

test('a migration that fills rows lifts the forced row-level security of their table meanwhile', () => {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.sql') && name >= FROM)
  expect(files.length).toBeGreaterThan(0)
  const hidden = files.flatMap(name => fillsHidden(readFileSync(`${FOLDER}/${name}`, 'utf8')).map(of => [name, of]))
  expect(hidden).toEqual([])
})
