// RATE events a second for DURATION seconds, in batches of 20: what a service that always sends looks like.
import { events, send } from './lib/events.js'
import { shared, summary, thresholds } from './lib/summary.js'
import { durationSeconds, rate } from './lib/target.js'
import { countUsage, ensureMeter } from './lib/usage.js'

const BATCH = 20

export const options = {
  ...shared,
  thresholds: thresholds(),
  scenarios: {
    steady: {
      executor: 'constant-arrival-rate',
      rate: Math.max(1, Math.round(rate / BATCH)),
      timeUnit: '1s',
      duration: `${durationSeconds}s`,
      preAllocatedVUs: 20,
      maxVUs: 200,
    },
  },
}

export const setup = ensureMeter
export const teardown = countUsage
export const handleSummary = summary('steady')
export default function (data) {
  send(events(data, BATCH))
}
