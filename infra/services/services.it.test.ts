// The embedded services as `npm start` runs them: found again after a stop, a crash and a killed start.
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import {
  endProcess,
  identify,
  isRunning,
  readPidFile,
  stopOrphan,
  writePidFile,
} from '../../shared/process/pid-file.ts'
import { freePort } from './child.ts'
import { startNats } from './nats.ts'
import { startPostgres } from './postgres.ts'
import { secretIn } from './secret.ts'
import { temporaryFolder } from './temporary.ts'

const scratch = temporaryFolder('millrace-services-')
afterAll(() => rmSync(scratch, { recursive: true }))
const quiet = () => {}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', quiet)
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

describe('PostgreSQL', () => {
  const dataDir = join(scratch, 'postgres')

  test('starts on nothing, keeps what it committed over kill -9, and stops', async () => {
    const port = await freePort()
    const first = await startPostgres({ dataDir, port, log: quiet })
    expect(
      await query(
        first.url,
        "SELECT current_setting('server_encoding'), current_setting('synchronous_commit'), current_setting('listen_addresses'), datcollate, current_setting('TimeZone') FROM pg_database WHERE datname = current_database()",
      ),
    ).toEqual([['UTF8', 'on', '127.0.0.1', 'C', 'UTC']])
    await query(first.url, 'CREATE EXTENSION btree_gist')
    await query(first.url, 'CREATE EXTENSION pgcrypto')
    await query(first.url, 'CREATE TABLE kept (n int PRIMARY KEY)')
    await query(first.url, 'INSERT INTO kept SELECT generate_series(1, 1000)')
    await first.child.kill()
    const second = await startPostgres({ dataDir, port, log: quiet })
    expect(await query(second.url, 'SELECT count(*)::int FROM kept')).toEqual([[1000]])
    expect(second.url).toBe(first.url)
    await second.stop()
    expect((await second.child.exited).code).toBe(0)
    expect(readPidFile(join(dataDir, 'server.pid.json'))).toBeNull()
  })

  test('a wrong password is refused, and the right one is in a file only its owner reads', async () => {
    const service = await startPostgres({ dataDir, port: await freePort(), log: quiet })
    await expect(query(service.url.replace(/:[0-9a-f]{64}@/, ':guess@'), 'SELECT 1')).rejects.toMatchObject({
      code: '28P01',
    })
    expect(statSync(join(dataDir, 'server', 'password')).mode & 0o777).toBe(0o600)
    await service.stop()
  })

  test('a server left behind by a killed start is ended, on whatever port it was', async () => {
    const orphan = await startPostgres({ dataDir, port: await freePort(), log: quiet })
    // The pid file of the start is lost too; PostgreSQL's own lock is what is left to go by.
    rmSync(join(dataDir, 'server.pid.json'))
    const next = await startPostgres({ dataDir, port: await freePort(), log: quiet })
    expect((await orphan.child.exited).code).toBe(0)
    expect(await query(next.url, 'SELECT count(*)::int FROM kept')).toEqual([[1000]])
    await next.stop()
  })

  test('a stale lock whose pid now belongs to somebody else neither stops the start nor harms that process', async () => {
    const bystander = spawn('sleep', ['60'])
    writeFileSync(join(dataDir, 'server', 'data', 'postmaster.pid'), `${bystander.pid}\n`)
    const service = await startPostgres({ dataDir, port: await freePort(), log: quiet })
    expect(bystander.exitCode).toBeNull()
    expect(identify(bystander.pid ?? 0)).not.toBeNull()
    bystander.kill()
    await service.stop()
  })

  test('a half-made database of a killed first start is made anew', async () => {
    const other = join(scratch, 'half')
    mkdirSync(join(other, 'server', 'data.new', 'base'), { recursive: true })
    writeFileSync(join(other, 'server', 'data.new', 'PG_VERSION'), '18\n')
    const service = await startPostgres({ dataDir: other, port: await freePort(), log: quiet })
    expect(await query(service.url, 'SELECT 1')).toEqual([[1]])
    await service.stop()
  })

  test('a port in use is named, with what to set', async () => {
    const taken = createServer()
    const port = await new Promise<number>(resolve =>
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
    )
    await expect(startPostgres({ dataDir, port, log: quiet })).rejects.toThrow(
      new RegExp(`Port ${port}, wanted for PostgreSQL, is in use.*PORT_BASE`),
    )
    taken.close()
  })
})

describe('NATS', () => {
  test('says what an ack means, keeps its port and its data folder over kill -9', async () => {
    const dataDir = join(scratch, 'nats')
    const port = await freePort()
    const lines: string[] = []
    const first = await startNats({ dataDir, port, log: line => lines.push(line) })
    expect(lines.at(-1)).toContain(first.syncAlways ? 'fsynced before ack' : 'page cache')
    expect(readFileSync(join(dataDir, 'nats.conf'), 'utf8').includes('sync_interval: always')).toBe(first.syncAlways)
    await first.child.kill()
    const second = await startNats({ dataDir, port, log: quiet })
    expect(second.url).toBe(first.url)
    expect(readdirSync(dataDir)).toContain('jetstream')
    await second.stop()
  })

  test('a port in use where it says how it is configured is named, with what to set', async () => {
    const taken = createServer()
    const monitorPort = await new Promise<number>(resolve =>
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
    )
    const start = startNats({ dataDir: join(scratch, 'nats'), port: await freePort(), monitorPort, log: quiet })
    await expect(start).rejects.toThrow(
      new RegExp(`Port ${monitorPort}, wanted for the metrics of NATS, is in use.*PORT_BASE`),
    )
    taken.close()
  })
})

describe('pid files', () => {
  test('an orphan is ended; a recycled pid is left alone', async () => {
    const file = join(scratch, 'run', 'a.json')
    const orphan = spawn('sleep', ['60'])
    const identity = identify(orphan.pid ?? 0)
    if (!identity) throw new Error('sleep did not start')
    writePidFile(file, { pid: identity.pid, startedAt: `${identity.startedAt}0` })
    expect(await stopOrphan(file)).toBe(false)
    expect(isRunning(identity)).toBe(true)
    writePidFile(file, identity)
    expect(await stopOrphan(file)).toBe(true)
    expect(isRunning(identity)).toBe(false)
    expect(readPidFile(file)).toBeNull()
  })

  test('a process that ignores the polite signal is reported as still running', async () => {
    const stubborn = spawn('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'])
    await new Promise(resolve => stubborn.stdout.once('data', resolve))
    const identity = identify(stubborn.pid ?? 0)
    if (!identity) throw new Error('sh did not start')
    expect(await endProcess(identity, 'SIGTERM', 300)).toBe(false)
    expect(await endProcess(identity, 'SIGKILL', 5_000)).toBe(true)
  })
})

test('a secret is made once, kept, and readable by its owner alone', () => {
  const file = join(scratch, 'secrets', 'one')
  const secret = secretIn(file)
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  expect(secretIn(file)).toBe(secret)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(secretIn(join(scratch, 'secrets', 'two'))).not.toBe(secret)
})
