// The tests that mutants are tried against: the pure ones of the folder whose code is mutated (MUTATED_TESTS, given by
// infra/mutate.mjs). A busy machine is no survivor and no kill, so tests have time; Stryker itself ends a mutant that loops.
import { defineConfig } from 'vitest/config'

const TESTS = process.env.MUTATED_TESTS ?? 'shared/{rating,billing}/**/*.test.ts'

export default defineConfig({
  test: { include: TESTS.split(' '), pool: 'threads', isolate: false, testTimeout: 120_000 },
})
