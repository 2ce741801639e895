// RATE events a second for DURATION seconds, in requests of so many each on average, and how such a run is judged.
import { shared, thresholds } from './summary.js'
import { durationSeconds, rate } from './target.js'

export const constantRate = meanBatch => ({
  ...shared,
  thresholds: thresholds(),
  scenarios: {
    constant: {
      executor: 'constant-arrival-rate',
      rate: Math.max(1, Math.round(rate / meanBatch)),
      timeUnit: '1s',
      duration: `${durationSeconds}s`,
      preAllocatedVUs: 30,
      maxVUs: 200,
    },
  },
})
