import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readDemoRecord, writeDemoRecord } from './demo-record.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-demo-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a record is found again; one that is not there, or not whole, is none', () => {
  expect(readDemoRecord(folder)).toBeNull()
  const record = { platformIds: ['plat_1', 'plat_2'], finishedAt: '2026-01-01T00:00:00.000Z', lines: ['3300 events'] }
  writeDemoRecord(folder, record)
  expect(readDemoRecord(folder)).toEqual(record)
  writeFileSync(join(folder, 'demo.json'), '{"platformIds": ["plat')
  expect(readDemoRecord(folder)).toBeNull()
  writeFileSync(join(folder, 'demo.json'), '{}')
  expect(readDemoRecord(folder)).toBeNull()
})
