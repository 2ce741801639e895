// A worker as a process of its own for tests that kill it: takes the job `held`, says so, and never ends it.
import { Registry } from 'prom-client'
import { silentLogger } from '../../../shared/process/logger.ts'
import { defineJob } from '../define-job.ts'
import { createWorkerMetrics } from '../metrics.ts'
import { startJobs } from '../runner.ts'

const held = defineJob<object>({
  name: 'held',
  class: 'long',
  rights: {},
  run: async () => {
    process.stdout.write('taken\n')
    await new Promise(() => undefined)
  },
})

const url = process.env['DATABASE_URL'] ?? ''
await startJobs(url, [held], { logger: silentLogger, metrics: createWorkerMetrics(new Registry()) })
