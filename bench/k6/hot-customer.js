// RATE events a second, nine tenths of them of one customer, whose rows and hours are where everybody writes.
import { events, send } from './lib/events.js'
import { shared, summary, thresholds } from './lib/summary.js'
import { durationSeconds, rate } from './lib/target.js'
import { countUsage, ensureMeter } from './lib/usage.js'

const BATCH = 20
const HOT_PERCENT = 90

export const options = {
  ...shared,
  thresholds: thresholds(),
  scenarios: {
    hot: {
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
export const handleSummary = summary('hot customer')
export default function (data) {
  send(events(data, BATCH, HOT_PERCENT))
}
