import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Script } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT_ROOT } from './services/project.ts'

type Launch = {
  launch(bundle: string): void
  scriptOf(bundle: string, place: string): Script
  codeFor(bundle: string, place: string): { readonly path: string; readonly code: Buffer }
}
const PROGRAM = pathToFileURL(join(PROJECT_ROOT, 'infra', 'launch.mjs')).href
const { launch, scriptOf, codeFor }: Launch = await import(/* @vite-ignore */ PROGRAM)

const folder = mkdtempSync(join(tmpdir(), 'millrace-launch-'))
const bundle = join(folder, 'main.cjs')
const run = globalThis as { launched?: { at: string; os: Promise<object>; fails(): void } }
const TEXT = `const { basename } = require('node:path')
globalThis.launched = {
  at: basename(__filename),
  os: importModule('node:os'),
  fails() { throw new Error('here') },
}
if (globalThis.refuses) throw new Error('refused')
`

beforeAll(() => writeFileSync(bundle, TEXT))
afterAll(() => {
  rmSync(folder, { recursive: true })
  delete run.launched
})

test('a bundle runs as CommonJS, imports what it imports late, and its errors name its own lines', async () => {
  launch(bundle)
  expect(run.launched?.at).toBe('main.cjs')
  expect(await run.launched?.os).toHaveProperty('tmpdir')
  const error = (() => {
    try {
      run.launched?.fails()
    } catch (thrown) {
      return thrown as Error
    }
    return null
  })()
  expect(error?.stack).toContain(`${bundle}:5:`)
})

test('its code is kept, also when it refuses its settings, and taken where it was made for', () => {
  expect(scriptOf(bundle, bundle).cachedDataRejected).toBeUndefined()
  Object.assign(globalThis, { refuses: true })
  const { path, code } = codeFor(bundle, bundle)
  Object.assign(globalThis, { refuses: false })
  writeFileSync(path, code)
  expect(scriptOf(bundle, bundle).cachedDataRejected).toBe(false)
  launch(bundle)
  expect(run.launched?.at).toBe('main.cjs')
  // A copy of it elsewhere would look for packages, and say its errors, where it was made.
  expect(scriptOf(bundle, join(folder, 'elsewhere', 'main.cjs')).cachedDataRejected).toBeUndefined()
})

test('code of another text is passed over', () => {
  writeFileSync(bundle, `${TEXT}\nglobalThis.launched.at = 'another'\n`)
  expect(scriptOf(bundle, bundle).cachedDataRejected).toBe(true)
  launch(bundle)
  expect(run.launched?.at).toBe('another')
})
