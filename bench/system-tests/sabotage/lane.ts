// A process that runs tests against sources with a fault in them or with none, as it is told, one run after the other. One
// vitest serves all of its runs, so that only the files of a fault are read anew; they stay as they are on the disk.
import { on } from 'node:events'
import { join } from 'node:path'
import { createVitest, type TestModule, type Vitest } from 'vitest/node'
import { PROJECT_ROOT } from '../../../infra/services/project.ts'
import type {} from '../../../shared/testing/global-setup.ts'
import { MUTANTS } from './mutants.ts'

export type Servers = { readonly databaseUrl: string; readonly databaseTemplate: string }
export type TestRun = {
  readonly file: string
  /** A regular expression that the names of the tests match. */
  readonly pattern: string
  /** A name of MUTANTS; left out: the sources as they are. */
  readonly sabotage?: string
}
export type TestResult = {
  readonly name: string
  readonly status: 'passed' | 'failed'
  readonly messages: readonly string[]
}
/** What the process is told, one at a time; its servers are those of the first. */
export type LaneRequest = { readonly servers: Servers; readonly run: TestRun }
export type LaneAnswer = { readonly results: readonly TestResult[] } | { readonly fault: string }

/** Vitest as `npm test` configures it, but that the plugin puts the fault in force into what it loads. */
async function openVitest({ databaseUrl, databaseTemplate }: Servers): Promise<Vitest> {
  const vitest = await createVitest(
    'test',
    {
      root: PROJECT_ROOT,
      config: false,
      watch: false,
      cache: false,
      reporters: [{}],
      include: ['**/*.test.ts'],
      exclude: ['node_modules/**', 'dist/**', 'bench/system-tests/sabotage/**'],
      setupFiles: ['bench/system-tests/sabotage/fixed-seed.ts'],
      testTimeout: 60_000,
      hookTimeout: 120_000,
      pool: 'forks',
      maxWorkers: 1,
    },
    { plugins: [{ name: 'sabotage', enforce: 'pre', transform: sabotaged }] },
  )
  vitest.provide('databaseUrl', databaseUrl)
  vitest.provide('databaseTemplate', databaseTemplate)
  return vitest
}

let inForce: string | undefined
const editsOf = (name: string | undefined) => (name === undefined ? [] : (MUTANTS[name]?.edits ?? []))

function sabotaged(code: string, id: string): string {
  const edits = editsOf(inForce).filter(({ file }) => id === join(PROJECT_ROOT, file))
  return edits.reduce((text, { from, to }) => text.replace(from, () => to), code)
}

async function runTests(vitest: Vitest, { file, pattern, sabotage }: TestRun): Promise<TestResult[]> {
  if (sabotage !== undefined && !MUTANTS[sabotage]) throw new Error(`there is no sabotage called ${sabotage}`)
  const touched = [...editsOf(inForce), ...editsOf(sabotage)]
  inForce = sabotage
  for (const edit of touched) vitest.invalidateFile(join(PROJECT_ROOT, edit.file))
  vitest.setGlobalTestNamePattern(pattern)
  const specification = vitest.getRootProject().createSpecification(join(PROJECT_ROOT, file))
  await vitest.runTestSpecifications([specification])
  const module = vitest.state.getTestModules([specification.moduleId])
  return resultsOf(file, module)
}

function resultsOf(file: string, [only, ...others]: readonly TestModule[]): TestResult[] {
  if (!only || others.length > 0) throw new Error(`${file} is not one test file`)
  const ran: TestResult[] = []
  for (const test of only.children.allTests()) {
    const { state, errors = [] } = test.result()
    const messages = errors.map(({ stack, message }) => stack ?? message)
    if (state === 'passed' || state === 'failed') ran.push({ name: test.name, status: state, messages })
  }
  const faults = only.errors().map(({ message }) => message)
  if (ran.length === 0) throw new Error(`no test of ${file} ran: ${faults.join(', ')}`)
  return ran
}

async function serve(): Promise<void> {
  let vitest: Vitest | null = null
  const answer = async (request: LaneRequest): Promise<LaneAnswer> => {
    vitest ??= await openVitest(request.servers)
    return { results: await runTests(vitest, request.run) }
  }
  for await (const [request] of on(process, 'message') as AsyncIterable<[LaneRequest]>) {
    const answered = await answer(request).catch((error: unknown): LaneAnswer => ({ fault: String(error) }))
    process.send?.(answered)
  }
}

process.once('disconnect', () => process.exit(0))
await serve()
