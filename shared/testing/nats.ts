// A NATS server of one test file: real, with JetStream on disk, and killed or restarted when the test says so.
import { mkdtempSync, rmSync } from 'node:fs'
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
  /** Starts it again, on the same port and data, ending it first if it runs. */
  restart(): Promise<void>
}

export async function startTestNats(): Promise<TestNats> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-nats-'))
  const port = await freePort()
  const start = () => startNats({ dataDir, port, log: () => {} })
  let service: NatsService = await start()
  return {
    url: service.url,
    stop: async () => {
      await service.stop()
      rmSync(dataDir, { recursive: true })
    },
    kill: () => service.child.kill(),
    restart: async () => {
      await service.stop()
      service = await start()
    },
  }
}
