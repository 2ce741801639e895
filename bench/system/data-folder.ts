// The data folder of one system under test, and the end of what killed runs left behind.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporaryFolder } from '../../infra/services/temporary.ts'
import { PROCESSES, pidFileOf } from '../../infra/start/processes.ts'
import { identify, isRunning, readPidFile, stopOrphan, writePidFile } from '../../shared/process/pid-file.ts'

const PREFIX = 'millrace-system-'
const OWNER = 'owner.json'

/** Processes are children of their own group: a run that is killed leaves them, and this ends them. */
async function sweepKilledRuns(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter(each => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name)
    const owner = readPidFile(join(folder, OWNER))
    if (!owner || isRunning(owner)) continue
    for (const spec of PROCESSES) await stopOrphan(pidFileOf(folder, spec.name), 'SIGKILL')
    for (const service of ['clickhouse', 'nats', 'nats-1', 'nats-2', 'nats-3']) {
      const pidFile = join(folder, service, 'server.pid.json')
      if (existsSync(pidFile)) await stopOrphan(pidFile, 'SIGKILL')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A new folder, marked as this process's. */
export async function newDataFolder(): Promise<string> {
  await sweepKilledRuns()
  const folder = temporaryFolder(PREFIX)
  const self = identify(process.pid)
  if (self) writePidFile(join(folder, OWNER), self)
  return folder
}
