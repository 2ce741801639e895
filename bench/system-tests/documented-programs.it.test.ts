// The programs in the documentation, run as they stand there against the running product, as a newcomer would. And clients that are
// generated from the description.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient, listAll } from '../../infra/demo/client.ts'
import { PROJECT_ROOT } from '../../infra/services/project.ts'
import { blocksOf, canRun } from '../../shared/testing/documented.ts'
import { type System, startSystem } from '../system/start-system.ts'
import { testGeneratedClients } from './generated-clients/generated-clients.ts'

const hasShell = canRun('bash', '--version') && canRun('curl', '--version')

let system: System
let folder: string
beforeAll(async () => {
  system = await startSystem({ processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'] })
  folder = mkdtempSync(join(tmpdir(), 'millrace-documented-'))
  const { baseUrl: base_url, platforms } = system
  writeFileSync(join(folder, 'credentials.json'), JSON.stringify({ base_url, platforms }), { mode: 0o600 })
})
afterAll(async () => {
  await system?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** A text of the page as a pattern: an ellipsis stands for what differs from run to run. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('…', '\\S+')}\n*$`,
  )

type Command = { readonly program: string; readonly args: readonly string[]; readonly env?: NodeJS.ProcessEnv }

function run({ program, args, env = {} }: Command): string {
  const ran = spawnSync(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    // On a socket bash takes itself for a remote shell and reads the start-up file of whoever runs the test.
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: 120_000,
  })
  expect([ran.status, ran.stderr]).toEqual([0, ''])
  return ran.stdout
}

describe('the quick start', () => {
  const script = blocksOf('docs/quick-start.md', 'sh').join('\n')
  const printed = blocksOf('docs/quick-start.md', 'text').join('')
  const runPage = () =>
    run({ program: 'bash', args: ['--norc', '-euo', 'pipefail', '-c', script], env: { DATA_DIR: folder } })

  test.runIf(hasShell).each([1, 2])('run %d prints what it says, and makes the invoice it promises', async times => {
    expect(runPage()).toMatch(patternOf(printed))
    const client = createClient(system.baseUrl, system.platforms[1].environments.TEST.api_key)
    const invoices = await listAll(client, '/v1/invoices')
    const promised = { status: 'FINAL', invoice_amount_including_tax: { quantity: '42.35', currency: 'EUR' } }
    expect(invoices).toMatchObject(Array.from({ length: times }, () => promised))
    expect(readFileSync(join(folder, 'invoice.pdf')).subarray(0, 5).toString()).toBe('%PDF-')
  })
})

describe('a year by test clock', () => {
  const page = 'docs/test-clocks.md'
  test.runIf(hasShell)('prints what it says', () => {
    const args = ['--norc', '-euo', 'pipefail', '-c', blocksOf(page, 'sh').join('\n')]
    const printed = run({ program: 'bash', args, env: { DATA_DIR: folder } })
    expect(printed).toMatch(patternOf(blocksOf(page, 'text').join('')))
  })
})

describe('first calls', () => {
  const page = 'docs/first-calls.md'
  const [printed = ''] = blocksOf(page, 'text')
  const env = () => ({
    MILLRACE_URL: system.baseUrl,
    MILLRACE_KEY: system.platforms[0].environments.TEST.api_key,
  })
  const save = (name: string, language: string): string => {
    const path = join(folder, language, name)
    mkdirSync(join(folder, language), { recursive: true })
    writeFileSync(path, blocksOf(page, language).join(''))
    return path
  }
  const inNode = (path: string): Command => ({
    program: process.execPath,
    args: ['--import', join(PROJECT_ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs'), path],
  })

  beforeAll(async () => {
    const client = createClient(system.baseUrl, system.platforms[0].environments.TEST.api_key)
    await client.post('/v1/meter-values', { reference: 'tokens', name: 'Tokens', type: 'NUMBER', status: 'ACTIVE' })
    const meter_values = [{ reference: 'tokens', required: true }]
    await client.post('/v1/meters', { reference: 'requests', name: 'Requests', status: 'ACTIVE', meter_values })
  })

  test('in TypeScript', () => {
    expect(run({ ...inNode(save('first-calls.mts', 'ts')), env: env() })).toMatch(patternOf(printed))
  })
  test.runIf(canRun('python3', '--version'))('in Python', () => {
    const args = [save('first_calls.py', 'python')]
    expect(run({ program: 'python3', args, env: env() })).toMatch(patternOf(printed))
  })
  test.runIf(canRun('go', 'version'))('in Go', () => {
    expect(run({ program: 'go', args: ['run', save('main.go', 'go')], env: env() })).toMatch(patternOf(printed))
  })
})

describe('generated clients', () => testGeneratedClients(() => system))
