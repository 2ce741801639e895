// Security 6.3 row 21 under the real start-up: the disk fills up while events come, and has room again. DATA_DIR is a small file
// system of its own, in a mount namespace that ends with the start.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildUnlessBuilt } from '../../bench/system/build.ts'
import { claimPorts } from '../../bench/system/ports.ts'
import { PROJECT_ROOT } from '../services/project.ts'

const DISK = '700m'
/** Each takes seconds, since the gateway waits for the disk before it refuses. */
const REFUSED = 4
const REPORT = 'The disk is full: '
const scratch = mkdtempSync(join(tmpdir(), 'millrace-disk-'))
const unshare = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-current-user', '--keep-caps', '--mount']
const canMount = spawnSync('unshare', [...unshare, 'mount', '-t', 'tmpfs', 'tmpfs', scratch]).status === 0
if (!canMount)
  process.stderr.write(
    '\nThe test of a full disk does NOT run: this system lets no file system be mounted (Linux, and user namespaces or root).\n',
  )

let start: ChildProcess
let output = ''
let port: (name: 'api' | 'ingest') => number
let key = ''

async function until(what: string, withinMs: number, is: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await is())) {
    if (performance.now() > deadline)
      throw new Error(`${what} did not come within ${withinMs} ms; the start said:\n${output}`)
    await sleep(200)
  }
}
/** DATA_DIR as the start sees it. */
const disk = (...path: string[]): string => join(`/proc/${start.pid}/root`, scratch, ...path)
const isRunning = (): boolean => start.exitCode === null && start.signalCode === null

type Seen = { status: number; retryAfter: string | null; body: string }
async function call(name: 'api' | 'ingest', path: string, body?: object): Promise<Seen> {
  const response = await fetch(`http://127.0.0.1:${port(name)}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000),
  })
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() }
}
let events = 0
const accepted = new Set<string>()
async function send(): Promise<Seen> {
  events += 1
  const reference = `disk-${events}`
  const seen = await call('ingest', '/v1/events/ingest', {
    reference,
    customer_reference: 'acme-robotics',
    meter_reference: 'llm_request',
    meter_values: [
      { reference: 'context_tokens', number: '1' },
      { reference: 'generated_tokens', number: '1' },
    ],
    meter_properties: [{ reference: 'model', value: 'small' }],
  })
  if (seen.status === 201) accepted.add(reference)
  return seen
}

beforeAll(async () => {
  if (!canMount) return
  await buildUnlessBuilt()
  port = await claimPorts()
  const command = `mount -t tmpfs -o size=${DISK},mode=755 tmpfs ${scratch} && exec "$0" "$1"`
  start = spawn(
    'unshare',
    [...unshare, 'sh', '-c', command, process.execPath, join(PROJECT_ROOT, 'dist/infra/start/main.js')],
    {
      cwd: PROJECT_ROOT,
      env: { ...process.env, BASE_URL: '', DATA_DIR: scratch, PORT_BASE: String(port('api')), LOG_LEVEL: 'debug' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  for (const stream of [start.stdout, start.stderr])
    stream?.on('data', (data: Buffer) => {
      output += data.toString()
    })
  // The demo has run by then.
  await until('the addresses', 300_000, () => /\] Open\n/.test(output) || !isRunning())
  expect(isRunning(), output).toBe(true)
  key = JSON.parse(readFileSync(disk('credentials.json'), 'utf8')).platforms[0].environments.LIVE.api_key
}, 320_000)
afterAll(async () => {
  if (start && isRunning()) {
    start.kill('SIGTERM')
    await until('the end', 90_000, () => !isRunning())
  }
  rmSync(scratch, { recursive: true, force: true })
}, 100_000)

/** Takes all the room there is. */
function fill(): void {
  const file = openSync(disk('ballast'), 'a')
  try {
    for (const size of [1024 * 1024, 4096, 512]) {
      const block = Buffer.alloc(size)
      try {
        for (;;) writeSync(file, block)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    }
  } finally {
    closeSync(file)
  }
}

test.runIf(canMount)(
  'a full disk: 503 with Retry-After, health answers, no one gives up; with room again it recovers by itself and nothing accepted is lost',
  async () => {
    const accepts = async () => (await send().catch(() => null))?.status === 201
    // A second try begins on a disk that has only just had room again.
    await until('an event that is accepted', 60_000, accepts)
    const filling = setInterval(fill, 500)
    const answers: Seen[] = []
    try {
      fill()
      const isRefused = ({ status }: Seen) => status !== 201
      // A request that waits for the full disk takes seconds, so refusals are counted, and time only bounds the wait.
      const endsAt = performance.now() + 150_000
      const isSeen = () => answers.filter(isRefused).length >= REFUSED && output.includes(REPORT)
      while (!isSeen() && performance.now() < endsAt) {
        const seen = await send().catch((error: unknown) => ({ status: 0, retryAfter: null, body: String(error) }))
        answers.push(seen)
        const live = await call('ingest', '/health/live')
        expect(live.status).toBe(200)
        const ready = await call('ingest', '/health/ready')
        expect([200, 503]).toContain(ready.status)
        await sleep(250)
      }
    } finally {
      clearInterval(filling)
    }
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.length).toBeGreaterThanOrEqual(REFUSED)
    // A process ended for want of room, and the start waits for room with it.
    expect(output).toContain(REPORT)
    for (const { status, retryAfter, body } of refused) expect([status, retryAfter], body).toEqual([503, '1'])
    expect(isRunning(), output).toBe(true)

    rmSync(disk('ballast'))
    await until('an event that is accepted', 150_000, accepts)
    await until(
      'the api to be ready',
      60_000,
      async () => (await call('api', '/health/ready').catch(() => null))?.status === 200,
    )
    await until('every accepted event to be readable', 60_000, async () => {
      const found = await Promise.all(
        [...accepted]
          .slice(0, 20)
          .map(async reference => (await call('api', `/v1/events?reference=${reference}`)).body.includes(reference)),
      )
      return found.every(Boolean)
    })
    expect(existsSync(disk('logs', 'ingest.log'))).toBe(true)
    expect(output).not.toContain('Giving up')
    expect(isRunning(), output).toBe(true)
  },
  480_000,
)
