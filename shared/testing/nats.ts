// A NATS server of one test file: real, with JetStream on disk, and killed or restarted when the test says so.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../infra/services/child.ts'
import { type NatsService, startNats } from '../../infra/services/nats.ts'

export type TestNats = {
  /** Stays the same over restarts. */
  readonly url: string
  /** Ends the server and removes its data. */
  stop(): Promise<void>
  /** Ends the server as a crash would; its data stays. */
  kill(): Promise<void>
  /** Holds it where it stands: connections stay open and nothing is answered, until `resume`. */
  pause(): void
  resume(): void
  /** Starts it again, on the same port and data, ending it first if it runs. */
  restart(): Promise<void>
}

/** `storeBytesMax`: a quota for its streams. */
export async function startTestNats(options: { storeBytesMax?: number } = {}): Promise<TestNats> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-nats-'))
  const port = await freePort()
  const start = () => startNats({ dataDir, port, log: () => {}, ...options })
  let service: NatsService = await start()
  return {
    url: service.url,
    stop: async () => {
      process.kill(service.child.pid, 'SIGCONT')
      await service.stop()
      rmSync(dataDir, { recursive: true })
    },
    kill: () => service.child.kill(),
    pause: () => standStill(service.child.pid),
    resume: () => void process.kill(service.child.pid, 'SIGCONT'),
    restart: async () => {
      await service.stop()
      service = await start()
    },
  }
}

/** Returns when each of its threads has stopped: until then one of them may still answer. */
function standStill(pid: number): void {
  process.kill(pid, 'SIGSTOP')
  if (process.platform !== 'linux') return
  const tasks = `/proc/${pid}/task`
  const hasStopped = (task: string): boolean => / T /.test(readFileSync(join(tasks, task, 'stat'), 'utf8'))
  while (!readdirSync(tasks).every(hasStopped));
}
