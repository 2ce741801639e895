// RATE events a second, nine tenths of them of one customer, whose rows and hours are where everybody writes.
import { constantRate } from './lib/constant-rate.js'
import { events, send } from './lib/events.js'
import { summary } from './lib/summary.js'
import { countUsage, ensureMeter } from './lib/usage.js'

const BATCH = 20
const HOT_PERCENT = 90

export const options = constantRate(BATCH)
export const setup = ensureMeter
export const teardown = countUsage
export const handleSummary = summary('hot customer')
export default function (data) {
  send(events(data, BATCH, HOT_PERCENT))
}
