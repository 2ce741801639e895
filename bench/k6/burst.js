// A burst to the platform's limit and over it: from a tenth of LIMIT to one and a half times LIMIT and back, in batches of
// 50. What is over the limit is answered 429 with a truthful Retry-After, and goes through when it is sent again after it.
import { sleep } from 'k6'
import { Counter } from 'k6/metrics'
import { events, send } from './lib/events.js'
import { shared, summary, thresholds } from './lib/summary.js'
import { durationSeconds } from './lib/target.js'
import { countUsage, ensureMeter } from './lib/usage.js'

const BATCH = 50
const ATTEMPTS = 10
/** Events a second the platform may send: of LIVE 10,000, of TEST 1,000, unless it was changed. */
const limit = Number(__ENV.LIMIT || 10_000)
const requests = share => Math.max(1, Math.round((limit * share) / BATCH))
const third = `${Math.max(1, Math.round(durationSeconds / 3))}s`

const gaveUp = new Counter('requests_never_accepted')

export const options = {
  ...shared,
  // Over the limit there is a queue of waiting senders, so only those that were accepted at once are timed.
  thresholds: { ...thresholds({ p95: 1000, p99: 3000, throttled: true }), requests_never_accepted: ['count==0'] },
  scenarios: {
    burst: {
      executor: 'ramping-arrival-rate',
      startRate: requests(0.1),
      timeUnit: '1s',
      preAllocatedVUs: 50,
      maxVUs: 400,
      gracefulStop: '30s',
      stages: [
        { duration: third, target: requests(1) },
        { duration: third, target: requests(1.5) },
        { duration: third, target: requests(0.1) },
      ],
    },
  },
}

export function setup() {
  gaveUp.add(0)
  return ensureMeter()
}
export const teardown = countUsage
export const handleSummary = summary('burst')
export default function (data) {
  const batch = events(data, BATCH)
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = send(batch)
    if (answer.status !== 429) return
    sleep(Number(answer.headers['Retry-After']))
  }
  gaveUp.add(1)
}
