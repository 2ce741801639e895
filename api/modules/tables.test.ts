// Who may write a table: the module that owns it, nobody else. Reading another module's table for a join is fine.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const files = readdirSync('api/modules', { recursive: true })
  .map(name => join('api/modules', String(name)))
  .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('/testing/'))

test('a module writes only its own tables', () => {
  const foreignWrites = files.flatMap(file => {
    const text = readFileSync(file, 'utf8')
    const imports = [...text.matchAll(/import \{([^}]*)\} from '\.\.\/[a-z-]+\/table\.ts'/g)]
    const names = imports
      .flatMap(match => (match[1] ?? '').split(',').map(name => name.trim().replace(/^type .*/, '')))
      .filter(name => name !== '')
    return names
      .filter(name => new RegExp(`\\.(insert|update|delete)\\(${name}\\)`).test(text))
      .map(name => `${file} writes ${name}`)
  })
  expect(foreignWrites).toEqual([])
})
