// Runs of a test file in a process of their own, with faults in the sources and with none.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { nodeArgs, PROJECT_ROOT } from '../../../infra/services/project.ts'
import type { FileRun, LaneAnswer, LaneRequest, Servers, TestResult } from './lane.ts'

export type Lane = {
  /**
   * The tests that were to run, each with its outcome, by the place of their run; one file at a time. Throws when the file could not be
   * run at all.
   */
  run(run: FileRun): Promise<readonly (readonly TestResult[])[]>
  close(): Promise<void>
}

const RUN_MS = 540_000

/** Starts the process. Its tests find `servers` as those of `npm test` find theirs. */
export function openLane(servers: Servers): Lane {
  const outer = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))
  const child = spawn(process.execPath, nodeArgs('bench/system-tests/sabotage/lane'), {
    cwd: PROJECT_ROOT,
    env: Object.fromEntries(outer),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(([code, signal]) => `the process ended with ${signal ?? code}`)
  return {
    run: async run => {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(RUN_MS) })
      child.send({ servers, run } satisfies LaneRequest)
      const answered: [LaneAnswer] | string = await Promise.race([answer as Promise<[LaneAnswer]>, ended])
      if (typeof answered === 'string') throw new Error(answered)
      const [outcome] = answered
      if ('fault' in outcome) throw new Error(outcome.fault)
      return outcome.results
    },
    close: async () => {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
