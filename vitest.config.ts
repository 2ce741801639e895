import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { SlowFirst } from './shared/testing/slow-first.ts'

// Two projects: `unit` is pure and quick; `it` talks to real servers started once by the global set-up.
export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['**/*.test.ts'],
          exclude: ['**/*.it.test.ts', '**/*.fault.test.ts', 'node_modules/**', 'dist/**'],
          // Nothing here waits for anything; a busy machine may still take its time.
          testTimeout: 30_000,
          // Left to itself vitest leaves a core idle, which is half of the smallest machine.
          maxWorkers: Math.max(2, availableParallelism() - 1),
        },
      },
      {
        test: {
          name: 'it',
          // Projects that differ in workers run one after the other; the quick one first.
          sequence: { groupOrder: 1 },
          include: ['**/*.it.test.ts', '**/*.fault.test.ts'],
          exclude: ['node_modules/**', 'dist/**'],
          globalSetup: ['shared/testing/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // What is waited for comes at its own time; vitest's own second is short on a machine that runs other tests.
          expect: { poll: { timeout: 10_000 } },
          pool: 'forks',
          // One more than the cores of the smallest machine: much of a fault test is waiting.
          maxWorkers: 3,
        },
      },
    ],
  },
})
