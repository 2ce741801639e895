// One run of one job in a test's own process, as the queue would make it.
import type { JobHelpers } from 'graphile-worker'
import type { Job } from '../define-job.ts'
import { type RunnerDeps, tasksOf } from '../runner.ts'

/** Runs the job called `name` once, as its first attempt of three. */
export async function runJob<D extends RunnerDeps>(
  jobs: readonly Job<D, never>[],
  name: string,
  deps: D,
  payload: unknown = {},
): Promise<void> {
  const task = tasksOf(jobs, deps, { workerId: 'test', stop: new AbortController().signal })[name]
  if (!task) throw new Error(`no job is called ${name}`)
  // All that a job is given of the library's helpers.
  await task(payload, { job: { attempts: 1, max_attempts: 3 } } as JobHelpers)
}
