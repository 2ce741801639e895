// `npm run mutate -- shared/rating/models`: mutation testing of money code (a file, a folder, or several). Each change of one
// expression is tried against the unit tests of the same part of shared/, those that reach it alone. Prints the survivors and the
// share of changes that tests notice, and writes .tools/mutation.html. Of the part's tests those that import the file are run; with
// MUTATED_TESTS="a.test.ts b.test.ts" only these, where the others are slow.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { ROOT } from './bootstrap.mjs'

const PARTS = ['shared/rating', 'shared/billing']

const paths = process.argv.slice(2).map(path => relative(ROOT, resolve(path)))
const outside = paths.find(path => !PARTS.some(part => path === part || path.startsWith(`${part}/`)))
if (paths.length === 0 || outside !== undefined) {
  console.error(`Give files or folders of ${PARTS.join(' or ')}: npm run mutate -- shared/rating/models`)
  process.exit(2)
}

let failed = false
for (const part of PARTS) {
  const own = paths.filter(path => path === part || path.startsWith(`${part}/`))
  if (own.length === 0) continue
  const files = own.flatMap(path =>
    statSync(join(ROOT, path)).isDirectory()
      ? [`${path}/**/*.ts`, `!${path}/**/*.test.ts`, `!${path}/**/testing/**`]
      : [path],
  )
  const stryker = join(ROOT, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js')
  const { status } = spawnSync(process.execPath, [stryker, 'run', '--mutate', files.join(',')], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, MUTATED_TESTS: process.env.MUTATED_TESTS ?? `${part}/**/*.test.ts` },
  })
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)
