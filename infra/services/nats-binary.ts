// Finds nats-server, or installs it: NATS_SERVER_BIN, PATH, .tools/bin, Go, the system's packages, in this order.
import { execFile } from 'node:child_process'
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Progress } from './child.ts'
import { PROJECT_ROOT } from './project.ts'

const run = promisify(execFile)
const TOOLS = join(PROJECT_ROOT, '.tools', 'bin')
/** Tried in turn: an older release builds with an older Go. Pinned, so that two machines get the same server. */
const GO_VERSIONS = ['v2.15.2', 'v2.11.4', 'v2.10.29', 'v2.9.25']
const INSTALL_TIMEOUT_MS = 600_000

const HELP = `nats-server was not found and could not be installed. Do one of these and start again:
  - install Go (https://go.dev/dl) so that it can be built: go install github.com/nats-io/nats-server/v2@latest
  - install your system's package: apt-get install nats-server, brew install nats-server
  - set NATS_SERVER_BIN to the path of a nats-server
  - set NATS_URL to a running NATS with JetStream`

/** Whether this is a file that can be run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The first `name` on PATH, or null. */
export function onPath(name: string, path: string = process.env['PATH'] ?? ''): string | null {
  const found = path
    .split(delimiter)
    .filter(folder => folder !== '')
    .map(folder => join(folder, name))
    .find(isExecutable)
  return found ?? null
}

/** The last line of what a command that failed had to say. */
export const reason = (error: unknown): string => {
  const text =
    error instanceof Error ? ('stderr' in error && error.stderr ? String(error.stderr) : error.message) : String(error)
  return text.trim().split('\n').at(-1) ?? ''
}

async function installWithGo(log: Progress): Promise<string | null> {
  const go = onPath('go') ?? (isExecutable('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : null)
  if (!go) return null
  mkdirSync(TOOLS, { recursive: true })
  for (const version of GO_VERSIONS) {
    log(`nats-server is not installed; building ${version} with Go (a minute or two, once)`)
    try {
      await run(go, ['install', `github.com/nats-io/nats-server/v2@${version}`], {
        env: { ...process.env, GOBIN: TOOLS },
        timeout: INSTALL_TIMEOUT_MS,
        maxBuffer: 16 * 1024 * 1024,
      })
      return join(TOOLS, 'nats-server')
    } catch (error) {
      log(`  that did not work: ${reason(error)}`)
    }
  }
  return null
}

async function installWithApt(log: Progress): Promise<string | null> {
  if (process.getuid?.() !== 0 || !onPath('apt-get')) return null
  log('nats-server is not installed; installing the package of this system')
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const options = { env, timeout: INSTALL_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 }
    await run('apt-get', ['update'], options)
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'nats-server'], options)
  } catch (error) {
    log(`  that did not work: ${reason(error)}`)
  }
  return onPath('nats-server')
}

/** The path of a nats-server. Throws an error that says what to do when there is none and none can be installed. */
export async function findNatsServer(log: Progress): Promise<string> {
  const named = process.env['NATS_SERVER_BIN']
  if (named) {
    if (isExecutable(named)) return named
    throw new Error(`NATS_SERVER_BIN=${named} is not an executable file`)
  }
  const local = join(TOOLS, 'nats-server')
  const found = onPath('nats-server') ?? (isExecutable(local) ? local : null)
  if (found) return found
  const installed = (await installWithGo(log)) ?? (await installWithApt(log))
  if (!installed) throw new Error(HELP)
  return installed
}

/** The version of a nats-server, as digits: `2.10.29`. */
export async function natsVersion(binary: string): Promise<string> {
  const { stdout } = await run(binary, ['--version'])
  const version = /v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1]
  if (!version) throw new Error(`${binary} --version answers ${JSON.stringify(stdout.trim())}, which is no version`)
  return version
}
