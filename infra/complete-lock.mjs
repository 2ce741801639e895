// `node infra/complete-lock.mjs`, after every change of package-lock.json: adds the optional packages of other platforms.
// With --check it changes nothing and fails when some are missing.
//
// npm leaves them out when the registry at hand serves only this platform's, and `npm ci` then refuses the file
// everywhere ("Missing … from lock file"). Their versions are exact in the packages that want them, and the platform is in
// their names, so nothing has to be fetched. An entry made here has no integrity hash until an `npm install` against a
// full registry adds it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FILE = join(fileURLToPath(new URL('..', import.meta.url)), 'package-lock.json')
const EXACT = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/
const OS = /(?:^|[-/])(android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)(?=-|$)/
const CPU = /-(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64)(?=-|$)/
const LIBC = [
  [/-gnu(?:eabihf)?$/, 'glibc'],
  [/-musl(?:eabihf)?$/, 'musl'],
]

/** Where npm would find `name` from the package at `path`, or null. */
function findInstalled(packages, path, name) {
  for (let from = path; ; ) {
    const candidate = `${from === '' ? '' : `${from}/`}node_modules/${name}`
    if (packages[candidate]) return candidate
    if (from === '') return null
    const above = from.lastIndexOf('node_modules/')
    from = above <= 0 ? '' : from.slice(0, above - 1)
  }
}

/** The optional packages that package-lock.json names but does not hold: [path of the entry, version]. */
function missingOptionals(lock) {
  const missing = new Map()
  for (const [path, { optionalDependencies = {} }] of Object.entries(lock.packages))
    for (const [name, version] of Object.entries(optionalDependencies))
      if (findInstalled(lock.packages, path, name) === null) missing.set(`node_modules/${name}`, version)
  return [...missing]
}

function entryOf(path, version, dev) {
  const name = path.slice('node_modules/'.length)
  const os = OS.exec(name)?.[1]
  const cpu = CPU.exec(name)?.[1]
  if (!EXACT.test(version) || !os || !cpu)
    throw new Error(`${name}@${version}: no exact version or no platform in its name`)
  const libc = os === 'linux' ? LIBC.find(([pattern]) => pattern.test(name))?.[1] : undefined
  return {
    version,
    cpu: [cpu],
    ...(dev ? { dev: true } : {}),
    ...(libc ? { libc: [libc] } : {}),
    optional: true,
    os: [os],
  }
}

function complete(lock, missing) {
  for (const [path, version] of missing) {
    const name = path.slice('node_modules/'.length)
    const parents = Object.values(lock.packages).filter(each => each.optionalDependencies?.[name])
    const dev = parents.every(each => each.dev)
    lock.packages[path] = entryOf(path, version, dev)
  }
  const [root, ...others] = Object.entries(lock.packages)
  others.sort(([a], [b]) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries([root, ...others])
  writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`${missing.length} packages of other platforms added to package-lock.json`)
}

const lock = JSON.parse(readFileSync(FILE, 'utf8'))
const missing = missingOptionals(lock)
if (!process.argv.includes('--check')) complete(lock, missing)
else if (missing.length > 0) {
  console.error(`package-lock.json lacks ${missing.map(([path, version]) => `${path}@${version}`).join(', ')}`)
  process.exit(1)
}
