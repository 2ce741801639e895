// What has to be done before any TypeScript of ours can run: packages, then the build. Node's own modules only, because
// nothing else may be installed yet.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneAtATime } from './one-at-a-time.mjs'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

const NODE_FLOOR = [20, 19]
const STAMP = join(ROOT, 'dist', '.built')
const HEARTBEAT_MS = 10_000
const NOT_ASSETS = new Set(['.ts', '.md'])
const startedAt = performance.now()

/** One progress line with the seconds since the command was given. */
export function say(line) {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)
  console.log(`[${seconds}s] ${line}`)
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > NODE_FLOOR[0] || (major === NODE_FLOOR[0] && minor >= NODE_FLOOR[1])) return
  throw new Error(`Node ${NODE_FLOOR.join('.')} or newer is needed; this is ${process.versions.node}.`)
}

/** Runs a command to its end; its output is shown only if it fails. A line now and then says that it still runs. */
async function runQuietly(title, command, args) {
  say(title)
  const begun = performance.now()
  const output = []
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.on('data', chunk => output.push(chunk))
  child.stderr.on('data', chunk => output.push(chunk))
  const seconds = () => Math.round((performance.now() - begun) / 1000)
  const heartbeat = setInterval(() => say(`  still at it (${seconds()} s)`), HEARTBEAT_MS)
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (code !== 0) throw new Error(`${title} failed (code ${code}):\n${Buffer.concat(output).toString('utf8').trim()}`)
  } finally {
    clearInterval(heartbeat)
  }
}

const readJson = file => JSON.parse(readFileSync(file, 'utf8'))

/** Whether node_modules holds what package-lock.json asks for. npm keeps its own list of what it put there. */
function isInstalled() {
  const installedList = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(installedList)) return false
  const installed = readJson(installedList).packages
  return Object.entries(readJson(join(ROOT, 'package-lock.json')).packages).every(
    ([path, wanted]) => path === '' || wanted.optional || wanted.peer || installed[path]?.version === wanted.version,
  )
}

/** Installs the packages of package-lock.json unless they are there. */
export async function install() {
  if (isInstalled()) return
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund']
  const npm = process.env.npm_execpath
  // Under `npm start` this is npm itself, run by this very Node; otherwise npm is looked up on PATH.
  if (npm?.endsWith('.js')) await runQuietly('Installing packages (npm ci)', process.execPath, [npm, ...args])
  else await runQuietly('Installing packages (npm ci)', 'npm', args)
}

function* filesUnder(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name === 'node_modules' || entry.name === 'results') continue
    if (entry.isDirectory()) yield* filesUnder(path)
    else if (entry.isFile()) yield path
  }
}

/** Every file of the folders that hold our code. */
export function sources() {
  const { include } = readJson(join(ROOT, 'tsconfig.json'))
  const folders = include.filter(name => extname(name) === '' && existsSync(join(ROOT, name)))
  return folders.flatMap(name => [...filesUnder(join(ROOT, name))])
}

/** Changes when a source is added, removed or edited, or the compiler or its settings are others. */
function fingerprint(files) {
  const hash = createHash('sha256')
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map(name => join(ROOT, name))
  for (const file of [...files, ...settings].sort()) {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${relative(ROOT, file)} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

const isStamped = wanted => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted

/** Whether dist/ is of these very sources. */
export const isBuilt = () => isStamped(fingerprint(sources()))

/**
 * Compiles into dist/, copies what is not TypeScript (SQL, fonts, pages) and describes the API, unless dist/ is of these very sources. Of
 * several processes at once, one does it and the others wait.
 */
export async function build() {
  if (isBuilt()) return
  const onWait = () => say('Another process builds; waiting for it')
  await oneAtATime(join(ROOT, '.tools', 'build.lock'), buildAlone, { onWait })
}

async function buildAlone() {
  const files = sources()
  const wanted = fingerprint(files)
  if (isStamped(wanted)) return
  // Built aside and swapped in whole: a killed or failed build leaves the earlier dist/ as it was.
  const draft = join(ROOT, '.tools', `dist.${process.pid}`)
  try {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    await runQuietly('Building', process.execPath, [
      tsc,
      '-p',
      'tsconfig.build.json',
      '--outDir',
      draft,
      '--sourceRoot',
      `${ROOT}/`,
      // `npm run types` checks them. Whoever starts Millrace would wait for it, for a result that only a change of code can alter.
      '--noCheck',
    ])
    for (const file of files.filter(each => !NOT_ASSETS.has(extname(each)))) {
      const target = join(draft, relative(ROOT, file))
      mkdirSync(dirname(target), { recursive: true })
      cpSync(file, target)
    }
    await runQuietly('Bundling the processes', process.execPath, [
      join(ROOT, 'infra', 'bundle.mjs'),
      draft,
      join(ROOT, 'dist'),
    ])
    // Here and not at the first request for it, which would wait for more than a second of processor time.
    await runQuietly('Describing the API', process.execPath, [
      join(draft, 'api', 'describe.js'),
      join(draft, 'api', 'reference.json'),
    ])
    writeFileSync(join(draft, '.built'), wanted)
    rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
    renameSync(draft, join(ROOT, 'dist'))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function prepared(...steps) {
  try {
    checkNode()
    process.chdir(ROOT)
    for (const step of steps) await step()
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
}

/** Everything up to the point where compiled code can run. Ends the process with a readable message when it cannot. */
export const prepare = () => prepared(install, build)

/** As `prepare`, for what compiles the sources as it runs: nothing is built. */
export const prepareSources = () => prepared(install)
