// One test file, once as it is and once with each of its faults. Its tests and hooks are those of the describe that imports it.
import { join } from 'node:path'
import { describe, inject } from 'vitest'
import { PROJECT_ROOT } from '../../../infra/services/project.ts'
import { nameOf, withFault } from './runs.ts'

const { file, runs } = inject('sabotage')
for (const [place, sabotage] of runs.entries())
  describe(nameOf(place), async () => {
    await import(/* @vite-ignore */ withFault(join(PROJECT_ROOT, file), sabotage))
  })
