// Finds k6, or builds it where Go is at hand: PATH, .tools/bin, Go, in this order.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onPath } from '../../infra/services/nats-binary.ts'
import { PROJECT_ROOT } from '../../infra/services/project.ts'

const TOOLS = join(PROJECT_ROOT, '.tools', 'bin')
/** Pinned, so that two machines run the same. */
const VERSION = 'v1.8.1'
const INSTALL_TIMEOUT_MS = 900_000

const HELP = `k6 was not found and could not be built. Do one of these:
  - install Go (https://go.dev/dl) and run this again: it builds k6 ${VERSION} into .tools/bin
  - install k6 (https://grafana.com/docs/k6/latest/set-up/install-k6/)
  - use the probe, which needs only Node: npm run probe`

/** The path of a k6. Throws an error that says what to do when there is none. */
export async function findK6(log: (line: string) => void): Promise<string> {
  const local = join(TOOLS, 'k6')
  const found = onPath('k6') ?? (existsSync(local) ? local : null)
  if (found) return found
  const go = onPath('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : null)
  if (!go) throw new Error(HELP)
  mkdirSync(TOOLS, { recursive: true })
  log(`Building k6 ${VERSION} with Go (a few minutes, once)`)
  await promisify(execFile)(go, ['install', `go.k6.io/k6@${VERSION}`], {
    env: { ...process.env, GOBIN: TOOLS },
    timeout: INSTALL_TIMEOUT_MS,
    maxBuffer: 16 * 1024 * 1024,
  }).catch(error => {
    throw new Error(
      `${HELP}\n\nGo said: ${String(error.stderr ?? error.message)
        .trim()
        .split('\n')
        .at(-1)}`,
    )
  })
  return local
}
