// Migrations of large tables run while the version before still works on them: none may hold up its reads while stored rows are checked
// or indexed.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDER = 'shared/database/migrations'
/** Tables that grow with every billing period or change. */
const LARGE = ['invoices', 'invoice_lines', 'closed_usage', 'outbox', 'payments']
/** Those before have run somewhere. */
const SINCE = '20261123T0500'

/** What a migration does to `table` that reads would wait for. Pure. */
function blocksOf(sql: string, table: string): string[] {
  const statements = sql.replaceAll(/--.*$/gm, '').split(';')
  const altered = statements.filter(each => new RegExp(`^\\s*alter table ${table}\\s`, 'i').test(each))
  const checked = altered.filter(each => count(each, /\bcheck\s*\(|\breferences\b/gi) > count(each, /\bnot valid\b/gi))
  const isLocked = altered.some(each => !/\bvalidate constraint\b/i.test(each))
  const indexed = statements.filter(each =>
    new RegExp(`^\\s*create (unique )?index .*\\son ${table}\\b`, 'is').test(each),
  )
  return [
    ...checked.map(() => `${table}: a constraint without "not valid"`),
    ...(isLocked ? indexed.map(() => `${table}: an index in the transaction that alters the table`) : []),
  ]
}
const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

test.each<[string, string, number]>([
  ['a checked constraint', 'alter table invoices add check (a > 0);', 1],
  ['a constraint of a new column', 'alter table invoices\n  add column a text references invoices;', 1],
  ['one of two', 'alter table invoices add check (a > 0) not valid, add check (b > 0);', 1],
  ['an index beside', 'alter table invoices add column a text;\ncreate index i\n  on invoices (a);', 1],
  ['a constraint for later', 'alter table invoices add column a text, add constraint c check (a > 0) not valid;', 0],
  ['a validation', 'alter table invoices validate constraint c;', 0],
  ['an index by itself', '-- alter table invoices\ncreate index i on invoices (a);', 0],
  ['another table', 'alter table invoices_of add check (a > 0); create index i on invoices_of (a);', 0],
])('finds %s', (_name, sql, blocks) => {
  expect(blocksOf(sql, 'invoices')).toHaveLength(blocks)
})

test('no migration keeps readers of a large table waiting', () => {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.sql') && name >= SINCE)
  const blocks = files.flatMap(name => {
    const sql = readFileSync(`${FOLDER}/${name}`, 'utf8')
    return LARGE.flatMap(table => blocksOf(sql, table)).map(fault => `${name}: ${fault}`)
  })
  expect(blocks).toEqual([])
})
