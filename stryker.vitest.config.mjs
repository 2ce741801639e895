// The tests that mutants are tried against: the pure ones of the same folders. A busy machine is no survivor and no kill,
// so tests have time; Stryker itself ends a mutant that loops.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['shared/{rating,billing}/**/*.test.ts'], pool: 'threads', testTimeout: 120_000 },
})
