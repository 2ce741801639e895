// Set-up of the tests that kill the api and the worker: one installation with a tax engine, and its callers.
import pg from 'pg'
import { type Client, createClient } from '../../../infra/demo/client.ts'
import { insertMeter } from '../../setup.ts'
import { createSender, type Sender } from '../../system/client.ts'
import { createLedger } from '../../system/ledger.ts'
import { type System, startSystem } from '../../system/start-system.ts'
import { type CountingEngine, startEngine } from './tax-engine.ts'

export type ApiRig = {
  readonly system: System
  readonly apiKey: string
  readonly engine: CountingEngine
  readonly client: Client
  readonly sender: Sender
  /** Of the database, past every process. */
  readonly owner: pg.Client
  /** Creates a customer under a key. */
  send(body: object, key: string): Promise<Response>
  /** Has the worker do now what the crontab has it do every minute. */
  queueJob(name: string): Promise<unknown>
  close(): Promise<void>
}

export async function openApiRig(): Promise<ApiRig> {
  const engine = await startEngine()
  const system = await startSystem({
    processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'],
    env: { OUTBOUND_NETWORKS: '127.0.0.0/8', TAX_ENGINE_URL: engine.url },
  })
  const apiKey = system.platforms[0].environments.LIVE.api_key
  await insertMeter(system.databaseUrl, system.platforms[0].id)
  const sender = createSender({ url: system.ingestUrl, apiKey, ledger: createLedger() })
  const owner = new pg.Client({ connectionString: system.databaseUrl })
  await owner.connect()
  return {
    system,
    apiKey,
    engine,
    client: createClient(system.baseUrl, apiKey),
    sender,
    owner,
    send: (body, key) =>
      fetch(`${system.baseUrl}/v1/customers`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      }),
    queueJob: name => owner.query('select graphile_worker.add_job($1, job_key => $1)', [name]),
    close: async () => {
      await owner.end()
      await sender.close()
      await system.stop()
      engine.close()
    },
  }
}

/** Until a process is dead, sends it what it dies of. A process that only starts takes no request yet. */
export async function callUntil(dead: Promise<void>, call: () => Promise<unknown>): Promise<void> {
  let over = false
  const settled = dead.finally(() => {
    over = true
  })
  // What it was to die of may end it otherwise, which the last line says.
  settled.catch(() => undefined)
  while (!over) {
    await call().catch(() => undefined)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  await settled
}

export type Sent = { readonly reference: string; readonly key: string }
export const bodyOf = ({ reference }: Sent) => ({ reference, type: 'ORGANIZATION', status: 'ACTIVE' })
