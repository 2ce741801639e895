// Where the data of the servers that tests share lies.
import { existsSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { quickParent, temporaryFolder } from './temporary.ts'

test('data that does not fit into memory lies in the temporary folder of the system', () => {
  expect(quickParent(Number.MAX_SAFE_INTEGER)).toBe(tmpdir())
  expect(existsSync(quickParent(0))).toBe(true)
})

test('others may pass through a temporary folder but not list it', () => {
  const folder = temporaryFolder('millrace-temporary-', quickParent(0))
  expect(dirname(folder)).toBe(quickParent(0))
  expect(statSync(folder).mode & 0o777).toBe(0o711)
  rmSync(folder, { recursive: true })
})
