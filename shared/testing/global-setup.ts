// Real servers for the `it` tests, started once a run: PostgreSQL and ClickHouse, each with a migrated template. NATS is
// cheap and each test starts its own; here its program is found, or built once. TEST_DATABASE_URL and TEST_CLICKHOUSE_URL name servers to use instead. A server
// that cannot be had fails the run.
import { readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { freePort, type Service } from '../../infra/services/child.ts'
import { findChromium, NO_CHROMIUM } from '../../infra/services/chromium.ts'
import { startClickHouse } from '../../infra/services/clickhouse.ts'
import { findNatsServer } from '../../infra/services/nats-binary.ts'
import { startPostgres } from '../../infra/services/postgres.ts'
import { quickParent, temporaryFolder } from '../../infra/services/temporary.ts'
import { migrate } from '../database/migrate.ts'
import { identify, isRunning, readPidFile, stopOrphan, writePidFile } from '../process/pid-file.ts'
import { type ClickHouseTemplate, makeClickHouseTemplate } from './clickhouse-template.ts'
import { hashOnce, prepareTestLogins } from './database-logins.ts'
import { uniqueName } from './names.ts'
import { keepStacksReadable } from './readable-stacks.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a superuser, on a database tests do not touch. */
    databaseUrl: string
    /** The migrated database tests clone. */
    databaseTemplate: string
    clickhouseUrl: string
    /** The migrated database whose tables those of tests have. */
    clickhouseTemplate: ClickHouseTemplate
    /** The browser of the tests in a browser, or null when this system has none. */
    chromiumPath: string | null
    /** Whether the files of the project follow each other in one process. */
    followsOthers: boolean
  }
}

const PREFIX = 'millrace-it-'
const OWNER = 'owner.json'
/** More than the data of a whole run: the log of PostgreSQL, and the databases that there are at one time. */
const DATA_BYTES_MAX = 2 * 1024 ** 3
const quiet = () => {}
const say = (line: string) => void process.stderr.write(`${line}\n`)

/** Ends the servers of runs that were killed before they could, and removes their data. */
async function sweepKilledRuns(): Promise<void> {
  const runsIn = (parent: string) =>
    readdirSync(parent)
      .filter(name => name.startsWith(PREFIX))
      .map(name => join(parent, name))
  for (const folder of [...new Set([tmpdir(), quickParent(0)])].flatMap(runsIn)) {
    const owner = readPidFile(join(folder, OWNER))
    if (!owner || isRunning(owner)) continue
    for (const service of ['postgres', 'clickhouse'])
      await stopOrphan(join(folder, service, 'server.pid.json'), 'SIGINT')
    rmSync(folder, { recursive: true, force: true })
  }
}

function ownFolder(): string {
  const folder = temporaryFolder(PREFIX, quickParent(DATA_BYTES_MAX))
  const self = identify(process.pid)
  if (self) writePidFile(join(folder, OWNER), self)
  return folder
}

/** The one server of the tests that may be missing: what it shows is shown without it too, only not in a real browser. */
function chromiumPath(): string | null {
  const path = findChromium()
  if (path === null) process.stderr.write(`\nThe tests in a real browser do NOT run. ${NO_CHROMIUM}\n\n`)
  return path
}

async function makeTemplate(databaseUrl: string): Promise<string> {
  const name = `template_${uniqueName()}`
  await execute(databaseUrl, `CREATE DATABASE ${name}`)
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  await migrate(url.href)
  await prepareTestLogins(url.href)
  return name
}

/** What processes of this run made and kept for their files (`createTestDatabase`). */
async function keptDatabases(databaseUrl: string, template: string): Promise<string[]> {
  const rows = await execute(databaseUrl, `SELECT datname FROM pg_database WHERE starts_with(datname, '${template}_')`)
  return rows.map(({ datname }) => datname)
}

async function execute(url: string, sql: string): Promise<{ datname: string }[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ datname: string }>(sql)).rows
  } finally {
    await client.end()
  }
}

type Running = {
  readonly context: Pick<
    ProvidedContext,
    'databaseUrl' | 'databaseTemplate' | 'clickhouseUrl' | 'clickhouseTemplate' | 'chromiumPath'
  >
  stop(): Promise<void>
}

/** As `Promise.all`, but a failure waits for the others to end, so that what they started is known when all is stopped. */
async function allOrNone<T extends readonly unknown[]>(
  starts: readonly [...T],
): Promise<{ [Each in keyof T]: Awaited<T[Each]> }> {
  await Promise.allSettled(starts)
  return await Promise.all(starts)
}

async function startServers(): Promise<Running> {
  await sweepKilledRuns()
  const folder = ownFolder()
  const started: Service[] = []
  const stopAll = async () => {
    for (const service of started.toReversed()) await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const start = async (service: Promise<Service>): Promise<string> => {
    const running = await service
    started.push(running)
    return running.url
  }
  try {
    const options = async (name: string) => ({ dataDir: join(folder, name), port: await freePort(), log: quiet })
    // No test stops the machine, and each waits for its commits.
    const postgres = async () => startPostgres({ ...(await options('postgres')), forgetful: true, socket: true })
    const database = async () => {
      const given = process.env['TEST_DATABASE_URL']
      const url = given ?? (await start(postgres()))
      const template = await makeTemplate(url)
      if (given === undefined) await hashOnce(url)
      return { url, template }
    }
    const clickhouse = async () => {
      const url = process.env['TEST_CLICKHOUSE_URL'] ?? (await start(startClickHouse(await options('clickhouse'))))
      return { url, template: await makeClickHouseTemplate(url) }
    }
    const [{ url: databaseUrl, template: databaseTemplate }, { url: clickhouseUrl, template }] = await allOrNone([
      database(),
      clickhouse(),
    ])
    const { drop: dropClickHouseTemplate, ...clickhouseTemplate } = template
    await findNatsServer(say)
    return {
      context: { databaseUrl, databaseTemplate, clickhouseUrl, clickhouseTemplate, chromiumPath: chromiumPath() },
      stop: async () => {
        await dropClickHouseTemplate()
        for (const name of [...(await keptDatabases(databaseUrl, databaseTemplate)), databaseTemplate])
          await execute(databaseUrl, `DROP DATABASE ${name} WITH (FORCE)`)
        await stopAll()
      },
    }
  } catch (error) {
    await stopAll()
    throw error
  }
}

/** The servers of this run, for the projects that share them: each loads this module for itself. */
const run = globalThis as { millraceServers?: { readonly running: Promise<Running>; users: number } }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  keepStacksReadable()
  run.millraceServers ??= { running: startServers(), users: 0 }
  const servers = run.millraceServers
  servers.users += 1
  const { context, stop } = await servers.running
  project.provide('databaseUrl', context.databaseUrl)
  project.provide('databaseTemplate', context.databaseTemplate)
  project.provide('clickhouseUrl', context.clickhouseUrl)
  project.provide('clickhouseTemplate', context.clickhouseTemplate)
  project.provide('chromiumPath', context.chromiumPath)
  project.provide('followsOthers', project.config.isolate === false)
  return async () => {
    servers.users -= 1
    if (servers.users === 0) await stop()
  }
}
