// node dist/bench/usage-curve/main.js [events …]: the curve of a month's usage, also beyond the sizes `npm run bench` takes.
import { BUDGET_MS, slowest, usageOfAMonth } from './usage-of-a-month.ts'

const sizes = process.argv.slice(2).map(Number)
if (sizes.some(size => !Number.isSafeInteger(size) || size < 1)) throw new Error('sizes are whole numbers of events')
const months = sizes.length === 0 ? await usageOfAMonth() : await usageOfAMonth(sizes)
const worst = slowest(months)
if (worst) {
  const verdict = worst.p50Ms < BUDGET_MS ? '' : ', BELOW'
  console.log(
    `\n10,000,000 events: at most ${worst.p50Ms.toFixed(1)} ms, ${worst.question} (budget ${BUDGET_MS} ms${verdict})`,
  )
}
