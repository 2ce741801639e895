// A whole gateway for a test: real PostgreSQL, real NATS, real sockets, and a look into the log.

import { connect as connectTcp } from 'node:net'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import pg from 'pg'
import { createPlatform, type NewPlatform } from '../../shared/access/create-platform.ts'
import { streamName } from '../../shared/contracts/streams.ts'
import { decodeMessage } from '../../shared/contracts/usage-event.ts'
import { newId } from '../../shared/ids.ts'
import { brokerAddress } from '../../shared/log/address.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import type { Environment } from '../../shared/tenant.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { type Clock, systemClock } from '../../shared/time.ts'
import { ingestConfig } from '../config.ts'
import { type Gateway, startGateway } from '../gateway.ts'

export type Reply = { status: number; headers: Headers; body: Record<string, unknown> }

export type GatewayRig = {
  readonly gateway: Gateway
  readonly nats: TestNats
  readonly database: TestDatabase
  readonly platform: NewPlatform
  readonly url: string
  /** Where it says why it is not ready and what it measures. */
  readonly metricsUrl: string
  /** Starts one more gateway on the same servers. Ends with the rig, or before. */
  addGateway(settings?: Record<string, string>, clock?: Clock): Promise<AddedGateway>
  /** Runs SQL as the owner, past the api. */
  sql(text: string, values?: unknown[]): Promise<void>
  /** Cuts every connection to the database and lets none in. */
  closeDatabase(): Promise<void>
  /** Adds an ACTIVE meter with the number value `tokens`, which it requires. Returns its id. */
  addMeter(environment: Environment, reference: string): Promise<string>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>
  /** As `post`, to any address and with these headers alone. */
  postTo(url: string, body: unknown, headers: Record<string, string>): Promise<Reply>
  /** Sends raw text on a socket of its own and returns all that comes back until the server closes it, or is silent after an answer. */
  raw(text: string): Promise<{ text: string; closed: boolean }>
  /** Every event line in the log. */
  logged(): Promise<string[]>
  stop(): Promise<void>
}

export type AddedGateway = { readonly url: string; stop(): Promise<void> }

export const PARTITIONS = 4
/** For the first byte of an answer: a machine that runs other tests too may take its time. What follows it follows at once. */
const SILENT_BEFORE_MS = 60_000
const SILENT_AFTER_MS = 1_500

export async function startGatewayRig(
  settings: Record<string, string> = {},
  broker: Parameters<typeof startTestNats>[0] = {},
): Promise<GatewayRig> {
  const nats = await startTestNats(broker)
  const database = await createTestDatabase()
  const platform = await createPlatform(database.url, 'Test')
  const client = new pg.Client({ connectionString: database.url })
  client.on('error', () => undefined) // a test may stop the server under it
  await client.connect()
  const stopServers = async (): Promise<void> => {
    await client.end()
    await database.drop()
    await nats.stop()
  }
  const start = (more: Record<string, string>, clock: Clock = systemClock): Promise<Gateway> =>
    startGateway(
      ingestConfig({
        HOST: '127.0.0.1',
        PORT: '0',
        METRICS_PORT: '0',
        DATABASE_URL: loginOf(database.url, 'millrace_gateway'),
        NATS_URL: nats.url,
        PARTITIONS: String(PARTITIONS),
        DURABILITY: 'local',
        ...settings,
        ...more,
      }),
      silentLogger,
      clock,
    )
  const added: Gateway[] = []
  const gateway = await start({}).catch(async (error: unknown) => {
    await stopServers()
    throw error
  })
  const url = `http://127.0.0.1:${gateway.port}`
  const sql = async (text: string, values: unknown[] = []): Promise<void> => {
    await client.query(text, values)
  }
  return {
    gateway,
    nats,
    database,
    platform,
    url,
    metricsUrl: `http://127.0.0.1:${gateway.metricsPort}`,
    sql,
    addGateway: async (more = {}, clock) => {
      const another = await start({ ...more, PORT: '0' }, clock)
      added.push(another)
      return { url: `http://127.0.0.1:${another.port}`, stop: () => another.stop() }
    },
    closeDatabase: () => closeDatabase(new URL(database.url)),
    addMeter: (environment, reference) => addMeter(sql, platform.id, environment, reference),
    post: (path, body, headers = {}) =>
      post(url + path, body, { 'X-API-KEY': platform.environments.LIVE.api_key, ...headers }),
    postTo: post,
    raw: text => sendRaw(gateway.port, text),
    logged: () => readLog(nats.url),
    stop: async () => {
      for (const each of [gateway, ...added]) await each.stop()
      await stopServers()
    },
  }
}

async function closeDatabase(url: URL): Promise<void> {
  const name = url.pathname.slice(1)
  const maintenance = new URL(url)
  maintenance.pathname = '/postgres'
  const client = new pg.Client({ connectionString: maintenance.href })
  await client.connect()
  try {
    await client.query(`alter database ${name} with allow_connections false`)
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  } finally {
    await client.end()
  }
}

async function addMeter(
  sql: GatewayRig['sql'],
  platformId: string,
  environment: Environment,
  reference: string,
): Promise<string> {
  const id = newId('metr')
  const valueId = newId('metv')
  const valueReference = `${reference}_tokens`
  await sql(
    `insert into meter_values (platform_id, environment, id, reference, name, status, type, created_at, updated_at)
     values ($1, $2, $3, $4, 'Tokens', 'ACTIVE', 'NUMBER', now(), now())`,
    [platformId, environment, valueId, valueReference],
  )
  await sql(
    `insert into meters (platform_id, environment, id, reference, status, meter_values, created_at, updated_at)
     values ($1, $2, $3, $4, 'ACTIVE', $5, now(), now())`,
    [
      platformId,
      environment,
      id,
      reference,
      JSON.stringify([{ id: valueId, reference: valueReference, required: true }]),
    ],
  )
  return id
}

async function post(url: string, body: unknown, headers: Record<string, string>): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Buffer ? new Blob([body]) : JSON.stringify(body),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

function sendRaw(port: number, text: string): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connectTcp({ host: '127.0.0.1', port }, () => socket.write(text, 'latin1'))
    socket.on('data', data => {
      received += data.toString('latin1')
      socket.setTimeout(SILENT_AFTER_MS)
    })
    socket.setTimeout(SILENT_BEFORE_MS, () => {
      resolve({ text: received, closed: false })
      socket.destroy()
    })
    socket.on('close', () => resolve({ text: received, closed: true }))
    socket.on('error', reject)
  })
}

async function readLog(url: string): Promise<string[]> {
  const connection = await connect(brokerAddress(url))
  try {
    const manager = await jetstreamManager(connection)
    const lines: string[] = []
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const name = streamName(partition)
      const { state } = await manager.streams.info(name)
      if (state.messages === 0) continue
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage(name, { seq })
        if (message) lines.push(...decodeMessage(message.string()))
      }
    }
    return lines
  } finally {
    await connection.close()
  }
}
