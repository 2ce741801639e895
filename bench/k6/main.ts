// npm run k6 -- <scenario>: finds or builds k6 and runs one scenario, or all of them, against one installation.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/services/project.ts'
import { findTarget } from '../probe/target.ts'
import { findK6 } from './find-k6.ts'

const SCENARIOS = ['steady', 'burst', 'mixed', 'resend-storm', 'hot-customer']
const HELP = `npm run k6 -- <scenario>   one of ${SCENARIOS.join(', ')}, or all

Environment: BASE_URL, INGEST_URL, API_KEY (left out: the installation of npm start in DATA_DIR), RATE (events a second),
LIMIT (of the platform, for burst), DURATION (seconds), ALLOW_REMOTE=yes for an address that is not this machine.`

async function runScenario(k6: string, scenario: string): Promise<boolean> {
  const { baseUrl, ingestUrl, apiKey } = findTarget(process.env)
  const results = join(PROJECT_ROOT, 'bench', 'results')
  mkdirSync(results, { recursive: true })
  const summary = join(results, `k6-${scenario}.json`)
  rmSync(summary, { force: true })
  const child = spawn(
    k6,
    ['run', '--quiet', '--no-usage-report', join(PROJECT_ROOT, 'bench', 'k6', `${scenario}.js`)],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        // The key goes by the environment: a command line is read by every user of the machine.
        BASE_URL: baseUrl,
        INGEST_URL: ingestUrl,
        API_KEY: apiKey,
        SUMMARY_FILE: summary,
      },
    },
  )
  const [code] = await once(child, 'exit')
  // k6 ends with 0 when every threshold held; that accepted is what was counted is no threshold of one metric.
  if (code !== 0 || !existsSync(summary)) return false
  const { lost, extra } = JSON.parse(readFileSync(summary, 'utf8')) as { lost: number; extra: number }
  return lost + extra === 0
}

async function main(): Promise<number> {
  const scenario = process.argv[2] ?? ''
  const chosen = scenario === 'all' ? SCENARIOS : SCENARIOS.filter(each => each === scenario)
  if (chosen.length === 0) {
    console.log(HELP)
    return 2
  }
  const k6 = await findK6(line => console.log(line))
  if (!existsSync(k6)) throw new Error(`${k6} is not there`)
  let passed = true
  for (const each of chosen) passed = (await runScenario(k6, each)) && passed
  return passed ? 0 : 1
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  },
)
