// npm run probe -- <scenario>: the load of bench/k6 with nothing but Node, and the same verdict.

import { type LoadCounts, sendLoad } from './load.ts'
import { type Run, SCENARIOS } from './scenarios.ts'
import { findTarget } from './target.ts'
import { createUsage } from './usage.ts'

const HELP = `npm run probe -- <scenario>   one of ${Object.keys(SCENARIOS).join(', ')}, or all

Environment: BASE_URL, INGEST_URL, API_KEY (left out: the installation of npm start in DATA_DIR), RATE (events a second, 2000;
for burst the platform's limit), DURATION (seconds, 20), ALLOW_REMOTE=yes for an address that is not this machine.`
const RATE_DEFAULT = '2000'
const SECONDS_DEFAULT = '20'
const TWO_DAYS_MS = 2 * 86_400_000

type Verdict = {
  readonly counts: LoadCounts
  readonly counted: number
  readonly afterSeconds: number
  readonly seconds: number
  readonly overLimit: boolean
}

function positive(name: string, text: string): number {
  const number = Number(text.replace(/s$/, ''))
  if (!(number >= 1)) throw new Error(`${name} is a number, 1 or more, not ${text}`)
  return number
}

const figure = (value: number): string => Math.round(value).toLocaleString('en')

/** Prints what a person wants to know. Returns whether nothing was lost, counted twice or refused without need. */
function printVerdict(name: string, { counts, counted, afterSeconds, seconds, overLimit }: Verdict): boolean {
  const { accepted, acceptedNew, unknownNew, refused, wrong, notSent } = counts
  const lost = Math.max(0, acceptedNew - counted)
  const extra = Math.max(0, counted - acceptedNew - unknownNew)
  const times = counts.ackMs.toSorted((a, b) => a - b)
  const at = (share: number) => `${(times[Math.floor(times.length * share)] ?? 0).toFixed(1)} ms`
  const others = [...refused].filter(([status]) => !(overLimit && status === 429))
  const passed = lost + extra + wrong === 0 && others.length === 0 && accepted > 0
  console.log(`
${name}, ${seconds} s
  accepted   ${figure(accepted)} events (${figure(accepted / seconds)} a second), ${figure(acceptedNew)} of them new
  counted    ${figure(counted)}; the last of them ${afterSeconds.toFixed(0)} s after the load had ended
  lost       ${figure(lost)}
  too many   ${figure(extra)}
  refused    ${[...refused].map(([status, count]) => `${figure(count)} requests with ${status || 'no answer'}`).join(', ') || 'none'}
  wrong      ${figure(wrong)} answers
  ack        p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}
  not sent   ${figure(notSent)} requests, too many waited
  ${passed ? 'PASSED' : 'FAILED'}`)
  return passed
}

async function main(): Promise<number> {
  const asked = process.argv[2] ?? ''
  const names = asked === 'all' ? Object.keys(SCENARIOS) : [asked]
  const chosen = names.flatMap(name => (SCENARIOS[name] ? [{ name, scenario: SCENARIOS[name] }] : []))
  if (chosen.length === 0) {
    console.log(HELP)
    return 2
  }
  const target = findTarget(process.env)
  const rate = positive('RATE', process.env['RATE'] ?? RATE_DEFAULT)
  const seconds = positive('DURATION', process.env['DURATION'] ?? SECONDS_DEFAULT)
  const usage = createUsage(target)
  await usage.ensureMeter()
  let passed = true
  for (const { name, scenario } of chosen) {
    const run: Run = { name: Date.now().toString(36), startMs: Date.now() - TWO_DAYS_MS }
    const counts = await sendLoad({ target, scenario, run, rate, seconds, random: Math.random })
    const { counted, afterSeconds } = await usage.count(run)
    const { overLimit } = scenario
    passed = printVerdict(name, { counts, counted, afterSeconds, seconds, overLimit }) && passed
  }
  return passed ? 0 : 1
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  },
)
