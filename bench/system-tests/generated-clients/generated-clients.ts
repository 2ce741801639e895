// Clients that public generators make of the API description, compiled and run against the running product. The generators are
// fetched at pinned versions once and kept for later runs; where a registry or a language is not at hand the test says so. Tests of
// documented-programs.it.test.ts, whose installation they share.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describedApi } from '../../../api/testing/described-api.ts'
import { PROJECT_ROOT } from '../../../infra/services/project.ts'
import { createPlatform, type NewPlatform } from '../../../shared/access/create-platform.ts'
import type { System } from '../../system/start-system.ts'

const PRINTED = '24.20 EUR in the preview\n1 customer\nRESOURCE_NOT_FOUND\n'
const HERE = new URL('./', import.meta.url).pathname
const TYPESCRIPT = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@20.19.43']
const PYTHON = ['openapi-python-client==0.29.1']
const FETCH_TIMEOUT_MS = 240_000

/** What is fetched stays here: no later run waits for a registry, or spends ten seconds of processor time on the same files. */
const KEPT = join(PROJECT_ROOT, '.tools', 'generated-clients')

const folder = mkdtempSync(join(tmpdir(), 'millrace-clients-'))
const inTypeScript = join(folder, 'typescript')
const inPython = join(folder, 'python')
for (const place of [inTypeScript, inPython]) mkdirSync(place)

function run(cwd: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: FETCH_TIMEOUT_MS,
  })
}

/** Whether the tools of a language could be had; says so aloud when not. */
function fetched(what: string, ...steps: readonly { status: number | null; stderr: string }[]): boolean {
  const failed = steps.find(({ status }) => status !== 0)
  if (failed) process.stdout.write(`SKIPPED: a ${what} client of the description: ${failed.stderr.slice(-300)}\n`)
  return !failed
}

/**
 * The folder of these tools, which an earlier run filled or `fill` does now; null when it cannot. An environment of Python stays where
 * it was made, so a file that is written last says where whole ones lie.
 */
function kept(
  tools: readonly string[],
  isSound: (at: string) => boolean,
  fill: (at: string) => boolean,
): string | null {
  const name = createHash('sha256').update(tools.join(' ')).digest('hex').slice(0, 12)
  const place = join(KEPT, `${name}.place`)
  const earlier = existsSync(place) ? readFileSync(place, 'utf8') : null
  if (earlier !== null && isSound(earlier)) return earlier
  mkdirSync(KEPT, { recursive: true })
  const made = mkdtempSync(join(KEPT, `${name}-`))
  if (!fill(made)) {
    rmSync(made, { recursive: true, force: true })
    return null
  }
  writeFileSync(`${made}.place`, made)
  renameSync(`${made}.place`, place)
  return made
}

const binOf = (at: string, name: string): string => join(at, 'node_modules', '.bin', name)
const typeScriptTools = kept(
  TYPESCRIPT,
  at => existsSync(binOf(at, 'openapi-typescript')),
  at => {
    writeFileSync(join(at, 'package.json'), '{"type": "module", "private": true}')
    return fetched('TypeScript', run(at, 'npm', ['install', '--no-audit', '--no-fund', ...TYPESCRIPT]))
  },
)

/** The generator's own command, without garbage collection: it copies what it has read for each operation, and its memory ends with it. */
const GENERATE_IN_PYTHON = 'import gc; gc.disable(); from openapi_python_client.cli import app; app()'
const pythonOf = (at: string): string => join(at, 'tools', 'bin', 'python')
const pythonTools = kept(
  PYTHON,
  // The Python of the machine may be another by now.
  at => run(inPython, pythonOf(at), ['--version']).status === 0,
  at => {
    // The pip of the machine installs for the new environment, which saves putting one in it; where there is none, it has its own.
    const bare = run(at, 'python3', ['-m', 'venv', '--without-pip', 'tools'])
    const install = ['install', '--quiet', '--no-compile', '--disable-pip-version-check', ...PYTHON]
    const installed = run(at, 'python3', ['-m', 'pip', '--python', 'tools/bin/python', ...install])
    if (bare.status === 0 && installed.status === 0) return true
    const made = run(at, 'python3', ['-m', 'venv', '--clear', 'tools'])
    return fetched('Python', made, run(at, 'tools/bin/pip', install))
  },
)

/** Declares them, for a file whose hooks have opened the installation. */
export function testGeneratedClients(opened: () => System): void {
  /** What the clients make is counted, so each has a platform to itself. */
  let platforms: readonly NewPlatform[]
  beforeAll(async () => {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(await describedApi()))
    const { databaseUrl } = opened()
    platforms = [await createPlatform(databaseUrl, 'TypeScript'), await createPlatform(databaseUrl, 'Python')]
  }, 240_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const env = (place: number) => ({
    MILLRACE_URL: opened().baseUrl,
    MILLRACE_KEY: platforms[place]?.environments.TEST.api_key,
  })

  describe('a client generated from the description makes the plan of the quick start and previews its invoice', () => {
    test.runIf(typeScriptTools !== null)('in TypeScript, compiled with --strict', () => {
      const tools = typeScriptTools ?? expect.fail('no tools')
      const bin = (name: string): string => binOf(tools, name)
      writeFileSync(join(inTypeScript, 'package.json'), '{"type": "module", "private": true}')
      symlinkSync(join(tools, 'node_modules'), join(inTypeScript, 'node_modules'))
      const made = run(inTypeScript, bin('openapi-typescript'), ['../openapi.json', '-o', 'millrace.d.ts'])
      expect([made.status, made.stderr]).toEqual([0, expect.any(String)])
      for (const name of ['quick-start', 'webhook-handler'])
        copyFileSync(join(HERE, `${name}.mts.txt`), join(inTypeScript, `${name}.mts`))
      const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck', '--outDir', 'built']
      const compiled = run(inTypeScript, bin('tsc'), [
        ...options,
        '--rewriteRelativeImportExtensions',
        'quick-start.mts',
        'webhook-handler.mts',
      ])
      expect([compiled.status, compiled.stdout]).toEqual([0, ''])
      const ran = run(inTypeScript, process.execPath, ['built/quick-start.mjs'], env(0))
      expect([ran.status, ran.stderr, ran.stdout]).toEqual([0, '', PRINTED])
    })

    test.runIf(pythonTools !== null)('in Python', () => {
      const python = pythonOf(pythonTools ?? expect.fail('no tools'))
      const generate = ['generate', '--path', '../openapi.json', '--output-path', 'millrace', '--meta', 'none']
      const made = run(inPython, python, ['-c', GENERATE_IN_PYTHON, ...generate])
      expect([made.status, made.stderr]).toEqual([0, expect.any(String)])
      copyFileSync(join(HERE, 'quick_start.py'), join(inPython, 'quick_start.py'))
      const ran = run(inPython, python, ['quick_start.py'], env(1))
      expect([ran.status, ran.stderr, ran.stdout]).toEqual([0, '', PRINTED])
    })
  })
}
