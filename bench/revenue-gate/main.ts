// node dist/bench/revenue-gate/main.js [customers [times [events]]]: what it costs to rate the last closed period of so many customers by a
// version.
import { EVENTS } from '../billing-run/billing-run.ts'
import { simulations } from './simulations.ts'

const customers = Number(process.argv[2] ?? 10_000)
const times = Number(process.argv[3] ?? 2)
const events = Number(process.argv[4] ?? EVENTS)
if (!Number.isSafeInteger(customers) || customers < 2) throw new Error('a whole number of customers, at least 2')
if (!Number.isSafeInteger(times) || times < 1) throw new Error('how many times, at least 1')
if (!Number.isSafeInteger(events) || events < 1) throw new Error('events of each meter, at least 1')
await simulations({ customers, times, events })
