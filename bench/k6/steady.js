// RATE events a second for DURATION seconds, in batches of 20: what a service that always sends looks like.
import { constantRate } from './lib/constant-rate.js'
import { events, send } from './lib/events.js'
import { summary } from './lib/summary.js'
import { countUsage, ensureMeter } from './lib/usage.js'

const BATCH = 20

export const options = constantRate(BATCH)
export const setup = ensureMeter
export const teardown = countUsage
export const handleSummary = summary('steady')
export default function (data) {
  send(events(data, BATCH))
}
