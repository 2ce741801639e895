import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { RunOrder } from './shared/testing/run-order.ts'

const NO_SOURCES = ['node_modules/**', 'dist/**']

/** Tests that talk to real servers, started once by the global set-up. */
const withServers = {
  // Projects that differ in workers run one after the other; the quick one first.
  sequence: { groupOrder: 1 },
  globalSetup: ['shared/testing/global-setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // What is waited for comes at its own time; vitest's own second is short on a machine that runs other tests.
  expect: { poll: { timeout: 10_000 } },
  pool: 'forks' as const,
  // One more than the cores of the smallest machine: much of a fault test is waiting.
  maxWorkers: 3,
}
/** Takes one layer of defence away in what it imports: nobody else may meet that. */
const TENANCY_LAYERS = 'api/tenancy-layers.it.test.ts'

// `unit` is pure and quick. `it` and `it-alone` talk to real servers: in `it`, files follow each other in a few processes, since
// to load the api again for each takes longer than most of them; in `it-alone` each has a process of its own, whose memory,
// environment and modules it may do with as it likes.
export default defineConfig({
  // Holds how long each test file took; outside node_modules, so that an installation does not lose it.
  cacheDir: '.tools/vitest',
  test: {
    sequence: { sequencer: RunOrder },
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['**/*.test.ts'],
          exclude: ['**/*.it.test.ts', '**/*.fault.test.ts', ...NO_SOURCES],
          // Nothing here waits for anything; a busy machine may still take its time.
          testTimeout: 30_000,
          // Left to itself vitest leaves a core idle, which is half of the smallest machine.
          maxWorkers: Math.max(2, availableParallelism() - 1),
        },
      },
      {
        test: {
          ...withServers,
          name: 'it',
          include: ['{api,identity}/**/*.it.test.ts'],
          exclude: [TENANCY_LAYERS, ...NO_SOURCES],
          isolate: false,
        },
      },
      {
        test: {
          ...withServers,
          name: 'it-alone',
          include: ['**/*.it.test.ts', '**/*.fault.test.ts'],
          exclude: ['{api,identity}/**/!(tenancy-layers).it.test.ts', ...NO_SOURCES],
        },
      },
    ],
  },
})
