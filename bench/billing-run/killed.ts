// node dist/bench/billing-run/killed.js [customers [kills]]: everything that `npm start` runs is killed with -9 in the middle of a billing
// run, again and again, PostgreSQL, ClickHouse and the broker with it. Then another platform with the same customers and usage is billed
// undisturbed, and both must have the same invoices, each once, with numbers without a gap. Exits with 1 where they differ.
import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { type Installation, installationIn, type Platform } from './installation.ts'
import {
  caller,
  copyCustomers,
  customerReference,
  KINDS,
  METERS,
  makeTemplate,
  meterReference,
  PROPERTY,
} from './platform.ts'

const CUSTOMERS = 300
const KILLS = 5
/** Of a customer and meter in the month that is billed, and in the month that runs. */
const EVENTS = 18
const EVENTS_NOW = 4
const APART_MS = 30 * 3_600_000
const BATCH = 50
const AT_ONCE = 16
const POLL_MS = 20
const KILL_WITHIN_MS = 150
/** How long nothing may happen. */
const SILENCE_MS = 120_000
const PORT_BASE = Number(process.env['PORT_BASE'] ?? 18_100)

const [customers = CUSTOMERS, kills = KILLS] = process.argv.slice(2).map(Number)
if (![customers, kills].every(value => Number.isSafeInteger(value) && value >= 0) || customers === 0)
  throw new Error('give whole numbers: of customers, and of kills')

const folder = mkdtempSync(join(tmpdir(), 'millrace-killed-'))
// PostgreSQL runs as another user when we are root, and must get through to its own folder.
chmodSync(folder, 0o711)
const installation = installationIn(resolve(import.meta.dirname, '../../..'), folder, PORT_BASE)
try {
  await installation.start()
  const [disturbed, undisturbed] = installation.platforms()
  if (!disturbed || !undisturbed) throw new Error('an installation has two platforms')
  const killed = await billed(installation, disturbed, kills)
  const whole = await billed(installation, undisturbed, 0)
  const faults = [
    ...faultsOf(killed),
    ...(isDeepStrictEqual(killed.amounts, whole.amounts) ? [] : ['other amounts than undisturbed']),
  ]
  console.log(
    `${customers} customers, killed ${kills} times: ${killed.amounts.length} invoices, ${killed.numbers.length} numbers, ${killed.notices} notices of new ones: ` +
      (faults.length === 0 ? 'the same as undisturbed' : faults.join(', ')),
  )
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  await installation.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** What stands in the end of the invoices of a platform. */
type Billed = {
  /** Of each: whose it is, its status, when its period starts, and its amount. */
  readonly amounts: readonly string[]
  readonly numbers: readonly number[]
  /** How often a new invoice was announced. */
  readonly notices: number
}

function faultsOf({ amounts, numbers, notices }: Billed): string[] {
  return [
    ...(amounts.length === customers * 2 ? [] : ['not two invoices for each customer']),
    ...(numbers.every((number, place) => place === 0 || number === (numbers[place - 1] ?? 0) + 1)
      ? []
      : ['a gap in the numbers']),
    ...(numbers.length === customers ? [] : ['not a number for each FINAL invoice']),
    ...(notices === amounts.length ? [] : ['not a notice for each invoice']),
  ]
}

/** Bills that many customers of `platform`, and kills all processes `times` times meanwhile. */
async function billed(on: Installation, platform: Platform, times: number): Promise<Billed> {
  const ids = await fill(on, platform)
  await ask(`update pricing_plan_subscriptions set next_billing_at = now() - interval '1 second' where id = any($1)`, [
    ids,
  ])
  await ask(`select graphile_worker.add_job('find-due-billing', job_key => 'find-due-billing')`)
  for (let kill = 1; kill <= times; kill += 1) {
    const before = await made(ids)
    const part = Math.ceil((customers * 2 - before) / (times - kill + 2))
    const at = await until(
      () => made(ids),
      count => count >= Math.min(customers * 2, before + randomInt(part) + 1),
    )
    await sleep(randomInt(KILL_WITHIN_MS))
    console.log(`kill ${kill}: ${on.kill()} processes, with ${at} of ${customers * 2} invoices`)
    await on.start()
  }
  await until(
    () => waiting(ids),
    count => count === 0,
  )
  const rows = await ask<{ text: string }>(
    `select concat_ws(' ', c.reference, i.status, i.period_start, i.amount_excluding_tax, i.billing_currency) as text
     from invoices i join customers c on c.platform_id = i.platform_id and c.environment = i.environment and c.id = i.customer_id
     where i.pricing_plan_subscription_id = any($1) order by text`,
    [ids],
  )
  const numbers = await ask<{ number: number }>(
    `select substring(invoice_number from '[0-9]+$')::int as number from invoices
     where pricing_plan_subscription_id = any($1) and invoice_number is not null order by number`,
    [ids],
  )
  const [announced] = await ask<{ count: number }>(
    `select count(*)::int as count from outbox where type = 'INVOICE.CREATED'
       and object_id in (select id from invoices where pricing_plan_subscription_id = any($1))`,
    [ids],
  )
  return {
    amounts: rows.map(({ text }) => text),
    numbers: numbers.map(({ number }) => number),
    notices: announced?.count ?? 0,
  }
}

/** Makes a plan and its customers, and sends their usage as events. Returns the ids of their subscriptions; none is due yet. */
async function fill(on: Installation, { id, apiKey }: Platform): Promise<string[]> {
  const call = caller(on.apiUrl, apiKey)
  const now = new Date()
  const monthAt = (ahead: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)
  // So that the invoice of the month before goes FINAL in the run that makes it.
  const none = { type: 'CUSTOM', configuration: { type: 'HOUR', value: 0 } }
  await call('PATCH', `platforms/${id}`, { invoice_settings: { invoice_grace_period: none } })
  const template = await makeTemplate(call, new Date(monthAt(-1)).toISOString())
  const copied = await copyCustomers({ databaseUrl: on.databaseUrl() }, { template, from: 0, to: customers })
  const events = copied.flatMap(({ number }) =>
    Array.from({ length: METERS * (EVENTS + EVENTS_NOW) }, (_, place) => {
      const meter = place % METERS
      const order = Math.floor(place / METERS)
      const start = order < EVENTS ? monthAt(-1) + order * APART_MS : monthAt(0) + (order - EVENTS) * 3_600_000
      return {
        reference: `run-${number}-${meter}-${order}`,
        meter_reference: meterReference(meter),
        customer_reference: customerReference(number),
        timestamp: new Date(start).toISOString(),
        meter_values: [
          { reference: 'units', number: String((number % 7) * 100 + order) },
          { reference: 'hits', number: '1' },
        ],
        meter_properties: [{ reference: PROPERTY, value: `kind-${order % KINDS}` }],
      }
    }),
  )
  const send = caller(on.ingestUrl, apiKey)
  for (let first = 0; first < events.length; first += BATCH * AT_ONCE) {
    const batches = Array.from({ length: AT_ONCE }, (_, place) =>
      events.slice(first + place * BATCH, first + (place + 1) * BATCH),
    )
    await Promise.all(
      batches
        .filter(({ length }) => length > 0)
        .map(batch => send('POST', 'events/ingest-list', { meter_datas: batch })),
    )
  }
  return copied.map(({ subscriptionId }) => subscriptionId)
}

async function ask<T extends object>(text: string, values: readonly unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: installation.databaseUrl() })
  await client.connect()
  try {
    return (await client.query<T>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

/** How many of their invoices there are. */
async function made(ids: readonly string[]): Promise<number> {
  const text = 'select count(*)::int as count from invoices where pricing_plan_subscription_id = any($1)'
  return (await ask<{ count: number }>(text, [ids]))[0]?.count ?? 0
}

/** How much of the run is still to be done: subscriptions to bill, and notices to relay. */
async function waiting(ids: readonly string[]): Promise<number> {
  const text = `select ((select count(*) from pricing_plan_subscriptions where id = any($1) and next_billing_at <= now())
    + (select count(*) from outbox where position is null))::int as count`
  return (await ask<{ count: number }>(text, [ids]))[0]?.count ?? 0
}

/** Asks until the answer is enough, and returns it. Throws when it stays the same for too long. */
async function until(question: () => Promise<number>, isEnough: (count: number) => boolean): Promise<number> {
  let last = await question()
  let changedAt = performance.now()
  for (;;) {
    if (isEnough(last)) return last
    await sleep(POLL_MS)
    const now = await question()
    if (now !== last) changedAt = performance.now()
    if (performance.now() - changedAt > SILENCE_MS) throw new Error(`nothing happened for ${SILENCE_MS / 1000} s`)
    last = now
  }
}
