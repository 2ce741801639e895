// What test files import is run by Node as it is (infra/test-modules.mjs); vitest's own runner, which can put other modules in the
// place of real ones and is slower, runs the test files alone.
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Vite } from 'vitest/node'
import { PROJECT_ROOT } from '../../infra/services/project.ts'

/** `npm test` compiles into it and names it; without it vitest runs every module. */
const FOLDER = process.env['MILLRACE_TEST_MODULES'] ?? null

const isOfTests = (source: string): boolean => source.endsWith('.test.ts')

/** Where `module`, a path from the root, lies compiled. */
const placeOf = (folder: string, module: string): string => join(folder, `${module.slice(0, -'.ts'.length)}.mjs`)

/** Where the module lies compiled that `source`, a relative path, names in `importer`. */
function compiled(folder: string, source: string, importer: string): string | null {
  const file = placeOf(folder, relative(PROJECT_ROOT, resolve(dirname(importer), source)))
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

/** Two modules, as paths from the root: whoever imports the first gets the second, which alone may import it as it is. */
export type StandIn = { readonly module: string; readonly standIn: string }

/** Hands it to what vitest runs. Comes before `nativeModules`. */
export const standingIn = ({ module, standIn }: StandIn): Vite.Plugin => ({
  name: 'standing-in',
  enforce: 'pre',
  resolveId(source, importer) {
    if (FOLDER !== null || importer === undefined || !source.startsWith('.')) return null
    const isMeant = resolve(dirname(importer), source) === join(PROJECT_ROOT, module)
    return isMeant && importer !== join(PROJECT_ROOT, standIn) ? join(PROJECT_ROOT, standIn) : null
  },
})

/** Flags of a process that hand it to what Node runs. */
export function flagsStandingIn({ module, standIn }: StandIn): string[] {
  if (FOLDER === null) return []
  const addressOf = (each: string): string => JSON.stringify(pathToFileURL(placeOf(FOLDER, each)).href)
  const hooks = `export const resolve = async (source, context, next) => {
    const found = await next(source, context)
    const isMeant = found.url === ${addressOf(module)} && context.parentURL !== ${addressOf(standIn)}
    return isMeant ? { ...found, url: ${addressOf(standIn)} } : found
  }`
  const program = `import { register } from 'node:module'; register(${JSON.stringify(scriptOf(hooks))})`
  return ['--import', scriptOf(program)]
}

const scriptOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`
