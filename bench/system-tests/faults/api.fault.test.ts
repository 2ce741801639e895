// The api and the worker, killed with -9 on either side of a commit: a change is there whole, once, or not at all.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../../../api/modules/webhooks/testing/receiver.ts'
import { type Client, createClient, listAll } from '../../../infra/demo/client.ts'
import { createPlatform } from '../../../shared/access/create-platform.ts'
import { insertMeter } from '../../setup.ts'
import { createSender, type Sender } from '../../system/client.ts'
import { createLedger } from '../../system/ledger.ts'
import { randomEvent } from '../../system/load.ts'
import { randomFrom } from '../../system/random.ts'
import { type System, startSystem } from '../../system/start-system.ts'
import { createCatalog } from '../trace/catalog.ts'
import { createGranting, grantedTo } from './granting.ts'
import { type CountingEngine, startEngine, waitingInvoice } from './tax-engine.ts'

let system: System
let engine: CountingEngine
let apiKey: string
let client: Client
let sender: Sender
/** Of the database, past every process. */
let owner: pg.Client
/** Of a platform whose catalog is the trace's. */
let billed: Client
beforeAll(async () => {
  engine = await startEngine()
  system = await startSystem({
    processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'],
    env: { OUTBOUND_NETWORKS: '127.0.0.0/8', TAX_ENGINE_URL: engine.url },
  })
  apiKey = system.platforms[0].environments.LIVE.api_key
  client = createClient(system.baseUrl, apiKey)
  await insertMeter(system.databaseUrl, system.platforms[0].id)
  sender = createSender({ url: system.ingestUrl, apiKey, ledger: createLedger() })
  owner = new pg.Client({ connectionString: system.databaseUrl })
  await owner.connect()
})
afterAll(async () => {
  await owner?.end()
  await sender?.close()
  await system?.stop()
  engine?.close()
})

const send = (body: object, key: string) =>
  fetch(`${system.baseUrl}/v1/customers`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  })

/** Has the worker do now what the crontab has it do every minute. */
const queueJob = (name: string) => owner.query('select graphile_worker.add_job($1, job_key => $1)', [name])

/** Until a process is dead, sends it what it dies of. A process that only starts takes no request yet. */
async function callUntil(dead: Promise<void>, call: () => Promise<unknown>): Promise<void> {
  let over = false
  const settled = dead.finally(() => {
    over = true
  })
  // What it was to die of may end it otherwise, which the last line says.
  settled.catch(() => undefined)
  while (!over) {
    await call().catch(() => undefined)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  await settled
}

type Sent = { readonly reference: string; readonly key: string }
const bodyOf = ({ reference }: Sent) => ({ reference, type: 'ORGANIZATION', status: 'ACTIVE' })

/** Creates customers until `dead` settles, and gives the first whose request was cut off: the one that met the failpoint. */
async function sendUntil(dead: Promise<void>): Promise<Sent> {
  let cutOff: Sent | null = null
  await callUntil(dead, async () => {
    const sent = { reference: `fault-${randomUUID()}`, key: randomUUID() }
    await send(bodyOf(sent), sent.key).catch(error => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
      if (!cause.includes('ECONNREFUSED')) cutOff ??= sent
    })
  })
  return cutOff ?? expect.fail('no request was cut off')
}

const events = async (reference: string): Promise<number> =>
  (await listAll(client, '/v1/audit-records?limit=100')).filter(record => String(record['message']).includes(reference))
    .length

test.each([
  ['api.before-commit', false],
  ['api.after-commit', true],
])('killed at %s: the change is there: %s, and the same key leads to one', async (point, isThere) => {
  const sent = await sendUntil(system.dieAt('api', point))
  await system.restart('api')
  expect((await client.find(`/v1/customers/${sent.reference}`)) !== null).toBe(isThere)
  const repeated = await send(bodyOf(sent), sent.key)
  expect(repeated.status).toBe(201)
  expect(repeated.headers.get('idempotent-replayed')).toBe(isThere ? 'true' : null)
  const { id } = (await repeated.json()) as { id: string }
  expect((await listAll(client, `/v1/customers?reference=${sent.reference}`)).map(row => row.id)).toEqual([id])
  await expect.poll(() => events(id)).toBe(1)
})

/** What the accounts and reservations of a wallet come to, past every process. */
async function ledgerOf(walletId: string): Promise<Record<string, string>> {
  const { rows } = await owner.query(
    `select a.open::float8, a.reserved::float8,
       (select coalesce(sum(quantity), 0)::float8 from wallet_reservations where wallet_id = $1 and status = 'ACTIVE') as held,
       (select count(*)::int from wallet_reservations where wallet_id = $1) as count,
       a.funding + a.open + a.reserved + a.spent + a.expired + a.reverted = 0 as sums_to_zero,
       (select coalesce(sum(case when credit_account = 'RESERVED' then quantity when debit_account = 'RESERVED' then -quantity end), 0)
          from wallet_entries where wallet_id = $1) = a.reserved as entries_agree
     from wallet_grant_accounts a where a.wallet_id = $1`,
    [walletId],
  )
  return rows[0]
}

/** Kills the api while the database works on a reservation: one that waits for the row of the wallet. */
async function killWhileReserving(walletId: string, reserveAll: () => Promise<unknown>): Promise<void> {
  const holder = new pg.Client({ connectionString: system.databaseUrl })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select from wallets where id = $1 for update', [walletId])
    const answered = reserveAll()
    const running = async () => {
      const { rows } = await owner.query<{ waits: boolean }>(
        `select coalesce(wait_event_type = 'Lock', false) as waits from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%reserve_in_wallets%'`,
      )
      return rows
    }
    await expect.poll(running, { timeout: 20_000 }).toContainEqual({ waits: true })
    await system.kill('api')
    await answered
    await holder.query('rollback')
    // The database may have the whole of it done before it finds that nobody waits for the answer.
    await expect.poll(running, { timeout: 20_000 }).toEqual([])
  } finally {
    await holder.end()
  }
}

test.each([
  ['while the database reserves', killWhileReserving],
  [
    'when it has reserved',
    async (_wallet: string, reserveAll: () => Promise<unknown>) => {
      await callUntil(system.dieAt('api', 'reservations.after-commit'), reserveAll)
    },
  ],
])('a hundred clients on one wallet, killed %s: never overdrawn, each reference once', async (when, kill) => {
  const funded = 60
  const name = `fault-${randomUUID()}`
  const { id: creditType } = await client.post('/v1/credit-types', {
    reference: name,
    name,
    status: 'ACTIVE',
    unit_name: { singular: 'credit', plural: 'credits' },
  })
  const { id: walletType } = await client.post('/v1/wallet-types', {
    reference: name,
    name,
    status: 'ACTIVE',
    type: 'CREDIT',
    credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id: creditType } },
  })
  const { id: customer } = await client.post('/v1/customers', bodyOf({ reference: name, key: '' }))
  const { id: wallet } = await client.post('/v1/wallets', {
    reference: name,
    status: 'ACTIVE',
    wallet_type_id: walletType,
    customer_id: customer,
  })
  const { id: billingEntity } = await client.post('/v1/billing-entities', {
    reference: name,
    legal_name: name,
    registered_address: { line1: 'Keizersgracht 1', postal_code: '1015 CJ', city: 'Amsterdam', country: 'NL' },
  })
  await client.post('/v1/wallet-grants', {
    customer_id: customer,
    billing_entity_id: billingEntity,
    wallet_id: wallet,
    grant_credits: { quantity: String(funded), credit_type_id: creditType },
  })
  const reserve = async (index: number): Promise<number> => {
    const answer = await fetch(`${system.baseUrl}/v1/wallets/${wallet}/reservations`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ reference: `r${index}`, credits: { quantity: '1', credit_type_id: creditType } }),
    }).catch(() => null)
    return answer?.status ?? 0
  }
  const clients = Array.from({ length: 100 }, (_, index) => index)
  await kill(String(wallet), () => Promise.all(clients.map(reserve)))
  const left = await ledgerOf(wallet)
  // Answered or not: what was committed is there whole, and what was not has left nothing.
  expect(left).toMatchObject({ held: left['reserved'], sums_to_zero: true, entries_agree: true })
  if (when === 'when it has reserved') expect(Number(left['count'])).toBeGreaterThan(0)
  await system.restart('api')
  const answers = await Promise.all(clients.map(reserve))
  expect(answers.filter(status => status === 201)).toHaveLength(funded)
  expect(answers.filter(status => status === 409)).toHaveLength(100 - funded)
  // Sent once more, each is answered as before.
  expect(await Promise.all(clients.map(reserve))).toEqual(answers)
  expect(await ledgerOf(wallet)).toEqual({
    open: 0,
    reserved: funded,
    held: funded,
    count: funded,
    sums_to_zero: true,
    entries_agree: true,
  })
})

test('the deletion of an event, killed at each of its steps and not called again, is finished by the worker, once', async () => {
  const points = ['action.after-begin', 'action.after-act', 'action.before-settled']
  const deletions = points.map(point => ({ point, reference: `fault-${randomUUID()}`, key: randomUUID() }))
  const remove = ({ reference, key }: { reference: string; key: string }) =>
    fetch(`${system.baseUrl}/v1/events/${reference}/delete`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'idempotency-key': key },
    })
  const read = (reference: string) => client.find(`/v1/events/${reference}`)
  await sender.send(deletions.map(({ reference }) => randomEvent(randomFrom(1), reference)))
  for (const { reference } of deletions) await expect.poll(() => read(reference)).toMatchObject({ deleted: false })
  for (const deletion of deletions) await callUntil(system.dieAt('api', deletion.point), () => remove(deletion))
  await system.restart('api')
  // As if their leases, of half a minute, were over.
  await owner.query(`update action_intents set leased_until = now() - interval '1 second'`)
  await queueJob('find-unfinished-actions')
  for (const { point, reference, key } of deletions) {
    const { id } = (await read(reference)) ?? expect.fail(`${reference} is gone`)
    await expect.poll(() => events(String(id)), { message: point, interval: 500 }).toBe(1)
    expect(await read(reference), point).toMatchObject({ deleted: true })
    const repeated = await remove({ reference, key })
    expect([repeated.status, repeated.headers.get('idempotent-replayed')], point).toEqual([200, 'true'])
    expect(await events(String(id)), point).toBe(1)
  }
})

/** DRAFT one-off invoices of 10.00 of a new customer. */
async function oneOffs(count: number): Promise<string[]> {
  const name = `fault-${randomUUID()}`
  const address = { line1: 'Keizersgracht 1', postal_code: '1015 CJ', city: 'Amsterdam', country: 'NL' }
  const entity = { reference: name, legal_name: name, registered_address: address }
  const { id: billing_entity_id } = await client.post('/v1/billing-entities', entity)
  const organization = { legal_name: name, registered_address: address }
  const { id: customer_id } = await client.post('/v1/customers', {
    ...bodyOf({ reference: name, key: '' }),
    organization,
  })
  const line = {
    pricing_name: 'Work',
    pricing_type: 'FIXED',
    pricing_band: { amount: { quantity: '10', currency: 'EUR' } },
  }
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const { id } = await client.post('/v1/invoices', { customer_id, billing_entity_id, lines: [line] })
      return String(id)
    }),
  )
}

const finalize = (id: string) =>
  fetch(`${system.baseUrl}/v1/invoices/${id}`, {
    method: 'PATCH',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{"status":"FINAL"}',
  })
const isRow = (numbers: readonly number[]): boolean =>
  numbers.toSorted((a, b) => a - b).every((each, place, all) => each === (all[0] ?? 0) + place)

test('PATCH status FINAL killed at each of its steps: FINAL with its number or a DRAFT without one, and no number lost or given twice', async () => {
  const points = ['invoices.before-numbers', 'invoices.before-commit', 'invoices.after-commit'] as const
  const ids = await oneOffs(points.length)
  const stored = async (of: readonly string[]): Promise<{ status: string; number: string | null }[]> =>
    (await owner.query('select status, invoice_number as number from invoices where id = any($1) order by id', [of]))
      .rows
  for (const [place, point] of points.entries()) {
    const id = ids[place] ?? ''
    await callUntil(system.dieAt('api', point), () => finalize(id))
    const [left] = await stored([id])
    const isIssued = point === 'invoices.after-commit'
    expect(left, point).toEqual({
      status: isIssued ? 'FINAL' : 'DRAFT',
      number: isIssued ? expect.any(String) : null,
    })
  }
  await system.restart('api')
  const again = await Promise.all([...ids, ...ids].map(finalize))
  expect(again.map(({ status }) => status)).toEqual([...ids, ...ids].map(() => 200))
  const counters = (await stored(ids)).map(({ number }) => Number(String(number).slice(-5)))
  expect(counters.toSorted((a, b) => a - b)).toEqual([1, 2, 3])
})

test('credit_and_copy killed on either side of its commit: a credit note and a copy with their numbers, once or not at all', async () => {
  const points = ['api.before-commit', 'api.after-commit'] as const
  const ids = await oneOffs(points.length)
  for (const id of ids) expect((await finalize(id)).status).toBe(200)
  const body = { update_credit_invoice_to_final: true, update_new_invoice_to_final: true }
  const creditAndCopy = (id: string) =>
    fetch(`${system.baseUrl}/v1/invoices/${id}/credit_and_copy`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': `copy ${id}` },
      body: JSON.stringify(body),
    })
  const madeOf = async (id: string): Promise<{ type: string; status: string; number: string; total: string }[]> =>
    (
      await owner.query(
        `select type, status, invoice_number as number, amount_including_tax::text as total from invoices
         where original_invoice_id = $1 order by type desc`,
        [id],
      )
    ).rows
  const both = [
    { type: 'ONE_OFF_CREDIT', status: 'FINAL', number: expect.any(String), total: expect.stringMatching(/^-12\.1/) },
    { type: 'ONE_OFF', status: 'FINAL', number: expect.any(String), total: expect.stringMatching(/^12\.1/) },
  ]
  for (const [place, point] of points.entries()) {
    const id = ids[place] ?? ''
    await callUntil(system.dieAt('api', point), () => creditAndCopy(id))
    expect(await madeOf(id), point).toEqual(point === 'api.after-commit' ? both : [])
  }
  await system.restart('api')
  const again = await Promise.all([...ids, ...ids].map(creditAndCopy))
  expect(again.filter(({ status }) => status !== 200 && status !== 422)).toEqual([])
  const made = (await Promise.all(ids.map(madeOf))).flat()
  expect(made).toHaveLength(2 * ids.length)
  for (const { type } of both)
    expect(isRow(made.filter(each => each.type === type).map(({ number }) => Number(number.slice(-5)))), type).toBe(
      true,
    )
})

test('init with a first payment killed at each of its steps: all of it once or nothing of it, and the same key leads to one', async () => {
  const { environments } = await createPlatform(system.databaseUrl, 'Paid first')
  const apiKey = environments.TEST.api_key
  const shop = createClient(system.baseUrl, apiKey)
  await createCatalog(shop)
  const { id } = await createGranting(shop, `granting-${randomUUID()}`)
  const sold = (await shop.find(`/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}`)) ?? { data: [] }
  const { pricing_plan_version_id } = (sold['data'] as { pricing_plan_version_id: string }[])[0] ?? {}
  const { id: billing_entity_id } = (await shop.find('/v1/billing-entities/trace-entity')) ?? {}
  const init = (reference: string) =>
    fetch(`${system.baseUrl}/v1/pricing-plan-subscriptions/init`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': reference },
      body: JSON.stringify({
        customer: bodyOf({ reference, key: '' }),
        pricing_plan_subscription: { reference, billing_entity_id, billing_currency: 'EUR', status: 'ACTIVE' },
        pricing_plan_schedules: [{ pricing_plan_version_id }],
        first_payment: { amount: { quantity: '30', currency: 'EUR' }, external_reference: reference },
      }),
    })
  const made = async (reference: string): Promise<number[]> => {
    const { rows } = await owner.query(
      `select (select count(*)::int from customers where reference = $1) as customers,
         (select count(*)::int from pricing_plan_subscriptions where reference = $1) as subscriptions,
         (select count(*)::int from invoices i join customers c on c.id = i.customer_id where c.reference = $1 and i.status = 'FINAL') as invoices,
         (select count(*)::int from payments where external_reference = $1) as payments,
         (select count(*)::int from wallet_grants g join customers c on c.id = g.customer_id where c.reference = $1) as grants`,
      [reference],
    )
    return Object.values(rows[0])
  }
  const whole = [1, 1, 1, 1, 1]
  const points = ['init.before-invoice', 'init.before-payment', 'api.before-commit', 'api.after-commit']
  const sent = points.map(point => ({ point, reference: `first-${randomUUID()}` }))
  for (const { point, reference } of sent) {
    await callUntil(system.dieAt('api', point), () => init(reference))
    expect(await made(reference), point).toEqual(point === 'api.after-commit' ? whole : [0, 0, 0, 0, 0])
  }
  await system.restart('api')
  const numbers: number[] = []
  for (const { point, reference } of sent) {
    const [first, second] = [await init(reference), await init(reference)]
    const answer = (await first.json()) as { invoice: { invoice_number: string; status: string } }
    expect([first.status, second.status, answer.invoice.status], point).toEqual([200, 200, 'FINAL'])
    expect(first.headers.get('idempotent-replayed'), point).toBe(point === 'api.after-commit' ? 'true' : null)
    expect(await second.json(), point).toEqual(answer)
    expect(await made(reference), point).toEqual(whole)
    numbers.push(Number(answer.invoice.invoice_number.slice(-5)))
  }
  expect(numbers.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
})

/** As if the claims that a dead worker left, of a minute, were over. */
async function endClaims(): Promise<void> {
  await owner.query(`update pricing_plan_subscriptions set billing_claimed_until = now() - interval '1 second'
    where billing_claimed_until is not null`)
  await queueJob('find-due-billing')
}

type Taxed = { readonly tax_summary: { readonly tax_amount: { readonly quantity: string } } }

test.each([
  ['tax-engine.after-ask', 'again'],
  ['tax-engine.after-answer', 'no more'],
])('the worker killed at %s: the tax engine is asked %s, and the invoice has its tax once', async (point, how) => {
  const { id, customerId } = await waitingInvoice(client, `taxed-${point}-${randomUUID()}`)
  const tax = async () => ((await client.get(`/v1/invoices/${id}`)) as Taxed).tax_summary.tax_amount.quantity
  expect(await tax()).toBe('0.00')
  const dead = system.dieAt('worker', point)
  await callUntil(dead, () => queueJob('find-tax-questions'))
  const stored = async () =>
    (await owner.query('select answer is not null as there from tax_answers where customer_id = $1', [customerId])).rows
  expect(await stored()).toEqual([{ there: how === 'no more' }])
  expect(await tax()).toBe('0.00')
  // Once, or twice where two jobs of the tenant were at work when the worker died.
  const before = engine.asked(customerId)
  expect(before).toBeGreaterThan(0)
  await system.restart('worker')
  await queueJob('find-tax-questions')
  await expect.poll(tax, { timeout: 60_000, interval: 250 }).toBe('29.95')
  const asked = engine.asked(customerId)
  if (how === 'again') expect(asked).toBeGreaterThan(before)
  else expect(asked).toBe(before)
  expect(await stored()).toEqual([{ there: true }])
  const { rows: notices } = await owner.query('select type from outbox where object_id = $1', [id])
  expect(notices.map(({ type }) => String(type)).sort()).toEqual(['INVOICE.CREATED', 'INVOICE.UPDATED'])
  const issued = await client.patch(`/v1/invoices/${id}`, { status: 'FINAL' })
  expect(issued['status']).toBe('FINAL')
  expect(await client.post(`/v1/invoices/${id}/verify`, {})).toMatchObject({ identical: true })
  expect(engine.asked(customerId)).toBe(asked)
})

test('the billing run killed between invoices goes on elsewhere and leaves each invoice once', async () => {
  const { environments } = await createPlatform(system.databaseUrl, 'Billed')
  billed = createClient(system.baseUrl, environments.LIVE.api_key)
  const subscriptions = await createCatalog(billed)
  const dead = system.dieAt('worker', 'billing.before-invoice')
  for (const { id } of subscriptions.values()) {
    await billed.patch(`/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  }
  await dead
  await endClaims()
  await system.restart('worker')
  const owners = async () =>
    (await listAll(billed, '/v1/invoices?limit=100')).map(row => (row['pricing_plan_subscription_ids'] as string[])[0])
  const expected = [...subscriptions.values()].map(({ id }) => id).toSorted()
  await expect.poll(async () => (await owners()).toSorted(), { timeout: 140_000, interval: 500 }).toEqual(expected)
})

test('a group of a billing run killed between its steps goes on elsewhere: each period once, with numbers that follow each other', async () => {
  const platform = await createPlatform(system.databaseUrl, 'Billed by groups')
  const tester = createClient(system.baseUrl, platform.environments.TEST.api_key)
  // So that what has ended becomes FINAL in the run that makes it, and takes its number.
  await tester.patch(`/v1/platforms/${platform.id}`, {
    invoice_settings: { invoice_grace_period: { type: 'CUSTOM', configuration: { type: 'HOUR', value: 0 } } },
  })
  const subscriptions = await createCatalog(tester)
  const granting = `granting-${randomUUID()}`
  const { id: grantingId } = await createGranting(tester, granting)
  const ids = [...[...subscriptions.values()].map(({ id }) => id), grantingId].toSorted()
  /** All of them due for a group, what a dead one held let go. */
  const due = async () => {
    await owner.query(
      `update pricing_plan_subscriptions set next_billing_at = now() - interval '1 second', billing_claimed_until = null where id = any($1)`,
      [ids],
    )
    await queueJob('find-due-billing')
  }
  const numbers = async (): Promise<string[]> =>
    (await listAll(tester, '/v1/invoices?limit=100'))
      .flatMap(({ invoice_number: text }) => (text === null ? [] : [String(text)]))
      .toSorted()
  const points = [
    'billing.after-claim',
    'billing.before-invoice',
    'invoices.before-numbers',
    'invoices.before-commit',
    'billing.after-commit',
  ]
  await system.kill('worker')
  for (const id of ids) await tester.patch(`/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  // As if long relayed: else each would be billed by itself, and no group would find them.
  await owner.query(
    `update outbox set position = nextval('outbox_positions') where position is null and platform_id = $1 and environment = 'TEST'`,
    [platform.id],
  )
  for (const point of points) {
    expect(await numbers()).toEqual([])
    await due()
    await system.dieAt('worker', point)
  }
  // What was saved stands.
  expect((await numbers()).length).toBeGreaterThan(0)
  await endClaims()
  await system.restart('worker')
  const waiting = () =>
    owner.query('select from pricing_plan_subscriptions where id = any($1) and next_billing_at <= now()', [ids])
  await expect.poll(async () => (await waiting()).rowCount, { timeout: 140_000, interval: 500 }).toBe(0)
  // Its fee granted once in each of its months, wherever the worker died.
  const granted = await grantedTo(tester, owner, granting)
  expect(granted.addsUp).toBe(true)
  expect(granted.starts.length).toBeGreaterThanOrEqual(3)
  expect(new Set(granted.starts).size).toBe(granted.starts.length)
  // What is charged at the start is of the same period as the invoice at its end, and of another date.
  const periods = (await listAll(tester, '/v1/invoices?limit=100')).map(
    row => `${(row['pricing_plan_subscription_ids'] as string[])[0]} ${row['period_start']} ${row['invoice_date']}`,
  )
  expect(new Set(periods).size).toBe(periods.length)
  expect([...new Set(periods.map(period => period.split(' ')[0]))].toSorted()).toEqual(ids)
  const given = await numbers()
  // Each year has numbers of its own, which end in five digits.
  for (const year of new Set(given.map(text => text.slice(0, -5)))) {
    const own = given.filter(text => text.slice(0, -5) === year).map(text => Number(text.slice(-5)))
    expect(own).toEqual(own.map((_, place) => place + 1))
  }
}, 400_000)

test('a reprocess killed between invoices is taken up again and ends', async () => {
  const dead = system.dieAt('worker', 'reprocess.after-item')
  const { id } = await billed.post('/v1/reprocess', { type: 'NOT_MATCHED' })
  await dead
  const read = async () => await billed.find(`/v1/reprocess/${id}`)
  expect(await read()).toMatchObject({ status: 'IN_PROGRESS' })
  // As if it had been silent for the half minute after which it is missed.
  await owner.query(
    `update reprocesses set updated_at = now() - interval '1 minute', scheduled_at = now() - interval '1 minute'
    where id = $1`,
    [id],
  )
  await queueJob('find-lost-reprocesses')
  await system.restart('worker')
  await expect
    .poll(read, { timeout: 150_000, interval: 500 })
    .toMatchObject({ status: 'DONE', percentage: 100, message: null })
})

test.each([
  ['webhooks.before-record', true],
  ['webhooks.after-record', false],
])(
  'the sender of webhooks killed at %s: repeats with the same id: %s; order is kept and nothing missing',
  async (point, repeats) => {
    const receiver = await startReceiver()
    try {
      const webhook = { name: 'Fault', url: receiver.urlOf('/'), included_actions: ['CUSTOMER.CREATED'] }
      await client.post('/v1/webhooks', { reference: `fault-${randomUUID()}`, ...webhook })
      const made: string[] = []
      const make = async () => {
        const reference = `fault-${randomUUID()}`
        expect((await send(bodyOf({ reference, key: '' }), randomUUID())).status).toBe(201)
        made.push(reference)
      }
      const dead = system.dieAt('worker', point)
      for (let each = 0; each < 3; each += 1) await make()
      await dead
      for (let each = 0; each < 3; each += 1) await make()
      await system.restart('worker')
      // The lease of the dead ends after a minute; here at once.
      await owner.query(`update webhook_queues set leased_until = '-infinity'`)
      const got = () =>
        receiver.received.map(({ headers, body }) => ({
          id: String(headers['x-event-id']),
          nth: made.indexOf(JSON.parse(body).data.reference),
        }))
      await expect.poll(() => got().some(({ nth }) => nth === made.length - 1)).toBe(true)
      let highest = -1
      for (const { nth } of got()) {
        // The next one, or one that was sent before.
        expect(nth).toBeLessThanOrEqual(highest + 1)
        highest = Math.max(highest, nth)
      }
      expect(new Set(got().map(({ id }) => id)).size).toBe(made.length)
      expect(new Set(got().map(({ id, nth }) => `${id} ${nth}`)).size).toBe(made.length)
      expect(got().length > made.length).toBe(repeats)
    } finally {
      await owner.query('delete from webhooks')
      await receiver.close()
    }
  },
)

test('what was queued by hand above is queued by the crontab every minute', async () => {
  const minutely = ['find-due-billing', 'find-lost-reprocesses', 'find-unfinished-actions']
  const queued = async () =>
    (
      await owner.query(
        'select identifier from graphile_worker._private_known_crontabs where last_execution is not null and identifier = any($1) order by 1',
        [minutely],
      )
    ).rows.map(({ identifier }) => identifier)
  await expect.poll(queued, { timeout: 150_000, interval: 500 }).toEqual(minutely)
})
