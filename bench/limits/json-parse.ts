// The limit for batches: one thread that does nothing but JSON.parse on the same bodies.
import { requestBody } from '../load/events.ts'

const [events = 50, measureMs = 3_000] = process.argv.slice(2).map(Number)
const body = requestBody('limit', events)
const WARM_UP = 2_000
const ROUND = 200

let parsed = 0
for (let round = 0; round < WARM_UP; round += 1) parsed += (JSON.parse(body) as unknown[]).length
parsed = 0
const cpu = process.cpuUsage()
const startedAt = performance.now()
let now = startedAt
while (now - startedAt < measureMs) {
  for (let each = 0; each < ROUND; each += 1) parsed += (JSON.parse(body) as unknown[]).length
  now = performance.now()
}
const { user, system } = process.cpuUsage(cpu)
console.log(
  JSON.stringify({
    eventsPerSecond: (parsed / (now - startedAt)) * 1000,
    cpuMicrosEach: (user + system) / parsed,
  }),
)
