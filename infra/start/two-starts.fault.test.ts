// The start-up contract under the real start-up: the demo once and after everything is ready, the addresses last, a killed api
// back without anyone, and a second start that finds its data and stays, whatever the demo's platforms were used for: on a copy of the
// data folder, as an operator restores it (docs/deploying.md).
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildUnlessBuilt } from '../../bench/system/build.ts'
import { claimPorts } from '../../bench/system/ports.ts'
import { readPidFile } from '../../shared/pid-file.ts'
import { PROJECT_ROOT } from '../services/project.ts'
import { pidFileOf } from './processes.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-starts-'))
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
  rmSync(dataDir, { recursive: true, force: true })
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
async function begin(): Promise<void> {
  output = ''
  start = spawn(process.execPath, [join(PROJECT_ROOT, 'dist/infra/start/main.js')], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, BASE_URL: '', DATA_DIR: dataDir, PORT_BASE: new URL(base).port },
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

/** What docs/deploying.md says of DATA_DIR: the whole folder is copied while nothing runs, is lost, and is put back. */
function backUpAndRestore(): void {
  const backup = `${dataDir}-backup`
  execFileSync('cp', ['-a', dataDir, backup])
  rmSync(dataDir, { recursive: true })
  renameSync(backup, dataDir)
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
  expect(await isReady()).toBe(true)
  const log = readFileSync(join(dataDir, 'logs', 'api.log'), 'utf8')
  const phases = log
    .split('\n')
    .filter(line => line.includes('"api started"'))
    .flatMap(line => [JSON.parse(line).phasesMs, JSON.parse(line).phasesCpuMs])
  expect(phases).toHaveLength(4)
  for (const each of phases)
    expect(Object.keys(each)).toEqual(expect.arrayContaining(['code', 'database', 'routes', 'total']))
}, 280_000)

test('a second start, on a copy of the data and after the demo platforms were used, shows what the demo printed and stays', async () => {
  const { platforms } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
  const made = await fetch(`${base}/v1/customers`, {
    method: 'POST',
    headers: { 'x-api-key': platforms[1].environments.LIVE.api_key, 'content-type': 'application/json' },
    body: JSON.stringify({
      reference: 'own',
      type: 'ORGANIZATION',
      email: 'own@example.com',
      organization: { legal_name: 'Own' },
    }),
  })
  expect(made.status, await made.text()).toBe(201)
  await stop()
  expect([start.exitCode, existsSync(join(dataDir, 'demo.json'))]).toEqual([0, true])
  backUpAndRestore()
  await begin()
  const found = await fetch(`${base}/v1/customers/own`, {
    headers: { 'x-api-key': platforms[1].environments.LIVE.api_key },
  })
  expect(found.status, await found.text()).toBe(200)
  expect(output).toMatch(/The demo ran on \S+:/)
  expect(output).toContain('events accepted')
  expect(await isReady()).toBe(true)
  await stop()
  expect(start.exitCode).toBe(0)
}, 280_000)
