// The proxy samples of docs/deploying.md, with TLS, in front of a real gateway: what a sender gets through each of them.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { KEEP_ALIVE_SECONDS } from '../../ingest/http/server.ts'
import { type GatewayRig, startGatewayRig } from '../../ingest/testing/gateway-rig.ts'
import { freePort } from '../services/child.ts'
import { PROJECT_ROOT } from '../services/project.ts'

const page = readFileSync(join(PROJECT_ROOT, 'docs', 'deploying.md'), 'utf8')
/** The first code block of that language. */
const sample = (language: string): string => {
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
  if (text === undefined) throw new Error(`docs/deploying.md has no ${language} sample`)
  return text
}
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

const scratch = mkdtempSync(join(tmpdir(), 'millrace-proxy-'))
const cert = join(scratch, 'cert.pem')
const key = join(scratch, 'key.pem')
/** uWebSockets counts time in steps, and a connection may be closed one step early. */
const STEP_SECONDS = 4
let rig: GatewayRig
let other: Server
let otherPort: number

beforeAll(async () => {
  const subject = ['-subj', '/CN=example.com', '-addext', 'subjectAltName=DNS:*.example.com']
  const files = ['-keyout', key, '-out', cert]
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    ...subject,
    ...files,
  ])
  writeFileSync(join(scratch, 'millrace.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
  rig = await startGatewayRig()
  await rig.addMeter('LIVE', 'requests')
  // Stands for the api and the identity host: says for whom a request was, and who sent it.
  other = createServer((incoming, response) => {
    const { host, 'x-forwarded-for': from } = incoming.headers
    response.end(JSON.stringify({ host, from, version: incoming.httpVersion }))
  })
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  otherPort = typeof address === 'object' && address ? address.port : 0
})
afterAll(async () => {
  other?.close()
  await rig?.stop()
  rmSync(scratch, { recursive: true, force: true })
})

/** A sample with the ports and files of this test in the places of its own. */
const placed = (text: string): string =>
  text
    .replaceAll('127.0.0.1:8082', `127.0.0.1:${rig.gateway.port}`)
    .replaceAll(/127\.0\.0\.1:808[01]/g, `127.0.0.1:${otherPort}`)
    .replaceAll('/etc/ssl/millrace', scratch)

type Proxy = { readonly name: string; readonly program: string; start(port: number): readonly string[] }
const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    program: 'nginx',
    start: port => {
      const own = `daemon off;\npid ${scratch}/nginx.pid;\nerror_log ${scratch}/nginx.log;\nevents {}\nhttp {\naccess_log off;\n`
      const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        kind => `${kind}_temp_path ${scratch}/${kind};`,
      )
      const file = join(scratch, 'nginx.conf')
      writeFileSync(
        file,
        `${own}${temp.join('\n')}\n${placed(sample('nginx')).replaceAll('listen 443', `listen 127.0.0.1:${port}`)}}\n`,
      )
      return ['-c', file, '-p', scratch, '-e', join(scratch, 'nginx.log')]
    },
  },
  {
    name: 'Caddy',
    program: 'caddy',
    start: port => {
      const own = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
      const file = join(scratch, 'Caddyfile')
      writeFileSync(file, own + placed(sample('caddyfile')).replaceAll(/^(\w+\.example\.com) \{/gm, `$1:${port} {`))
      return ['run', '--config', file, '--adapter', 'caddyfile']
    },
  },
  {
    name: 'HAProxy',
    program: 'haproxy',
    start: port => {
      const file = join(scratch, 'haproxy.cfg')
      writeFileSync(file, placed(sample('haproxy')).replaceAll('bind :443', `bind 127.0.0.1:${port}`))
      return ['-db', '-f', file]
    },
  },
]

type Answer = { status: number; body: string }
/** A request over TLS to one of the three names. */
function ask(
  port: number,
  host: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const name = `${host}.example.com`
    const options = {
      host: '127.0.0.1',
      port,
      path,
      servername: name,
      ca: readFileSync(cert),
      method: body === undefined ? 'GET' : 'POST',
    }
    const sent = request({ ...options, headers: { host: name, ...headers }, timeout: 60_000 }, response => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }))
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.end(body)
  })
}

const missing = PROXIES.filter(({ program }) => !has(program))
if (missing.length > 0) {
  const names = missing.map(({ name }) => name).join(', ')
  process.stderr.write(
    `\nThe samples for ${names} are NOT run: the program was not found. On Debian: apt-get install nginx haproxy caddy.\n`,
  )
}

let events = 0
const event = () => {
  events += 1
  return JSON.stringify({
    reference: `proxied-${events}`,
    customer_reference: 'acme',
    meter_reference: 'requests',
    meter_values: [{ reference: 'requests_tokens', number: '1' }],
  })
}

describe.each(PROXIES.filter(({ program }) => has(program)))('$name', ({ program, start }) => {
  let running: ChildProcess
  afterEach(async () => {
    running?.kill('SIGTERM')
    if (running && running.exitCode === null) await new Promise(resolve => running.once('exit', resolve))
  })

  test('takes events with a length and in chunks, tells who calls, and closes /metrics', async () => {
    const port = await freePort()
    let output = ''
    running = spawn(program, start(port), {
      cwd: scratch,
      env: { ...process.env, HOME: scratch, XDG_DATA_HOME: scratch, XDG_CONFIG_HOME: scratch },
    })
    for (const stream of [running.stdout, running.stderr]) stream?.on('data', data => (output += data))
    await vi.waitFor(async () => expect((await ask(port, 'ingest', '/health/ready')).status, output).toBe(200), {
      timeout: 60_000,
      interval: 100,
    })

    const headers = { 'x-api-key': rig.platform.environments.LIVE.api_key, 'content-type': 'application/json' }
    const whole = event()
    expect(
      (await ask(port, 'ingest', '/v1/events/ingest', whole, { ...headers, 'content-length': String(whole.length) }))
        .status,
    ).toBe(201)
    expect(
      (await ask(port, 'ingest', '/v1/events/ingest', event(), { ...headers, 'transfer-encoding': 'chunked' })).status,
    ).toBe(201)
    // Names of headers that older gateways left unanswered.
    const odd = await ask(port, 'ingest', '/v1/events/ingest', event(), {
      ...headers,
      x_odd: '1',
      'x.odd': '1',
      'transfer-encoding': 'chunked',
    })
    expect([201, 400]).toContain(odd.status)
    expect((await ask(port, 'ingest', '/v1/events/ingest', '{}', { 'content-type': 'application/json' })).status).toBe(
      401,
    )

    for (const host of ['billing', 'id']) {
      const seen = JSON.parse(
        (await ask(port, host, '/v1/anything', undefined, { 'x-forwarded-for': '203.0.113.9' })).body,
      )
      expect(seen).toMatchObject({ host: `${host}.example.com`, version: '1.1' })
      // The last one is the proxy's own word.
      expect(seen.from).toMatch(/(?:^|, )127\.0\.0\.1$/)
    }
    for (const host of ['ingest', 'billing', 'id']) expect((await ask(port, host, '/metrics')).status).toBe(404)
  })
})

test('each proxy lets go of an idle connection before the gateway closes it', () => {
  // HAProxy never sends a first request on a connection of another client, and a client's own ends after `timeout http-request`.
  const seconds = [/keepalive_timeout (\d+)s;/, /keepalive (\d+)s\n/, /timeout http-request (\d+)s\n/].map(setting =>
    Number(setting.exec(page)?.[1]),
  )
  for (const each of seconds) expect(each).toBeLessThan(KEEP_ALIVE_SECONDS - STEP_SECONDS)
})

test('every unit of the page starts a module that is there, and systemd takes it where it is installed', () => {
  for (const [, module] of page.matchAll(/dist\/(\w+\/\w+)\.js/g)) {
    const source = join(PROJECT_ROOT, `${module}.ts`)
    expect(() => readFileSync(source), source).not.toThrow()
  }
  const units = [...page.matchAll(/```ini\n# \/etc\/systemd\/system\/(\S+)\n([\s\S]*?)```/g)]
  expect(units.map(([, name]) => name)).toEqual(['millrace.service', 'millrace@.service'])
  if (!has('systemd-analyze')) return
  for (const [, name = '', text = ''] of units) {
    const file = join(scratch, name)
    const here = text
      .replace(/^ExecStart=\S+ (\S+)$/m, `ExecStart=${process.execPath} $1`)
      .replace('/opt/millrace', PROJECT_ROOT)
      .replace('User=millrace\n', '')
    writeFileSync(file, here)
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    expect({ faults: `${stdout}${stderr}`.split('\n').filter(line => line.includes(name)), status }).toEqual({
      faults: [],
      status: 0,
    })
  }
})
