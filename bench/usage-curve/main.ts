// node dist/bench/usage-curve/main.js [events …]: the curve of a month's usage, also beyond the sizes `npm run bench` takes.
import { BUDGET_MS, usageOfAMonth, withinBudget } from './usage-of-a-month.ts'

const sizes = process.argv.slice(2).map(Number)
if (sizes.some(size => !Number.isSafeInteger(size) || size < 1)) throw new Error('sizes are whole numbers of events')
const months = sizes.length === 0 ? await usageOfAMonth() : await usageOfAMonth(sizes)
console.log(`\n10,000,000 events under ${BUDGET_MS} ms: ${withinBudget(months) ? 'yes' : 'BELOW BUDGET'}`)
