// node dist/bench/billing-run/main.js [customers …]: what runs of so many customers cost, beyond the sizes `npm run bench` takes.
import { billingRuns } from './billing-run.ts'

const sizes = process.argv.slice(2).map(Number)
if (sizes.some(size => !Number.isSafeInteger(size) || size < 1)) throw new Error('sizes are whole numbers of customers')
await billingRuns(sizes.length === 0 ? [100, 1_000] : sizes)
