import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { flagsStandingIn, NATIVE, nativeModules, standingIn } from './shared/testing/native-modules.ts'
import { RunOrder } from './shared/testing/run-order.ts'
import { SecondTries } from './shared/testing/second-tries.ts'
import { PURE_FLAGS, SERVER_FLAGS } from './shared/testing/v8-flags.ts'

const NO_SOURCES = ['node_modules/**', 'dist/**', '.tools/**']

/** Puts simulated modules in the place of real ones. */
const SIMULATION = 'bench/system-tests/simulation/*.test.ts'

/** Tests that talk to nothing. */
const pure = {
  sequence: { groupOrder: 0 },
  execArgv: PURE_FLAGS,
  // Nothing here waits for anything. What takes three seconds on a quiet machine takes more than 30 on one with ten others at work.
  testTimeout: 180_000,
  // What is waited for comes at its own time; vitest's own second is short on a machine that is busy.
  expect: { poll: { timeout: 20_000 } },
  // Left to itself vitest leaves a core idle, which is half of the smallest machine.
  maxWorkers: Math.max(2, availableParallelism() - 1),
}

/** Tests that talk to real servers, started once by the global set-up. */
const withServers = {
  // Projects that differ in workers run one after the other; the quick one first.
  sequence: { groupOrder: 1 },
  globalSetup: ['shared/testing/global-setup.ts'],
  // Three of them take 45 s on two slow cores that workers share; what must be quick is measured in bench/, not here.
  testTimeout: 180_000,
  hookTimeout: 240_000,
  // One process too many on two cores can make a test late. A test that needs its second try is named at the end of the run.
  retry: 1,
  // What is waited for comes at its own time; vitest's own second is short on a machine that runs other tests.
  expect: { poll: { timeout: 60_000 } },
  pool: 'forks' as const,
  execArgv: SERVER_FLAGS,
  // Twice the cores of the smallest machine: much of what faults, leases and processes take is waiting.
  maxWorkers: 4,
}
/** Takes one layer of defence away in what it imports: nobody else may meet that. */
const TENANCY_LAYERS = 'api/tenancy/tenancy-layers.it.test.ts'
const SWITCHED = { module: 'api/resource/tenant-condition.ts', standIn: 'api/tenancy/testing/switched-conditions.ts' }
/** Files that follow each other in one process: they leave no timer, no changed environment and no mocked module behind. */
const TOGETHER = [
  '{aggregator,api,identity,ingest,shared}/**/*.it.test.ts',
  'bench/usage-curve/*.it.test.ts',
  'bench/system-tests/{files,single-events}/*.it.test.ts',
  'bench/system-tests/usage-*.it.test.ts',
  'infra/cli/*.it.test.ts',
]

// `unit` is pure and quick; `it` talks to real servers. In both, files follow each other in a few processes, since to load the code
// again for each takes longer than most of them. In the other projects each file has a process of its own, whose memory and environment
// it may do with as it likes; in those without `nativeModules` it may also put other modules in the place of real ones.
export default defineConfig({
  // Holds how long each test file took; outside node_modules, so that an installation does not lose it.
  cacheDir: '.tools/vitest',
  test: {
    // Each module is compiled once, not once for each project and again by every run. What it is kept under holds its text and this
    // file; a change of package-lock.json clears it.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.tools/vitest-modules' },
    sequence: { sequencer: RunOrder },
    reporters: ['default', new SecondTries()],
    projects: [
      {
        plugins: [nativeModules()],
        test: {
          ...NATIVE,
          ...pure,
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: ['**/*.it.test.ts', '**/*.fault.test.ts', SIMULATION, ...NO_SOURCES],
          isolate: false,
        },
      },
      { test: { ...pure, name: 'unit-alone', include: [SIMULATION] } },
      {
        plugins: [nativeModules()],
        test: {
          ...NATIVE,
          ...withServers,
          name: 'it',
          include: TOGETHER,
          exclude: [TENANCY_LAYERS, ...NO_SOURCES],
          isolate: false,
        },
      },
      {
        plugins: [nativeModules()],
        test: {
          ...NATIVE,
          ...withServers,
          name: 'it-alone',
          include: ['{bench,infra}/**/*.it.test.ts', '**/*.fault.test.ts'],
          exclude: [...TOGETHER, ...NO_SOURCES],
        },
      },
      {
        plugins: [standingIn(SWITCHED), nativeModules()],
        test: {
          ...NATIVE,
          ...withServers,
          name: 'it-switched',
          include: [TENANCY_LAYERS],
          execArgv: [...SERVER_FLAGS, ...flagsStandingIn(SWITCHED)],
        },
      },
    ],
  },
})
