// Nothing writes a notice but the one door: consumers, the audit trail and retention rest on how it does.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

test('the outbox is written in one file', () => {
  const writers = ['aggregator', 'api', 'identity', 'infra', 'ingest', 'shared'].flatMap(part =>
    readdirSync(join(ROOT, part), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('node_modules'))
      .filter(file => /insert\s+into\s+outbox\b/i.test(readFileSync(join(ROOT, part, file), 'utf8')))
      .map(file => `${part}/${file}`),
  )
  expect(writers).toEqual(['shared/database/outbox.ts'])
})
