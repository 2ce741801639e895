// What test files import is run by Node as it is (infra/test-modules.mjs); vitest's own runner, which can put other modules in the
// place of real ones and is slower, runs the test files alone.
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Vite } from 'vitest/node'
import { PROJECT_ROOT } from '../../infra/services/project.ts'

/** `npm test` compiles into it and names it; without it vitest runs every module. */
const FOLDER = process.env['MILLRACE_TEST_MODULES'] ?? null

const isOfTests = (source: string): boolean => source.endsWith('.test.ts')

/** Where the module lies compiled that `source`, a relative path, names in `importer`. */
function compiled(folder: string, source: string, importer: string): string | null {
  const name = relative(PROJECT_ROOT, resolve(dirname(importer), source))
  const file = join(folder, `${name.slice(0, -'.ts'.length)}.mjs`)
  return existsSync(file) ? file : null
}

/** Of a project in which no module stands in for another. */
export const nativeModules = (): Vite.Plugin => ({
  name: 'native-modules',
  enforce: 'pre',
  configureVitest: ({ experimental_defineCacheKeyGenerator }) =>
    // A test file that is kept compiled names what it imports.
    experimental_defineCacheKeyGenerator(() => FOLDER ?? undefined),
  resolveId(source, importer) {
    if (FOLDER === null || importer === undefined || !/^\..*\.ts$/.test(source) || isOfTests(source)) return null
    return compiled(FOLDER, source, importer)
  },
})

/** Goes with the plugin: nothing else lies there. */
export const NATIVE = { server: { deps: { external: [/[\\/]\.tools[\\/]test-modules[\\/]/] } } }
