// node dist/bench/revenue-gate/main.js [customers]: what it costs to rate the last closed period of so many customers by a version.
import { simulations } from './simulations.ts'

const customers = Number(process.argv[2] ?? 10_000)
if (!Number.isSafeInteger(customers) || customers < 2) throw new Error('a whole number of customers, at least 2')
await simulations(customers)
