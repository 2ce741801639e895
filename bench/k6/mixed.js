// RATE events a second in requests of every size from 1 to 50: many senders, each with its own habits.
import { constantRate } from './lib/constant-rate.js'
import { events, send } from './lib/events.js'
import { summary } from './lib/summary.js'
import { countUsage, ensureMeter } from './lib/usage.js'

/** As often as they stand here. */
const SIZES = [1, 1, 1, 1, 2, 3, 5, 10, 20, 50]
const mean = SIZES.reduce((sum, size) => sum + size, 0) / SIZES.length

export const options = constantRate(mean)
export const setup = ensureMeter
export const teardown = countUsage
export const handleSummary = summary('mixed batch sizes')
export default function (data) {
  send(events(data, SIZES[Math.floor(Math.random() * SIZES.length)]))
}
