// node dist/bench/reads/main.js [events [name [invoices]]]: what reads of the api cost in processor time of all processes, beside a bare
// Fastify route over the same database in the same run, on a platform with so many events (a million by default; of more than five
// million, which are of 22 meters, some of them rare, only the newest are more than entries of lists) and a hundred invoices, or so many more over a year.
import { Pool } from 'undici'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { caller, copyCustomers, makeTemplate } from '../billing-run/platform.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import { type Running, startModule } from '../processes.ts'
import { startApi } from '../product.ts'
import { setUp } from '../setup.ts'
import { eventLists } from './event-lists.ts'
import { fillAll } from './fill-records.ts'
import { invoiceReads } from './invoice-reads.ts'
import { fillInvoices, makeInvoices } from './make-invoices.ts'
import type { Read } from './read.ts'

const EVENTS = 1_000_000
const CUSTOMERS = 60
const INVOICES_OF_A_CUSTOMER = 50
/** Of each read, after as many that do not count, in which its code is compiled. */
const READS = 60
/** A list takes some hundred calls until its code is compiled. */
const LISTS = 300
/** Of those that take long. */
const FEW = 10
/** Of those that are also measured under load; the same, at once. */
const BUSY_READS = 1_500
const AT_ONCE = 16
const DAY_MS = 24 * 3_600_000

const events = Number(process.argv[2] ?? EVENTS)
const invoices = Number(process.argv[4] ?? 0)
if (!Number.isSafeInteger(events) || events < 1) throw new Error('give a whole number of events')
if (!Number.isSafeInteger(invoices) || invoices < 0) throw new Error('give a whole number of invoices')

type Processes = { readonly api: Running; readonly bare: Running; readonly port: number }

const setup = await setUp()
const running: Running[] = []
try {
  const clickhouseUrl = await setup.startClickHouse()
  running.push(await setup.startAggregator(clickhouseUrl, DATABASE))
  const api = await startApi(setup, clickhouseUrl)
  running.push(api)
  const { port } = api
  const bare = await startModule('bench/limits/bare-read', { DATABASE_URL: setup.databaseUrl })
  running.push(bare)

  const now = Date.now()
  const call = caller(`http://127.0.0.1:${port}`, setup.apiKey)
  const template = await makeTemplate(call, new Date(now - 70 * DAY_MS).toISOString())
  const copied = await copyCustomers(setup, { template, from: 0, to: CUSTOMERS })
  await makeInvoices(setup, {
    clickhouseUrl,
    subscriptions: copied.map(({ subscriptionId }) => subscriptionId),
  })
  if (invoices > 0) {
    await copyCustomers(setup, {
      template,
      from: CUSTOMERS,
      to: CUSTOMERS + Math.ceil(invoices / INVOICES_OF_A_CUSTOMER),
    })
    await fillInvoices(setup.databaseUrl, { invoices, end: now })
  }
  const client = createClickHouse(clickhouseUrl, DATABASE)
  const isMixed = await fillAll(client, call, { tenant: setup.tenant, events, end: now })
  await client.close()

  const get = (path: string) => call('GET', path) as Promise<unknown> as Promise<{ data: { id: string }[] }>
  const [event] = (await get('events?limit=50')).data.slice(-1)
  const [invoice] = (await get('invoices?limit=1')).data
  const lists = eventLists({ now, cursor: event?.id ?? '', isMixed })
  const reads: Read[] = [
    { name: 'bare route: a row by id', path: `customers/${copied[1]?.customerId}`, bare: true, busy: true },
    { name: 'a customer by id', path: `customers/${copied[1]?.customerId}`, busy: true },
    { name: 'bare route: fifty rows', path: 'customers', bare: true, busy: true },
    { name: 'fifty customers', path: 'customers?limit=50', busy: true },
    {
      name: 'a customer created',
      path: 'customers',
      body: { type: 'ORGANIZATION', organization: { legal_name: 'A' } },
      busy: true,
    },
    { name: 'fifty invoices', path: 'invoices?limit=50', busy: true },
    ...Object.entries(lists).map(([name, path]) => ({ name, path, times: LISTS })),
    { name: 'an event by id', path: `events/${event?.id}` },
    { name: 'an event traced', path: `events/${event?.id}/event_trace` },
    { name: 'ingestion of an hour', path: 'usage/ingestion', times: FEW },
    { name: 'an invoice as PDF', path: `invoices/${invoice?.id}/pdf`, times: FEW },
    ...(invoices > 0 ? invoiceReads({ invoices, end: now, customerId: copied[1]?.customerId ?? '' }) : []),
  ]
  const wanted = process.argv[3] ?? ''
  for (const read of reads.filter(each => each.name.includes(wanted))) await measure(read, { api, bare, port })
} finally {
  for (const each of running.reverse()) await each.stop()
  await setup.stop()
}

async function measure(read: Read, of: Processes): Promise<void> {
  const { name, path, bare: isBare, body, times = READS, busy } = read
  const port = isBare ? of.bare.port : of.port
  const headers = { 'x-api-key': setup.apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const send = async (): Promise<void> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`http://127.0.0.1:${port}/${isBare ? '' : 'v1/'}${path}`, { headers, ...init })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${text.slice(0, 300)}`)
  }
  await report(name, { of, times, send, atOnce: 1 })
  if (!busy) return
  // A plain client, whose answers nobody compresses.
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: AT_ONCE })
  const sendPlain = async (): Promise<void> => {
    const init =
      body === undefined ? { method: 'GET' as const } : { method: 'POST' as const, body: JSON.stringify(body) }
    const answer = await pool.request({ path: `/${isBare ? '' : 'v1/'}${path}`, headers, ...init })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${name}: ${answer.statusCode} ${text.slice(0, 300)}`)
  }
  await report(`${name}, ${AT_ONCE} at once`, { of, times: BUSY_READS, send: sendPlain, atOnce: AT_ONCE })
  await pool.close()
}

/** Prints what one of them costs, after as many that do not count. */
async function report(
  name: string,
  work: {
    readonly of: Processes
    readonly times: number
    readonly send: () => Promise<void>
    readonly atOnce: number
  },
): Promise<void> {
  const { of, times, send, atOnce } = work
  const sendAll = async (): Promise<void> => {
    let left = times
    const one = async (): Promise<void> => {
      for (; left > 0; ) {
        left -= 1
        await send()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, one))
  }
  await sendAll()
  const count = countTrees({ ...setup.pids, api: of.api.pid, bare: of.bare.pid })
  await sendAll()
  const costs = Object.entries(count(times)).filter(([, ms]) => ms >= 0.05)
  const total = costs.reduce((sum, [, ms]) => sum + ms, 0)
  console.log(`${name}: ${total.toFixed(2)} ms (${costs.map(([each, ms]) => `${each} ${ms.toFixed(2)}`).join(', ')})`)
}
