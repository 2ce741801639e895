import { expect, test } from 'vitest'
import { createStartPhases } from './start-phases.ts'

test('each phase takes from the end of the one before, the first from the start of the process', () => {
  let now = 120.4
  const phases = createStartPhases(() => now)
  phases.ended('code')
  now = 300
  phases.ended('database')
  now = 1_000.2
  expect(phases.durations()).toEqual({ code: 120, database: 180, total: 1000 })
})
