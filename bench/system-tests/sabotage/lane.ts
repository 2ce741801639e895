// A process that runs a test file against the sources as they are and against each fault that it must notice. All of it happens in
// one worker of one vitest: for a fault only the modules between the test file and what is edited are evaluated anew. The files stay
// as they are on the disk.
import { on } from 'node:events'
import { join } from 'node:path'
import { createVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node'
import { PROJECT_ROOT } from '../../../infra/services/project.ts'
import type {} from '../../../shared/testing/global-setup.ts'
import { NATIVE, nativeModules } from '../../../shared/testing/native-modules.ts'
import { SERVER_FLAGS } from '../../../shared/testing/v8-flags.ts'
import { sabotagePlugin } from './plugin.ts'
import { nameOf, RUNS_FILE } from './runs.ts'

export type Servers = { readonly databaseUrl: string; readonly databaseTemplate: string }
export type FileRun = {
  readonly file: string
  /** Without a fault first, then once with each: a name of MUTANTS, and a regular expression that the names of its tests match. */
  readonly runs: readonly { readonly sabotage: string | null; readonly pattern: string }[]
}
export type TestResult = {
  readonly name: string
  readonly status: 'passed' | 'failed'
  readonly messages: readonly string[]
}
/** What the process is sent, one at a time; its servers are those of the first. */
export type LaneRequest = { readonly servers: Servers; readonly run: FileRun }
/** The tests that ran, by the place of their run. */
export type LaneAnswer = { readonly results: readonly (readonly TestResult[])[] } | { readonly fault: string }

/** Vitest as `npm test` configures it, but that the plugin puts a fault into what is imported for it. */
async function openVitest({ databaseUrl, databaseTemplate }: Servers): Promise<Vitest> {
  const vitest = await createVitest(
    'test',
    {
      root: PROJECT_ROOT,
      config: false,
      watch: false,
      cache: false,
      experimental: { fsModuleCache: true, fsModuleCachePath: join(PROJECT_ROOT, '.tools', 'vitest-modules') },
      reporters: [{}],
      include: [RUNS_FILE],
      setupFiles: ['bench/system-tests/sabotage/fixed-seed.ts'],
      testTimeout: 60_000,
      hookTimeout: 120_000,
      pool: 'forks',
      maxWorkers: 1,
      execArgv: SERVER_FLAGS,
      ...NATIVE,
    },
    { plugins: [sabotagePlugin(), nativeModules()] },
  )
  vitest.provide('databaseUrl', databaseUrl)
  vitest.provide('databaseTemplate', databaseTemplate)
  return vitest
}

async function runTests(vitest: Vitest, { file, runs }: FileRun): Promise<TestResult[][]> {
  vitest.provide('sabotage', { file, runs: runs.map(({ sabotage }) => sabotage) })
  vitest.setGlobalTestNamePattern(runs.map(({ pattern }, place) => `^${nameOf(place)} .*(?:${pattern})`).join('|'))
  const specification = vitest.getRootProject().createSpecification(RUNS_FILE)
  await vitest.runTestSpecifications([specification])
  const [module] = vitest.state.getTestModules([specification.moduleId])
  if (!module) throw new Error(`${file} did not run`)
  return runs.map((_, place) => resultsOf(module, file, place))
}

function resultsOf(module: TestModule, file: string, place: number): TestResult[] {
  const ran: TestResult[] = []
  const isOfRun = ({ fullName }: TestCase): boolean => fullName.startsWith(`${nameOf(place)} `)
  for (const test of [...module.children.allTests()].filter(isOfRun)) {
    const { state, errors = [] } = test.result()
    const messages = errors.map(({ stack, message }) => stack ?? message)
    if (state === 'passed' || state === 'failed') ran.push({ name: test.name, status: state, messages })
  }
  const faults = module.errors().map(({ message }) => message)
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
