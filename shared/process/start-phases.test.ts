import { expect, test } from 'vitest'
import { createStartPhases } from './start-phases.ts'

test('each phase takes from the end of the one before, the first from the start of the process', () => {
  let [now, cpu] = [120.4, 80]
  const phases = createStartPhases(
    () => now,
    () => cpu,
  )
  phases.ended('code')
  ;[now, cpu] = [300, 90.2]
  phases.ended('database')
  ;[now, cpu] = [1_000.2, 100]
  expect(phases.durations()).toEqual({
    phasesMs: { code: 120, database: 180, total: 1000 },
    phasesCpuMs: { code: 80, database: 10, total: 100 },
  })
})

test('processor time is what this process has worked', () => {
  const phases = createStartPhases()
  phases.ended('code')
  const { phasesMs, phasesCpuMs } = phases.durations()
  expect(phasesCpuMs['code']).toBeGreaterThan(0)
  expect(phasesMs['total']).toBeGreaterThan(0)
})
