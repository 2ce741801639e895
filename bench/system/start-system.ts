// The whole product as it ships: compiled processes over real servers, on free ports and a folder of its own, each of
// them killed and started again when a test says so. Nothing is supervised: what dies stays dead until `restart`.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { inject } from 'vitest'
import { type Child, logTail, type Service } from '../../infra/services/child.ts'
import { PROJECT_ROOT } from '../../infra/services/project.ts'
import { PROCESSES, type ProcessSpec } from '../../infra/start/processes.ts'
import { METRICS_PORTS, type ServiceUrls, type Settings } from '../../infra/start/settings.ts'
import { createPlatform, type NewPlatform } from '../../shared/access/create-platform.ts'
import { brokerAddress } from '../../shared/log/address.ts'
import { createTestClickHouse } from '../../shared/testing/clickhouse.ts'
import { testLogins } from '../../shared/testing/database-logins.ts'
import type {} from '../../shared/testing/global-setup.ts'
import { uniqueName } from '../../shared/testing/names.ts'
import { createTestDatabase } from '../../shared/testing/postgres.ts'
import { type ClickHouseClient, createClickHouse } from '../../shared/usage/clickhouse.ts'
import { buildUnlessBuilt } from './build.ts'
import { newDataFolder } from './data-folder.ts'
import { claimPorts } from './ports.ts'

export type ProcessName = ProcessSpec['name']
export type ServiceName = 'clickhouse' | 'nats'
type Name = ProcessName | ServiceName
type Env = Readonly<Record<string, string>>

export type System = {
  readonly baseUrl: string
  readonly ingestUrl: string
  readonly databaseUrl: string
  readonly natsUrl: string
  /** Where the processes keep their files: logs, secrets, the data of the services. */
  readonly dataDir: string
  /** The address of one of the processes, for its metrics. */
  urlOf(name: ProcessName): string
  /** Where a process serves its metrics and the whole of its readiness. */
  metricsUrl(name: ProcessName): string
  readonly platforms: readonly [NewPlatform, NewPlatform]
  readonly partitions: number
  /** ClickHouse and the log as a test reads them, past every process. Both outlive a restart of their server. */
  readonly clickhouse: ClickHouseClient
  readonly jsm: JetStreamManager
  /** kill -9, and back when it is dead. Safe when it is dead already. */
  kill(name: Name): Promise<void>
  /** Kills it if it runs, starts it again on the same port and data, and waits until it is ready. */
  restart(name: Name, env?: Env): Promise<void>
  /**
   * Sets this failpoint of a process to `kill`, at once where it runs; starts one where none does. Resolves when it has killed
   * itself there. Rejects when it ends otherwise or lives on.
   */
  dieAt(name: ProcessName, failpoint: string): Promise<void>
  /** Removes the aggregator's index of first copies, as the loss of its disk would. Kill it first. */
  removeIndex(): void
  /** Ends everything and removes its data. */
  stop(): Promise<void>
}

export type SystemOptions = {
  readonly processes: readonly ProcessName[]
  /** Settings of every process, over the defaults. */
  readonly env?: Env
  /** A broker that the test starts and ends by itself. */
  readonly natsUrl?: string
  /** Starts a ClickHouse that the test may kill. Without it the system has a database of its own on the server that tests share. */
  readonly ownClickHouse?: boolean
}

const PARTITIONS = 3
/** Longer than any start and what leads to the point take, on a machine with many other tests. */
const DIES_WITHIN_MS = 90_000
const LOG_LEVEL = 'warn'
const quiet = () => {}

type Modules = {
  processes: typeof import('../../infra/start/processes.ts')
  services: typeof import('../../infra/start/services.ts')
  clickhouse: typeof import('../../infra/services/clickhouse.ts')
  nats: typeof import('../../infra/services/nats.ts')
}

/**
 * The start-up code in its compiled form, which starts compiled processes; built first where the sources are newer.
 * Throws with the compiler's messages when they do not compile.
 */
async function loadCompiled(): Promise<Modules> {
  await buildUnlessBuilt()
  const load = (module: string) =>
    import(/* @vite-ignore */ pathToFileURL(join(PROJECT_ROOT, 'dist', `${module}.js`)).href)
  return {
    processes: await load('infra/start/processes'),
    services: await load('infra/start/services'),
    clickhouse: await load('infra/services/clickhouse'),
    nats: await load('infra/services/nats'),
  }
}

async function newSettings(natsUrl: string | null, clickhouseDatabase: string): Promise<Settings> {
  const port = await claimPorts()
  const urlOf = (name: ProcessName) => `http://127.0.0.1:${port(name)}`
  return {
    dataDir: await newDataFolder(),
    host: '127.0.0.1',
    clickhouseDatabase,
    workers: 1,
    external: { databaseUrl: null, natsUrl, clickhouseUrl: null },
    addresses: {
      base_url: urlOf('api'),
      identity_url: urlOf('identity'),
      ingest_url: urlOf('ingest'),
      console_url: `${urlOf('api')}/console`,
    },
    port,
    metricsUrl: name => `http://127.0.0.1:${port(METRICS_PORTS[name])}`,
  }
}

/** Starts the servers, migrates, makes two platforms and starts the processes. On a failure nothing is left running. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const modules = await loadCompiled()
  // One of its own is migrated by the product's start; on the server that tests share its database is there, and up to date.
  const database = options.ownClickHouse ? uniqueName() : (await createTestClickHouse()).database
  const settings = await newSettings(options.natsUrl ?? null, database)
  const closers: (() => Promise<unknown>)[] = [
    async () => rmSync(settings.dataDir, { recursive: true, force: true, maxRetries: 5 }),
  ]
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    return await start({ modules, settings, options, closers, stop })
  } catch (error) {
    await stop()
    throw error
  }
}

type Starting = {
  readonly modules: Modules
  readonly settings: Settings
  readonly options: SystemOptions
  readonly closers: (() => Promise<unknown>)[]
  stop(): Promise<void>
}

async function start({ modules, settings, options, closers, stop }: Starting): Promise<System> {
  const children = new Map<Name, Child>()
  closers.push(async () => {
    for (const child of [...children.values()].reverse()) await child.kill()
  })
  const startService = async (name: ServiceName): Promise<string> => {
    const startOne: (options: { dataDir: string; port: number; log: () => void }) => Promise<Service> =
      name === 'nats' ? modules.nats.startNats : modules.clickhouse.startClickHouse
    const service = await startOne({ dataDir: join(settings.dataDir, name), port: settings.port(name), log: quiet })
    children.set(name, service.child)
    return service.url
  }
  const database = await createTestDatabase()
  closers.push(database.drop)
  const [clickhouseUrl, natsUrl] = await Promise.all([
    options.ownClickHouse ? startService('clickhouse') : inject('clickhouseUrl'),
    options.natsUrl ?? startService('nats'),
  ])
  const logins = testLogins(database.url)
  const services: ServiceUrls = { databaseUrl: database.url, logins, clickhouseUrl, natsUrl }
  await modules.services.migrateAll(settings, services, quiet)
  const platforms = [await createPlatform(database.url, 'One'), await createPlatform(database.url, 'Two')] as const

  const nats = await connect({
    ...brokerAddress(natsUrl),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    name: 'test',
  })
  closers.push(() => nats.close())
  const clickhouse = createClickHouse(clickhouseUrl, settings.clickhouseDatabase)
  closers.push(async () => {
    if (!options.ownClickHouse)
      await clickhouse.command({ query: `DROP DATABASE IF EXISTS ${settings.clickhouseDatabase}` })
    await clickhouse.close()
  })

  const failpointOf = (name: ProcessName): string => join(settings.dataDir, `failpoint-${name}`)
  for (const { name } of PROCESSES) writeFileSync(failpointOf(name), '')
  const specOf = (name: ProcessName, env: Env = {}): ProcessSpec => {
    const spec = PROCESSES.find(each => each.name === name)
    if (!spec) throw new Error(`there is no process ${name}`)
    const FAILPOINT = `@${failpointOf(name)}`
    return { ...spec, env: { LOG_LEVEL, PARTITIONS: String(PARTITIONS), FAILPOINT, ...options.env, ...env } }
  }
  const kill = async (name: Name): Promise<void> => {
    if (name === 'clickhouse' && !options.ownClickHouse)
      throw new Error('other tests use this ClickHouse: ownClickHouse')
    await children.get(name)?.kill()
  }
  const startProcess = async (name: ProcessName, env?: Env): Promise<void> => {
    const unit = modules.processes.processUnit(settings, services, specOf(name, env))
    children.set(name, await unit.start(new AbortController().signal))
  }
  const dieAt = async (name: ProcessName, failpoint: string): Promise<void> => {
    writeFileSync(failpointOf(name), `${failpoint}:kill`)
    const running = children.get(name)
    const child =
      running?.exit() === null ? running : await modules.processes.spawnProcess(settings, services, specOf(name))
    children.set(name, child)
    const patience = new AbortController()
    const timeout = sleep(DIES_WITHIN_MS, null, { signal: patience.signal }).catch(() => null)
    const exit = await Promise.race([child.exited, timeout])
    patience.abort()
    writeFileSync(failpointOf(name), '')
    if (exit?.signal === 'SIGKILL') return
    const end = exit === null ? 'still runs' : `ended with ${exit.signal ?? exit.code}`
    throw new Error(`${name} was to die at ${failpoint} and ${end}; the end of its log:\n  ${logTail(child.logFile)}`)
  }
  // In the order of the product's own start: the api fronts the others and comes last.
  for (const { name } of PROCESSES) if (options.processes.includes(name)) await startProcess(name)
  return {
    baseUrl: settings.addresses.base_url,
    ingestUrl: settings.addresses.ingest_url,
    databaseUrl: database.url,
    natsUrl,
    dataDir: settings.dataDir,
    urlOf: name => `http://${settings.host}:${settings.port(name)}`,
    metricsUrl: settings.metricsUrl,
    platforms,
    partitions: PARTITIONS,
    clickhouse,
    jsm: await jetstreamManager(nats),
    kill,
    restart: async (name, env) => {
      await kill(name)
      if (name === 'clickhouse' || name === 'nats') await startService(name)
      else await startProcess(name, env)
    },
    dieAt,
    removeIndex: () => rmSync(join(settings.dataDir, 'index'), { recursive: true }),
    stop,
  }
}
