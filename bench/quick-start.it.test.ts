// docs/quick-start.md, run line by line against the running product, as a newcomer would.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, listAll } from '../infra/demo/client.ts'
import { type System, startSystem } from './system/start-system.ts'

const hasTools = ['bash', 'curl'].every(tool => spawnSync(tool, ['--version']).status === 0)
if (!hasTools)
  process.stdout.write('SKIPPED: the quick start is run with bash and curl, and one of them is not here.\n')

let system: System
let folder: string
beforeAll(async () => {
  system = await startSystem({ processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'] })
  folder = mkdtempSync(join(tmpdir(), 'millrace-quick-start-'))
})
afterAll(async () => {
  await system?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** Every ```sh block of the page but the ones that start Millrace. */
const scriptOf = (page: string): string =>
  [...readFileSync(page, 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map(match => match[1] ?? '').join('\n')

test.runIf(hasTools)('the lines of the quick start lead to the invoice it promises', async () => {
  const { baseUrl: base_url, platforms } = system
  writeFileSync(join(folder, 'credentials.json'), JSON.stringify({ base_url, platforms }), { mode: 0o600 })
  const run = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', scriptOf('docs/quick-start.md')], {
    cwd: folder,
    env: { ...process.env, DATA_DIR: folder },
    // On a socket bash takes itself for a remote shell and reads the start-up file of whoever runs the test.
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: 60_000,
  })
  expect(run.stderr).toBe('')
  expect(run.status).toBe(0)
  const client = createClient(base_url, platforms[1].environments.TEST.api_key)
  const [invoice] = await listAll(client, '/v1/invoices')
  expect(invoice).toMatchObject({
    status: 'FINAL',
    invoice_amount_including_tax: { quantity: '42.35', currency: 'EUR' },
  })
  expect(readFileSync(join(folder, 'invoice.pdf')).subarray(0, 5).toString()).toBe('%PDF-')
})
