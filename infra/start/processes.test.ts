// Each process is given the secrets of its own work and no others (security review 4).
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { ANSWER_MS } from '../../api/http/answer-in-time.ts'
import { STOP_GRACE_MS } from '../../shared/process/process-stop.ts'
import { assertPortsFree } from '../services/child.ts'
import { PROJECT_ROOT } from '../services/project.ts'
import { environmentOf, PROCESSES, portsOf, processesWith, STOP_TIMEOUT_MS, spawnProcess } from './processes.ts'
import { loginsIn } from './services.ts'
import { METRICS_PORTS, readSettings } from './settings.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-environments-'))
const OWNER = 'postgres://millrace:of-the-owner@127.0.0.1:1/millrace'
const before = { ...process.env }
afterAll(() => rmSync(dataDir, { recursive: true }))
afterEach(() => {
  process.env = { ...before }
})

const servicesIn = () => ({
  databaseUrl: OWNER,
  logins: loginsIn(dataDir, OWNER),
  natsUrl: 'nats://x:of-nats@127.0.0.1:2',
  clickhouseUrl: 'http://x:of-clickhouse@127.0.0.1:3',
})
const environments = () => {
  const settings = readSettings({ DATA_DIR: dataDir })
  return new Map(PROCESSES.map(spec => [spec.name, environmentOf(settings, servicesIn(), spec)]))
}
const holders = (text: string) =>
  [...environments()].filter(([, env]) => JSON.stringify(env).includes(text)).map(([name]) => name)
const userOf = (url: string | undefined) => (url === undefined ? null : new URL(url).username)

test('each logs in to PostgreSQL as itself, with a password that only it has', () => {
  const logins = Object.fromEntries(
    [...environments()].map(([name, env]) => [
      name,
      [env['DATABASE_URL'], env['KEYS_DATABASE_URL'], env['APP_DATABASE_URL']].map(userOf),
    ]),
  )
  expect(logins).toEqual({
    identity: ['millrace_identity', null, null],
    ingest: ['millrace_gateway', null, null],
    aggregator: [null, null, null],
    worker: ['millrace_worker', null, 'millrace_app'],
    api: ['millrace_app', 'millrace_gateway', null],
  })
  const passwords = Object.values(servicesIn().logins).map(url => new URL(url).password)
  expect(new Set(passwords).size).toBe(4)
  for (const password of passwords) expect(password).toMatch(/^[0-9a-f]{64}$/)
})

test('further workers are like the first, on ports of their own', () => {
  expect(processesWith(1)).toEqual(PROCESSES)
  const settings = readSettings({ DATA_DIR: dataDir, WORKERS: '3' })
  const started = processesWith(settings.workers)
  expect(started.map(({ name }) => name)).toEqual([
    'identity',
    'ingest',
    'aggregator',
    'worker',
    'worker-2',
    'worker-3',
    'api',
  ])
  const envs = started.map(spec => environmentOf(settings, servicesIn(), spec))
  const [first, second] = started.flatMap(({ module }, place) => (module === 'api/worker' ? [envs[place] ?? {}] : []))
  const own = { PORT: String(settings.port('worker-2')), METRICS_PORT: String(settings.port('worker-2')) }
  expect(second).toEqual({ ...first, ...own })
  const ports = envs.flatMap(({ PORT, METRICS_PORT }) => [...new Set([PORT, METRICS_PORT])])
  expect(new Set(ports).size).toBe(ports.length)
})

test('the passwords are found again by the next start, and readable by their owner alone', () => {
  expect(servicesIn()).toEqual(servicesIn())
  expect(statSync(join(dataDir, 'logins', 'millrace_app')).mode & 0o777).toBe(0o600)
})

test('no process has the password of the owner, whatever this start was given', () => {
  Object.assign(process.env, { DATABASE_URL: OWNER, KEYS_DATABASE_URL: OWNER, APP_DATABASE_URL: OWNER })
  expect(holders('of-the-owner')).toEqual([])
})

test('the secret of the identity host is its own, and the mail server is known to those who send', () => {
  Object.assign(process.env, { IDENTITY_SECRET: 'sealed-with-this', SMTP_URL: 'smtp://of-mail@127.0.0.1' })
  expect(holders('sealed-with-this')).toEqual(['identity'])
  expect(holders('of-mail')).toEqual(['identity', 'worker'])
})

test('the secret that seals credentials of tenants is known to the api and the workers', () => {
  Object.assign(process.env, { DATA_SECRET: 'seals-credentials' })
  expect(holders('seals-credentials')).toEqual(['worker', 'api'])
})

test('broker and usage database are known to those who use them', () => {
  Object.assign(process.env, { NATS_URL: 'nats://x:of-nats@h', CLICKHOUSE_URL: 'http://x:of-clickhouse@h' })
  expect(holders('of-nats')).toEqual(['ingest', 'aggregator', 'worker', 'api'])
  expect(holders('of-clickhouse')).toEqual(['aggregator', 'worker', 'api'])
})

/** `TimeoutStopSec` of the unit that follows `title` in docs/deploying.md, in ms. */
const stopTimeoutOf = (title: string): number => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs', 'deploying.md'), 'utf8')
  const unit = page.slice(page.indexOf(`# /etc/systemd/system/${title}`))
  return Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) * 1_000
}

test('whoever stops a process waits longer than it may take, and longer than one request may', () => {
  expect(STOP_GRACE_MS).toBeGreaterThan(ANSWER_MS)
  expect(STOP_TIMEOUT_MS).toBeGreaterThan(STOP_GRACE_MS)
  expect(stopTimeoutOf('millrace@.service')).toBeGreaterThan(STOP_GRACE_MS)
  // Those in front, the others, and then the services, which are given 30 s at most.
  expect(stopTimeoutOf('millrace.service')).toBeGreaterThan(2 * STOP_TIMEOUT_MS + 30_000)
})

test.each(['api', 'metrics of api'])('a port in use is named before the process starts: %s', async which => {
  const taken = createServer()
  const port = await new Promise<number>(resolve =>
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as AddressInfo).port)),
  )
  try {
    const offsets = readSettings({ DATA_DIR: dataDir, PORT_BASE: '20000' })
    const offset = offsets.port(which === 'api' ? 'api' : METRICS_PORTS.api) - 20_000
    const settings = readSettings({ DATA_DIR: dataDir, PORT_BASE: String(port - offset) })
    const spec = PROCESSES.find(({ name }) => name === 'api')
    if (!spec) throw new Error('there is no api')
    await expect(spawnProcess(settings, servicesIn(), spec)).rejects.toThrow(
      new RegExp(`Port ${port}, wanted for (the )?${which}, is in use.*PORT_BASE`),
    )
  } finally {
    taken.close()
  }
})

test('every port in use of all processes is named at once', async () => {
  const offsets = readSettings({ DATA_DIR: dataDir, PORT_BASE: '20000' })
  const offsetOf = (name: Parameters<typeof offsets.port>[0]) => offsets.port(name) - 20_000
  const taken = [createServer(), createServer()] as const
  const listen = (server: (typeof taken)[number], port: number) =>
    new Promise<number>(resolve => {
      // Something else listens there already, which is as good.
      server.once('error', () => resolve(port))
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  try {
    const metrics = await listen(taken[0], 0)
    const base = metrics - offsetOf(METRICS_PORTS.identity)
    await listen(taken[1], base + offsetOf('worker-2'))
    const settings = readSettings({ DATA_DIR: dataDir, PORT_BASE: String(base) })
    const wanted = processesWith(2).filter(({ name }) => name === 'identity' || name === 'worker-2')
    const named = assertPortsFree(wanted.map(spec => portsOf(settings, spec)))
    await expect(named).rejects.toThrow(
      new RegExp(
        `Port ${metrics}, wanted for the metrics of identity, is in use.*PORT_BASE\\.\\n` +
          `Port ${base + offsetOf('worker-2')}, wanted for worker-2, is in use`,
      ),
    )
  } finally {
    for (const server of taken) server.close()
  }
})
