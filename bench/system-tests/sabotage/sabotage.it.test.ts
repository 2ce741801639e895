// The tests find what they are there to find: each runs once more against sources with one defence taken away. Each run has an app and
// a database of its own; what the fault does not reach is loaded once for all runs of a file.
import { readFileSync } from 'node:fs'
import { beforeAll, expect, inject, test } from 'vitest'
import type {} from '../../../shared/testing/global-setup.ts'
import type { TestResult } from './lane.ts'
import { MUTANTS } from './mutants.ts'
import { openLane } from './run-tests.ts'

const ALL_MS = 1_200_000

const results = new Map<string, readonly TestResult[] | Error>()
const mutants = Object.entries(MUTANTS)
const files = [...new Set(mutants.map(([, { caughtBy }]) => caughtBy.file))]
const testsIn = (file: string): string[] => [
  ...new Set(mutants.flatMap(([, { caughtBy }]) => (caughtBy.file === file ? [caughtBy.tests] : []))),
]

beforeAll(async () => {
  const servers = { databaseUrl: inject('databaseUrl'), databaseTemplate: inject('databaseTemplate') }
  // One process: what it has loaded for a file it need not load for the next.
  const lane = openLane(servers)
  for (const file of files) {
    const runs = [
      { sabotage: null, pattern: testsIn(file).join('|') },
      ...mutants.flatMap(([sabotage, { caughtBy }]) =>
        caughtBy.file === file ? [{ sabotage, pattern: caughtBy.tests }] : [],
      ),
    ]
    const ran = await lane.run({ file, runs }).catch((error: Error) => error)
    for (const [place, { sabotage }] of runs.entries())
      results.set(sabotage ?? file, ran instanceof Error ? ran : (ran[place] ?? []))
  }
  await lane.close()
}, ALL_MS)

const resultOf = (name: string): readonly TestResult[] => {
  const result = results.get(name)
  if (result === undefined || result instanceof Error) throw result ?? new Error(`${name} did not run`)
  return result
}

test.each(mutants)('the fault is one: %s', (_name, { edits }) => {
  for (const { file, from } of edits) expect(readFileSync(file, 'utf8').split(from), file).toHaveLength(2)
})

test.each(files)('without a fault the chosen tests of %s pass', file => {
  const ran = resultOf(file)
  expect(ran.filter(({ status }) => status === 'failed')).toEqual([])
  for (const part of testsIn(file)) expect(ran.map(({ name }) => name).join('\n')).toContain(part)
})

test.each(mutants)('the tests notice when %s', name => {
  const failed = resultOf(name).filter(({ status }) => status === 'failed')
  expect(failed.length).toBeGreaterThan(0)
  // A fault that merely breaks the code would be noticed by anything.
  for (const { messages } of failed) expect(messages.join('\n')).not.toMatch(/SyntaxError|ReferenceError|TypeError/)
})
