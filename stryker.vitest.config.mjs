// The tests that mutants are tried against: the pure ones of the same folders.
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['shared/{rating,billing}/**/*.test.ts'], pool: 'threads' } })
