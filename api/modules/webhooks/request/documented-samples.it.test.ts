// Runs the verification programs of docs/webhooks.md unchanged against our own signatures.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../../infra/services/project.ts'
import { blocksOf, canRun } from '../../../../shared/testing/documented.ts'
import { instantOf } from '../../../../shared/time.ts'
import { SECRET_PREFIX, signatureHeaders } from './signature.ts'

const secretOf = (byte: number): string => `${SECRET_PREFIX}${Buffer.alloc(32, byte).toString('base64')}`
const [SECRET, OTHER] = [secretOf(7), secretOf(9)]
const BODY = '{ "name" : "Zoë" , "amount" : "1.00" }'
const MINUTE_MS = 60_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-samples-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const save = (name: string, language: string): string => {
  const path = join(folder, name)
  writeFileSync(path, blocksOf('docs/webhooks.md', language).join(''))
  return path
}
const LOADER = join(PROJECT_ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs')

describe.each([
  ['TypeScript', true, () => [process.execPath, '--import', LOADER, save('verify.mts', 'ts')]],
  ['Python', canRun('python3', '--version'), () => ['python3', save('verify.py', 'python')]],
  ['Go', canRun('go', 'version'), () => [build('go', save('main.go', 'go'))]],
] as const)('in %s', (_language, isHere, commandOf) => {
  let command: readonly string[]
  beforeAll(() => {
    if (isHere) command = commandOf()
  })

  const verify = (secret: string, body: string, sentAt = Date.now()): readonly [number | null, string] => {
    const headers = signatureHeaders({ eventId: 'evnt_1', body: BODY, now: instantOf(sentAt) }, [SECRET, OTHER])
    const [program = '', ...args] = command
    const env = {
      ...process.env,
      SECRET: secret,
      TIMESTAMP: headers['X-PAYLOAD-SIGNATURE-TIMESTAMP'],
      SIGNATURE: headers['X-PAYLOAD-SIGNATURE'],
    }
    const ran = spawnSync(program, args, { input: body, env, encoding: 'utf8' })
    return [ran.status, ran.stdout]
  }

  test.runIf(isHere)('a delivery is valid by either secret while a secret is rolled', () => {
    for (const secret of [SECRET, OTHER]) expect(verify(secret, BODY)).toEqual([0, 'valid\n'])
  })
  test.runIf(isHere).each([
    ['another secret', secretOf(1), BODY, 0],
    ['a body that was serialized again', SECRET, JSON.stringify(JSON.parse(BODY)), 0],
    ['an old timestamp', SECRET, BODY, 6 * MINUTE_MS],
    ['a timestamp in the future', SECRET, BODY, -6 * MINUTE_MS],
  ])('%s is refused', (_name, secret, body, ageMs) => {
    expect(verify(secret, body, Date.now() - ageMs)).toEqual([1, ''])
  })
})

/** Compiles once, because each `go run` would compile again. */
function build(compiler: string, source: string): string {
  const binary = join(folder, 'verify')
  const built = spawnSync(compiler, ['build', '-o', binary, source], { encoding: 'utf8' })
  expect([built.status, built.stderr]).toEqual([0, ''])
  return binary
}
