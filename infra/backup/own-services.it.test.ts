// The commands and statements of docs/deploying.md, "Of your own services", on servers that `npm start` did not start.
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { prepareJobSchema } from '../../api/jobs/job-schema.ts'
import { createPlatform } from '../../shared/access/create-platform.ts'
import { streamName, streamSubject } from '../../shared/contracts/streams.ts'
import { openDatabase } from '../../shared/database/database.ts'
import { loginsOf, prepareLogins } from '../../shared/database/logins.ts'
import { migrate } from '../../shared/database/migrate.ts'
import { brokerAddress } from '../../shared/log/address.ts'
import { ensureStreams } from '../../shared/log/streams.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { createTestClickHouse } from '../../shared/testing/clickhouse.ts'
import { blocksOf, canRun } from '../../shared/testing/documented.ts'
import { uniqueName } from '../../shared/testing/names.ts'
import { startTestNats } from '../../shared/testing/nats.ts'
import { systemClock } from '../../shared/time.ts'
import { type Child, freePort, startChild, waitUntilReady } from '../services/child.ts'
import { postgresUser } from '../services/postgres-user.ts'
import { PROJECT_ROOT } from '../services/project.ts'
import { temporaryFolder } from '../services/temporary.ts'
import { backUpLog, restoreLog } from './log-alone.ts'

const folder = temporaryFolder('millrace-own-services-')
const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closers.toReversed()) await close()
  rmSync(folder, { recursive: true })
})

/** The block of the page in this language that holds `text`. */
const documented = (language: string, text: string): string =>
  blocksOf('docs/deploying.md', language).find(block => block.includes(text)) ?? expect.fail(`no block with ${text}`)

/** The programs of the PostgreSQL that this system has, in the folder of its server. */
const programs = (): string => execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
const hasPostgres = canRun('pg_config', '--bindir') && canRun(join(programs(), 'postgres'), '--version')

/** A new server that this system's PostgreSQL runs, with the administrator postgres and the owner millrace. */
async function startOwnPostgres(): Promise<{ child: Child; port: number }> {
  const user = await postgresUser(() => undefined)
  const data = join(folder, 'server')
  mkdirSync(data)
  chmodSync(data, 0o700)
  const run = user ? { uid: user.uid, gid: user.gid } : {}
  if (user) chownSync(data, user.uid, user.gid)
  const cluster = ['-D', data, '-U', 'postgres', '--auth=trust', '--locale=C', '--encoding=UTF8', '--no-sync']
  execFileSync(join(programs(), 'initdb'), cluster, { cwd: '/', stdio: 'ignore', ...run })
  const port = await freePort()
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC']
  const child = await startChild({
    name: 'PostgreSQL',
    command: join(programs(), 'postgres'),
    args: ['-D', data, '-p', String(port), ...settings.flatMap(setting => ['-c', setting])],
    cwd: '/',
    user,
    port,
    pidFile: join(folder, 'server.pid.json'),
    logFile: join(folder, 'server.log'),
    stopSignal: 'SIGINT',
    stopTimeoutMs: 30_000,
  })
  closers.push(() => child.stop())
  const admin = `postgres://postgres@127.0.0.1:${port}/postgres`
  await waitUntilReady(child, { timeoutMs: 60_000 }, async () => {
    const client = new pg.Client({ connectionString: admin })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return null
    } catch (error) {
      return String(error)
    } finally {
      await client.end().catch(() => undefined)
    }
  })
  return { child, port }
}

test.runIf(hasPostgres)(
  'PostgreSQL: dumped, lost with its logins, and restored by the commands of the page',
  async () => {
    const { port } = await startOwnPostgres()
    const env = { ...process.env, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' }
    const shell = (commands: string) => execFileSync('sh', ['-ec', commands], { cwd: folder, env, stdio: 'pipe' })
    const sql = (statements: string, database = 'millrace') =>
      execFileSync('psql', ['-d', database, '-Atc', statements], { env, encoding: 'utf8' })
    shell('psql -d postgres -c "create role millrace login createrole" && createdb -O millrace millrace')
    const url = `postgres://millrace@127.0.0.1:${port}/millrace`
    await migrate(url)
    await prepareJobSchema(url)
    const logins = loginsOf(url, role => `password of ${role}`)
    await prepareLogins(url, logins)
    const { id } = await createPlatform(url, 'Platform of an operator')
    const shape = `select (select count(*) from pg_policies), (select count(*) from pg_class where relrowsecurity),
    (select string_agg(pg_get_userbyid(datdba), ',') from pg_database where datname = 'millrace'),
    (select string_agg(id || name, ',' order by id) from platforms), (select count(*) from api_keys)`
    const before = sql(shape)

    shell(documented('sh', 'pg_dump -Fc'))
    sql('drop database millrace', 'postgres')
    sql(`drop role ${Object.keys(logins).join(', ')}, millrace`, 'postgres')
    shell(documented('sh', 'pg_restore'))

    expect(sql(shape)).toBe(before)
    expect(before).toContain(id)
    // Each process logs in as before, and is found to be what it says: see refuseUnsafeLogin.
    for (const role of ['millrace_app', 'millrace_gateway', 'millrace_worker', 'millrace_identity'] as const) {
      const database = await openDatabase({
        url: logins[role],
        role,
        clock: systemClock,
        logger: silentLogger,
        poolMax: 1,
      })
      await database.close()
    }
    // Nothing is left to migrate.
    expect(await migrate(url)).toEqual([])
  },
)

test('ClickHouse: backed up, lost and restored by the statements of the page, in their order', async () => {
  const { url, database, drop } = await createTestClickHouse()
  const client = createClient({ url, database })
  closers.push(drop, () => client.close())
  const count = async (table: string): Promise<string> => {
    const answer = await client.query({ query: `SELECT count() FROM ${table}`, format: 'TabSeparated' })
    return (await answer.text()).trim()
  }
  await client.command({ query: 'INSERT INTO usage_positions (log_partition, log_seq) VALUES (0, 7)' })
  await client.command({ query: 'INSERT INTO usage_dead_letters (log_partition, log_seq) VALUES (0, 8), (1, 9)' })
  await client.command({ query: "INSERT INTO usage_records_by_meter_progress (owner) VALUES ('a')" })
  const server = createClient({ url })
  closers.push(() => server.close())
  const folderOfBackup = uniqueName()
  const run = async (block: string): Promise<void> => {
    const own = block.replaceAll('millrace', database).replaceAll("'today/", `'${folderOfBackup}/`)
    for (const query of own.trim().split('\n')) await server.command({ query })
  }
  await run(documented('sql', 'BACKUP TABLE'))
  await server.command({ query: `DROP DATABASE ${database} SYNC` })
  await run(documented('sql', 'RESTORE DATABASE'))
  const tables = ['usage_positions', 'usage_records_by_meter_progress', 'usage_dead_letters']
  expect(await Promise.all(tables.map(count))).toEqual(['1', '1', '2'])
})

describe('NATS', () => {
  const PARTITIONS = 2
  /** A broker of an operator, and what it has: the settings of each stream, and its messages by their position. */
  async function startBroker() {
    const broker = await startTestNats()
    closers.push(() => broker.stop())
    const nats = await connect(brokerAddress(broker.url))
    closers.push(() => nats.close())
    const jsm: JetStreamManager = await jetstreamManager(nats)
    const contents = async () => {
      const streams: unknown[] = []
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        const { config, state } = await jsm.streams.info(streamName(partition))
        const messages: string[] = []
        for (let seq = state.first_seq; seq <= state.last_seq; seq += 1)
          messages.push(`${seq} ${(await jsm.streams.getMessage(streamName(partition), { seq }))?.string()}`)
        streams.push([config, messages])
      }
      return streams
    }
    return { url: broker.url, js: jetstream(nats), jsm, contents }
  }

  test('the log: backed up, lost with its broker, and restored by the commands of the page, message by message', async () => {
    const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'))
    // What the commands of the page run is called here, since building them takes a minute.
    const commands = documented('sh', 'backup:log').trim().split('\n')
    expect(commands.map(line => scripts[line.split(' ')[2] ?? ''])).toEqual([
      expect.stringMatching(/main\.js backup-log$/),
      expect.stringMatching(/main\.js restore-log$/),
    ])
    const first = await startBroker()
    await ensureStreams(first.jsm, { partitions: PARTITIONS, replicas: 1 })
    for (let each = 0; each < 20; each += 1) {
      const data = `${each} ${'x'.repeat(each * 20_000)}`
      await first.js.publish(streamSubject(each % PARTITIONS), data)
    }
    // The log does not begin with its first message any more.
    await first.jsm.streams.purge(streamName(0), { seq: 4 })
    const before = await first.contents()
    const target = join(folder, 'log')
    expect(await backUpLog(first.url, target)).toEqual(['USAGE_0', 'USAGE_1'])
    await expect(backUpLog(first.url, target)).rejects.toThrow('exists already')
    await expect(restoreLog(first.url, target)).rejects.toThrow('the broker has USAGE_0, USAGE_1 already')

    const second = await startBroker()
    await expect(backUpLog(second.url, join(folder, 'none'))).rejects.toThrow('no stream of the usage log')
    await expect(restoreLog(second.url, folder)).rejects.toThrow('is not a backup of the usage log')
    await restoreLog(second.url, target)
    expect(await second.contents()).toEqual(before)
    // And it continues where it ended.
    expect(await second.js.publish(streamSubject(1), 'next')).toMatchObject({ seq: 11 })
  })
})
