// Where this package lies and which form of it runs: TypeScript where single tests are run, compiled JavaScript else.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(import.meta.url)

function findRoot(): string {
  let folder = dirname(here)
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error(`no package.json above ${here}`)
    folder = parent
  }
  return folder
}

/** The folder that holds package.json. */
export const PROJECT_ROOT = findRoot()

/** `npm test` sets it when dist/ is of these sources: starting from it takes a third of the time. */
const compiled = here.endsWith('.js') || process.env['MILLRACE_BUILT'] === 'true'

/** Arguments that make this Node run a module of ours, named from the root without extension: `ingest/main`. */
export const nodeArgs = (module: string): string[] =>
  compiled ? [join(PROJECT_ROOT, 'dist', `${module}.js`)] : ['--import', 'tsx', join(PROJECT_ROOT, `${module}.ts`)]
