// Vitest as `npm test` configures it, but for one thing: the sources are loaded with the fault in them that SABOTAGE names,
// while the files stay as they are. Started by sabotage.it.test.ts, which gives it its servers.
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { MUTANTS } from './mutants.ts'

const root = join(import.meta.dirname, '../..')
const name = process.env['SABOTAGE']
const mutant = name === undefined ? undefined : MUTANTS[name]
if (name !== undefined && !mutant) throw new Error(`there is no sabotage called ${name}`)

const sabotage: Plugin = {
  name: 'sabotage',
  enforce: 'pre',
  transform(code, id) {
    const edits = mutant?.edits.filter(({ file }) => id === join(root, file)) ?? []
    return edits.reduce((text, { from, to }) => text.replace(from, () => to), code)
  },
}

export default defineConfig({
  root,
  plugins: [sabotage],
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules/**', 'dist/**', 'bench/sabotage/**'],
    setupFiles: ['bench/sabotage/fixed-seed.ts'],
    globalSetup: ['bench/sabotage/given-servers.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
  },
})
