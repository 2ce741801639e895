// Who may write a table: the module that owns it, nobody else. Reading another module's table for a join is fine.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = 'api/modules'
const files = readdirSync(ROOT, { recursive: true })
  .map(name => join(ROOT, String(name)))
  .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('/testing/'))

/** The module that a file belongs to: its first folder under api/modules. */
const moduleOf = (file: string): string | undefined => file.split('/')[2]

/** The tables that a file imports from another module. */
function foreignTables(file: string, text: string): string[] {
  const imports = [...text.matchAll(/import \{([^}]*)\} from '(\.[^']*\/table\.ts)'/g)]
  return imports
    .filter(([, , path = '']) => {
      const table = join(dirname(file), path)
      return table.startsWith(`${ROOT}/`) && moduleOf(table) !== moduleOf(file)
    })
    .flatMap(([, names = '']) => names.split(','))
    .map(name =>
      name
        .trim()
        .replace(/^type .*/, '')
        .replace(/^\w+ as /, ''),
    )
    .filter(name => name !== '')
}

const writesTable = (text: string, name: string): boolean =>
  new RegExp(`(\\.(insert|update|delete)\\(|(insertMany|updateMany)\\(\\w+, )${name}\\b`).test(text)

test('a module writes only its own tables', () => {
  const foreignWrites = files.flatMap(file => {
    const text = readFileSync(file, 'utf8')
    return foreignTables(file, text)
      .filter(name => writesTable(text, name))
      .map(name => `${file} writes ${name}`)
  })
  expect(foreignWrites).toEqual([])
})

test('a write to the table of another module would be found', () => {
  const text = "import { invoices } from '../../invoices/table.ts'\nawait insertMany(uow, invoices, rows)"
  expect(foreignTables(`${ROOT}/billing/run/x.ts`, text)).toEqual(['invoices'])
  expect(foreignTables(`${ROOT}/invoices/changes/x.ts`, text)).toEqual([])
  expect(writesTable(text, 'invoices')).toBe(true)
})
