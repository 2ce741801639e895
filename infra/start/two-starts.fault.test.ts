// The start-up contract under the real start-up: the demo once and after everything is ready, the addresses last, a killed api
// back without anyone, and a second start that finds its data and stays, whatever the demo's platforms were used for: from a backup, made
// while events came in and restored by the commands of docs/deploying.md.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildUnlessBuilt } from '../../bench/system/build.ts'
import { claimPorts } from '../../bench/system/ports.ts'
import { readPidFile } from '../../shared/process/pid-file.ts'
import { createClient, type Row } from '../demo/client.ts'
import { CUSTOMERS } from '../demo/sample.ts'
import { PROJECT_ROOT } from '../services/project.ts'
import { temporaryFolder } from '../services/temporary.ts'
import { pidFileOf } from './processes.ts'

const folder = temporaryFolder('millrace-starts-')
const dataDir = join(folder, 'data')
const backup = join(folder, 'backup')
let base: string
let start: ChildProcess
let output = ''

beforeAll(async () => {
  await buildUnlessBuilt()
  const port = await claimPorts()
  base = `http://127.0.0.1:${port('api')}`
}, 300_000)
afterAll(async () => {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}, 100_000)

const isRunning = (): boolean => start.exitCode === null && start.signalCode === null
async function until(what: string, is: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 240_000
  while (!(await is())) {
    if (performance.now() > deadline || !isRunning())
      throw new Error(`${what} did not come; the start said:\n${output}`)
    await sleep(50)
  }
}
const environment = () => ({ ...process.env, BASE_URL: '', DATA_DIR: dataDir, PORT_BASE: new URL(base).port })
async function begin(): Promise<void> {
  output = ''
  start = spawn(process.execPath, [join(PROJECT_ROOT, 'dist/infra/start/main.js')], {
    cwd: PROJECT_ROOT,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [start.stdout, start.stderr])
    stream?.on('data', (data: Buffer) => {
      output += data.toString()
    })
  await until('the addresses', () => /\] Open\n/.test(output))
}
async function stop(): Promise<void> {
  if (!start || !isRunning()) return
  const ended = new Promise(resolve => start.once('exit', resolve))
  start.kill('SIGTERM')
  await ended
}

/** A command of package.json beside the installation; what it printed. Rejects when it does not end with 0. */
const command = async (module: string, ...args: string[]): Promise<string> => {
  const program = join(PROJECT_ROOT, 'dist', `${module}.js`)
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env: environment() })
  return stdout
}
const keyOf = (place: number): string => {
  const { platforms } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
  return platforms[place].environments.LIVE.api_key
}
/** One after the other, until it is stopped: what was accepted, by reference. */
function sendEvents(): { readonly accepted: Map<string, string>; readonly done: Promise<void>; stop(): Promise<void> } {
  const accepted = new Map<string, string>()
  let isOver = false
  const done = (async () => {
    while (!isOver) accepted.set(`live-${accepted.size}`, await sendEvent(`live-${accepted.size}`))
  })()
  done.catch(() => {})
  return {
    accepted,
    done,
    stop: () => {
      isOver = true
      return done
    },
  }
}
async function sendEvent(reference: string): Promise<string> {
  const body = {
    reference,
    meter_reference: 'llm_request',
    customer_reference: 'own',
    meter_values: ['context_tokens', 'generated_tokens'].map(value => ({ reference: value, number: '1' })),
    meter_properties: [{ reference: 'model', value: 'small' }],
  }
  const { status, body: answer } = await createClient(base, keyOf(0)).send('POST', '/v1/events/ingest', body)
  expect(status, JSON.stringify(answer)).toBe(201)
  return (answer as Row).id
}
/** Every event of the customer `own`, by reference; a reference that counts twice is there twice. */
async function countedEvents(): Promise<string[]> {
  const client = createClient(base, keyOf(0))
  const { id } = (await client.find('/v1/customers/own')) ?? expect.fail('the customer is gone')
  const references: string[] = []
  for (let path = `/v1/events?customer_id=${id}&limit=100`, cursor = ''; ; ) {
    const page = (await client.get(path + cursor)) as { data: Row[]; has_more: boolean }
    references.push(...page.data.map(({ reference }) => String(reference)))
    if (!page.has_more) return references
    cursor = `&starting_after=${page.data.at(-1)?.id}`
  }
}
async function demoInvoices(): Promise<unknown> {
  const client = createClient(base, keyOf(0))
  const customer = await client.find(`/v1/customers/${CUSTOMERS[0]}`)
  const { data } = (await client.get(`/v1/invoices?customer_id=${customer?.id}&statuses[]=FINAL`)) as { data: Row[] }
  expect(data.length).toBeGreaterThan(0)
  return Promise.all(data.map(({ id }) => client.get(`/v1/invoices/${id}`)))
}
/** Ends with 1, and so throws, when the log, the rows, the index and the figures do not agree, or an audit chain is broken. */
async function checkWhole(): Promise<void> {
  await command('infra/reconcile/main', '--json', '--all')
  await command('infra/audit/main')
}

const isReady = async (): Promise<boolean> =>
  (await fetch(`${base}/health/ready`, { signal: AbortSignal.timeout(3_000) }).catch(() => null))?.ok ?? false

test('the first start shows the demo after it runs and the addresses last; an api that is killed comes back', async () => {
  await begin()
  const order = [
    'All ready',
    'Running.',
    'events accepted',
    'Invoice ',
    'Open\n',
    `${base}/console`,
    `${base}  the whole`,
  ]
  const places = order.map(text => output.indexOf(text))
  expect(
    places.every(place => place > 0),
    output,
  ).toBe(true)
  expect(places).toEqual(places.toSorted((one, other) => one - other))

  const killed = readPidFile(pidFileOf(dataDir, 'api'))
  process.kill(killed?.pid ?? expect.fail('the api has no pid file'), 'SIGKILL')
  await until('the api again', () => output.includes('api runs again'))
  // It was ready to be called so. On a busy machine the next question may take longer than readiness waits for what it asks.
  await expect.poll(isReady).toBe(true)
  const log = readFileSync(join(dataDir, 'logs', 'api.log'), 'utf8')
  const starts = log
    .split('\n')
    .filter(line => line.includes('"api started"'))
    .map(line => JSON.parse(line))
  expect(starts).toHaveLength(2)
  for (const { phasesMs, phasesCpuMs } of starts) {
    for (const each of [phasesMs, phasesCpuMs])
      expect(Object.keys(each)).toEqual(expect.arrayContaining(['code', 'database', 'routes', 'server', 'total']))
    // Of processor time: what took most of a start, serializers and validators, is left for their first use.
    expect(phasesCpuMs.server).toBeLessThan(phasesCpuMs.code)
  }
}, 280_000)

test('a second start, from a backup made while events came in, shows what the demo printed, has everything and continues', async () => {
  const own = { reference: 'own', type: 'ORGANIZATION', email: 'own@example.com', organization: { legal_name: 'Own' } }
  await createClient(base, keyOf(1)).post('/v1/customers', own)
  await createClient(base, keyOf(0)).post('/v1/customers', own)
  const invoices = await demoInvoices()
  const sender = sendEvents()
  await Promise.race([until('events', () => sender.accepted.size >= 20), sender.done])
  const before = [...sender.accepted.keys()]
  await command('infra/backup/main', 'backup', backup)
  const meanwhile = sender.accepted.size
  await sender.stop()
  expect(meanwhile).toBeGreaterThan(before.length)
  await stop()
  expect([start.exitCode, existsSync(join(dataDir, 'demo.json'))]).toEqual([0, true])

  renameSync(dataDir, `${dataDir}-lost`)
  await command('infra/backup/main', 'restore', backup)
  await begin()
  expect(output).toMatch(/The demo ran on \S+:/)
  expect(output).toContain('events accepted')
  expect(await isReady()).toBe(true)
  expect((await createClient(base, keyOf(1)).find('/v1/customers/own'))?.['reference']).toBe('own')
  expect(await demoInvoices()).toEqual(invoices)
  await checkWhole()
  expect(await countedEvents()).toEqual(expect.arrayContaining(before))
  // Senders that were not sure send again; what the backup holds keeps its id, and the rest counts now.
  for (const [reference, id] of sender.accepted) {
    const again = await sendEvent(reference)
    if (before.includes(reference)) expect(again).toBe(id)
  }
  await sendEvent('after')
  await checkWhole()
  expect((await countedEvents()).toSorted()).toEqual([...sender.accepted.keys(), 'after'].toSorted())
}, 280_000)

test('a backup is made nowhere else than asked, and a restore writes over nothing and is never half used', async () => {
  await expect(command('infra/backup/main', 'backup', backup)).rejects.toThrow('exists already')
  await expect(command('infra/backup/main', 'backup', join(dataDir, 'inside'))).rejects.toThrow('would be lost with it')
  await stop()
  expect(start.exitCode).toBe(0)
  await expect(command('infra/backup/main', 'restore', backup)).rejects.toThrow('is not empty')
  await expect(command('infra/backup/main', 'restore', join(folder, 'none'))).rejects.toThrow('is not a backup')
  renameSync(dataDir, `${dataDir}-restored`)
  rmSync(join(backup, 'streams', readdirSync(join(backup, 'streams'))[0] ?? ''))
  await expect(command('infra/backup/main', 'restore', backup)).rejects.toThrow()
  await expect(command('infra/start/main')).rejects.toThrow('did not finish')
}, 100_000)
