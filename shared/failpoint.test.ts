import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createFailpoints } from './failpoint.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-failpoint-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('nothing happens at a point that is not set', async () => {
  expect(createFailpoints('')('a')).toBeUndefined()
  await createFailpoints('b:error')('a')
  await expect(createFailpoints('b:error,a:error')('a')).rejects.toThrow('failpoint a')
})

test('an entry that names no point or no effect is refused', () => {
  for (const spec of ['a', 'a:stop', ':kill']) expect(() => createFailpoints(spec)).toThrow('name:kill|hold|error')
})

test('with a file, what it says now is in force', async () => {
  const file = join(folder, 'points')
  expect(() => createFailpoints(`@${file}`)).toThrow('ENOENT')
  writeFileSync(file, '')
  const failpoint = createFailpoints(`@${file}`)
  await failpoint('a')
  writeFileSync(file, 'a:error')
  await expect(failpoint('a')).rejects.toThrow('failpoint a')
  await failpoint('b')
})

test('a point that is held goes on when the file says so no more', async () => {
  const file = join(folder, 'held')
  writeFileSync(file, 'a:hold')
  let isOver = false
  const held = createFailpoints(`@${file}`)('a')?.then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  writeFileSync(file, '')
  await held
  expect(isOver).toBe(true)
})
