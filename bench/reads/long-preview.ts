// node dist/bench/reads/long-preview.js [rounds]: the preview of a year that is priced by the day, 3,650 lines: what it costs all
// processes, and how long other requests to the api wait meanwhile. With BENCH_BEFORE, the folder of another checkout that
// was built, its api takes turns, and must answer the same.
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { caller, copyCustomers, makeTemplate } from '../billing-run/platform.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import { fillUsage } from '../billing-run/usage.ts'
import { DATABASE } from '../measure/readable.ts'
import type { Running } from '../processes.ts'
import { startApi, UNLIMITED } from '../product.ts'
import { setUp } from '../setup.ts'

const ROUNDS = 5
/** Of each meter, each in an hour of its own. */
const EVENTS = 4_000
/** Between two cheap requests. */
const PAUSE_MS = 5

const rounds = Number(process.argv[2] ?? ROUNDS)
if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error('give a whole number of rounds')

const setup = await setUp()
const running: Running[] = []
try {
  const clickhouseUrl = await setup.startClickHouse()
  running.push(await setup.startAggregator(clickhouseUrl, DATABASE))
  const api = await startApi(setup, clickhouseUrl, UNLIMITED)
  const servers: Record<string, Running> = { api }
  running.push(api)
  const former = process.env['BENCH_BEFORE']
  if (former !== undefined) {
    servers['before'] = await startApi(setup, clickhouseUrl, { ...UNLIMITED, folder: former })
    running.push(servers['before'])
  }
  const year = new Date().getUTCFullYear() - 1
  const period = interval(instantOf(Date.UTC(year, 0, 1)), instantOf(Date.UTC(year + 1, 0, 1)))
  const startAt = new Date(period.start).toISOString()
  const template = await makeTemplate(caller(`http://127.0.0.1:${api.port}`, setup.apiKey), startAt, {
    subscription: { billing_period: { type: 'YEAR', value: 1 } },
    price: { pricing_period: { type: 'DAY', value: 1 } },
  })
  const [copied] = await copyCustomers(setup, { template, from: 0, to: 1 })
  const client = createClickHouse(clickhouseUrl, DATABASE)
  await fillUsage(client, { tenant: setup.tenant, from: 0, to: 1, events: EVENTS, period })
  await client.close()
  const body = JSON.stringify({ pricing_plan_subscription_id: copied?.subscriptionId, start_at: startAt })

  const answers = new Set<string>()
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, server] of Object.entries(servers)) {
      const line = await measure(server, body, answers)
      // In the first, code is compiled.
      console.log(`${round === 0 ? 'not warm: ' : ''}${name}: ${line}`)
    }
  if (answers.size > 1) {
    console.error('the answers differ')
    process.exitCode = 1
  }
} finally {
  for (const each of running.reverse()) await each.stop()
  await setup.stop()
}

/** Previews once, and gives what it cost and how long a cheap request took at most. */
async function measure(server: Running, body: string, answers: Set<string>): Promise<string> {
  const url = `http://127.0.0.1:${server.port}/v1/`
  const headers = { 'x-api-key': setup.apiKey, 'content-type': 'application/json' }
  const count = countTrees({ ...setup.pids, api: server.pid })
  const startedAt = performance.now()
  let isOver = false
  const preview = fetch(`${url}invoices/preview`, { method: 'POST', headers, body })
    .then(async answer => ({ ok: answer.ok, text: await answer.text() }))
    .finally(() => {
      isOver = true
    })
  let longest = 0
  while (!isOver) {
    const askedAt = performance.now()
    await (await fetch(`${url}meters/none`)).text()
    longest = Math.max(longest, performance.now() - askedAt)
    await sleep(PAUSE_MS)
  }
  const { ok, text } = await preview
  const seconds = (performance.now() - startedAt) / 1_000
  if (!ok) throw new Error(text.slice(0, 300))
  answers.add(hash('sha256', text))
  const costs = Object.entries(count(1)).filter(([, ms]) => ms >= 5)
  return `${seconds.toFixed(2)} s, ${(text.length / 1e6).toFixed(1)} MB, others waited at most ${longest.toFixed(0)} ms (${costs.map(([each, ms]) => `${each} ${ms.toFixed(0)}`).join(', ')})`
}
