// The api and the worker, killed with -9 on either side of a commit: a change is there whole, once, or not at all.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, listAll } from '../../../infra/demo/client.ts'
import { createPlatform } from '../../../shared/access/create-platform.ts'
import { randomEvent } from '../../system/load.ts'
import { randomFrom } from '../../system/random.ts'
import { createCatalog } from '../trace/catalog.ts'
import { type ApiRig, bodyOf, callUntil, openApiRig, type Sent } from './api-rig.ts'
import { createGranting } from './granting.ts'
import { testKillsOfWorker } from './worker-kills.ts'

let rig: ApiRig
beforeAll(async () => {
  rig = await openApiRig()
})
afterAll(() => rig?.close())

/** Creates customers until `dead` settles, and gives the first whose request was cut off: the one that met the failpoint. */
async function sendUntil(dead: Promise<void>): Promise<Sent> {
  let cutOff: Sent | null = null
  await callUntil(dead, async () => {
    const sent = { reference: `fault-${randomUUID()}`, key: randomUUID() }
    await rig.send(bodyOf(sent), sent.key).catch(error => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
      if (!cause.includes('ECONNREFUSED')) cutOff ??= sent
    })
  })
  return cutOff ?? expect.fail('no request was cut off')
}

const events = async (id: string): Promise<number> =>
  (await listAll(rig.client, `/v1/audit-records?target_id=${id}&limit=100`)).length

test.each([
  ['api.before-commit', false],
  ['api.after-commit', true],
])('killed at %s: the change is there: %s, and the same key leads to one', async (point, isThere) => {
  const sent = await sendUntil(rig.system.dieAt('api', point))
  await rig.system.restart('api')
  expect((await rig.client.find(`/v1/customers/${sent.reference}`)) !== null).toBe(isThere)
  const repeated = await rig.send(bodyOf(sent), sent.key)
  expect(repeated.status).toBe(201)
  expect(repeated.headers.get('idempotent-replayed')).toBe(isThere ? 'true' : null)
  const { id } = (await repeated.json()) as { id: string }
  expect((await listAll(rig.client, `/v1/customers?reference=${sent.reference}`)).map(row => row.id)).toEqual([id])
  await expect.poll(() => events(id)).toBe(1)
})

/** What the accounts and reservations of a wallet come to, past every process. */
async function ledgerOf(walletId: string): Promise<Record<string, string>> {
  const { rows } = await rig.owner.query(
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
  const holder = new pg.Client({ connectionString: rig.system.databaseUrl })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select from wallets where id = $1 for update', [walletId])
    const answered = reserveAll()
    const running = async () => {
      const { rows } = await rig.owner.query<{ waits: boolean }>(
        `select coalesce(wait_event_type = 'Lock', false) as waits from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%reserve_in_wallets%'`,
      )
      return rows
    }
    await expect.poll(running, { timeout: 20_000 }).toContainEqual({ waits: true })
    await rig.system.kill('api')
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
      await callUntil(rig.system.dieAt('api', 'reservations.after-commit'), reserveAll)
    },
  ],
])('a hundred clients on one wallet, killed %s: never overdrawn, each reference once', async (when, kill) => {
  const funded = 60
  const name = `fault-${randomUUID()}`
  const { id: creditType } = await rig.client.post('/v1/credit-types', {
    reference: name,
    name,
    status: 'ACTIVE',
    unit_name: { singular: 'credit', plural: 'credits' },
  })
  const { id: walletType } = await rig.client.post('/v1/wallet-types', {
    reference: name,
    name,
    status: 'ACTIVE',
    type: 'CREDIT',
    credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id: creditType } },
  })
  const { id: customer } = await rig.client.post('/v1/customers', bodyOf({ reference: name, key: '' }))
  const { id: wallet } = await rig.client.post('/v1/wallets', {
    reference: name,
    status: 'ACTIVE',
    wallet_type_id: walletType,
    customer_id: customer,
  })
  const { id: billingEntity } = await rig.client.post('/v1/billing-entities', {
    reference: name,
    legal_name: name,
    registered_address: { line1: 'Keizersgracht 1', postal_code: '1015 CJ', city: 'Amsterdam', country: 'NL' },
  })
  await rig.client.post('/v1/wallet-grants', {
    customer_id: customer,
    billing_entity_id: billingEntity,
    wallet_id: wallet,
    grant_credits: { quantity: String(funded), credit_type_id: creditType },
  })
  const reserve = async (index: number): Promise<number> => {
    const answer = await fetch(`${rig.system.baseUrl}/v1/wallets/${wallet}/reservations`, {
      method: 'POST',
      headers: { 'x-api-key': rig.apiKey, 'content-type': 'application/json' },
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
  await rig.system.restart('api')
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
    fetch(`${rig.system.baseUrl}/v1/events/${reference}/delete`, {
      method: 'POST',
      headers: { 'x-api-key': rig.apiKey, 'idempotency-key': key },
    })
  const read = (reference: string) => rig.client.find(`/v1/events/${reference}`)
  await rig.sender.send(deletions.map(({ reference }) => randomEvent(randomFrom(1), reference)))
  for (const { reference } of deletions) await expect.poll(() => read(reference)).toMatchObject({ deleted: false })
  for (const deletion of deletions) await callUntil(rig.system.dieAt('api', deletion.point), () => remove(deletion))
  await rig.system.restart('api')
  // As if their leases, of half a minute, were over.
  await rig.owner.query(`update action_intents set leased_until = now() - interval '1 second'`)
  await rig.queueJob('find-unfinished-actions')
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
  const { id: billing_entity_id } = await rig.client.post('/v1/billing-entities', entity)
  const organization = { legal_name: name, registered_address: address }
  const { id: customer_id } = await rig.client.post('/v1/customers', {
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
      const { id } = await rig.client.post('/v1/invoices', { customer_id, billing_entity_id, lines: [line] })
      return String(id)
    }),
  )
}

const finalize = (id: string) =>
  fetch(`${rig.system.baseUrl}/v1/invoices/${id}`, {
    method: 'PATCH',
    headers: { 'x-api-key': rig.apiKey, 'content-type': 'application/json' },
    body: '{"status":"FINAL"}',
  })
const isRow = (numbers: readonly number[]): boolean =>
  numbers.toSorted((a, b) => a - b).every((each, place, all) => each === (all[0] ?? 0) + place)

test('PATCH status FINAL killed at each of its steps: FINAL with its number or a DRAFT without one, and no number lost or given twice', async () => {
  const points = ['invoices.before-numbers', 'invoices.before-commit', 'invoices.after-commit'] as const
  const ids = await oneOffs(points.length)
  const stored = async (of: readonly string[]): Promise<{ status: string; number: string | null }[]> =>
    (
      await rig.owner.query('select status, invoice_number as number from invoices where id = any($1) order by id', [
        of,
      ])
    ).rows
  for (const [place, point] of points.entries()) {
    const id = ids[place] ?? ''
    await callUntil(rig.system.dieAt('api', point), () => finalize(id))
    const [left] = await stored([id])
    const isIssued = point === 'invoices.after-commit'
    expect(left, point).toEqual({
      status: isIssued ? 'FINAL' : 'DRAFT',
      number: isIssued ? expect.any(String) : null,
    })
  }
  await rig.system.restart('api')
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
    fetch(`${rig.system.baseUrl}/v1/invoices/${id}/credit_and_copy`, {
      method: 'POST',
      headers: { 'x-api-key': rig.apiKey, 'content-type': 'application/json', 'idempotency-key': `copy ${id}` },
      body: JSON.stringify(body),
    })
  const madeOf = async (id: string): Promise<{ type: string; status: string; number: string; total: string }[]> =>
    (
      await rig.owner.query(
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
    await callUntil(rig.system.dieAt('api', point), () => creditAndCopy(id))
    expect(await madeOf(id), point).toEqual(point === 'api.after-commit' ? both : [])
  }
  await rig.system.restart('api')
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
  const { environments } = await createPlatform(rig.system.databaseUrl, 'Paid first')
  const apiKey = environments.TEST.api_key
  const shop = createClient(rig.system.baseUrl, apiKey)
  await createCatalog(shop)
  const { id } = await createGranting(shop, `granting-${randomUUID()}`)
  const sold = (await shop.find(`/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}`)) ?? { data: [] }
  const { pricing_plan_version_id } = (sold['data'] as { pricing_plan_version_id: string }[])[0] ?? {}
  const { id: billing_entity_id } = (await shop.find('/v1/billing-entities/trace-entity')) ?? {}
  const init = (reference: string) =>
    fetch(`${rig.system.baseUrl}/v1/pricing-plan-subscriptions/init`, {
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
    const { rows } = await rig.owner.query(
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
    await callUntil(rig.system.dieAt('api', point), () => init(reference))
    expect(await made(reference), point).toEqual(point === 'api.after-commit' ? whole : [0, 0, 0, 0, 0])
  }
  await rig.system.restart('api')
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

testKillsOfWorker(() => rig)
