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
const INSTALL_MINUTES = 30

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
  log(`Building k6 ${VERSION} with Go (a few minutes, once; at most ${INSTALL_MINUTES})`)
  await promisify(execFile)(go, ['install', `go.k6.io/k6@${VERSION}`], {
    env: { ...process.env, GOBIN: TOOLS },
    timeout: INSTALL_MINUTES * 60_000,
    maxBuffer: 16 * 1024 * 1024,
  }).catch((error: BuildFault) => {
    throw new Error(whyNotBuilt(error))
  })
  return local
}

/** How `execFile` fails: `killed` when it ended the program itself, because its time was over. */
type BuildFault = { readonly killed?: boolean; readonly stderr?: string; readonly message: string }

/** What a person reads when the build did not work. */
export function whyNotBuilt({ killed, stderr, message }: BuildFault): string {
  if (killed)
    return (
      `Building k6 ${VERSION} took longer than ${INSTALL_MINUTES} minutes and was ended. Run this again: Go keeps what it has ` +
      'downloaded and compiled, and continues from there.'
    )
  return `${HELP}\n\nGo said: ${(stderr || message).trim().split('\n').at(-1)}`
}
