// Authorise and capture: granted or refused at once, once per reference, and never more than is open.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { MONEY, walletsOf } from '../testing/wallets-of.ts'
import { endLeases } from './jobs.ts'

let api: ApiHarness
let a: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>

beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  of = await walletsOf(a)
})
afterAll(() => api?.close())

async function creditsOf(quantity: string): Promise<Row> {
  const wallet = await of.wallet(of.CREDITS)
  expect((await of.grant(wallet, quantity)).status).toBe(201)
  return wallet
}
const credits = (quantity: string) => ({ credits: { quantity, credit_type_id: of.creditType['id'] } })
const reserve = (wallet: Row, reference: string, quantity: string, more: object = {}): Promise<Answer> =>
  a.call('POST', `/v1/wallets/${wallet['id']}/reservations`, { reference, ...credits(quantity), ...more })
const commit = (wallet: Row, reference: string, body: object = {}) =>
  a.call('POST', `/v1/wallets/${wallet['id']}/reservations/${reference}/commit`, body)
const release = (wallet: Row, reference: string) =>
  a.call('POST', `/v1/wallets/${wallet['id']}/reservations/${reference}/release`)
const entriesOf = async (wallet: Row) => {
  const { body } = await a.call('GET', `/v1/wallets/${wallet['id']}/transactions?limit=100`)
  return body['data']
    .map((row: Row) => `${row['type']} ${row['value'].credits.quantity} ${row['cause'].type}`)
    .toSorted()
}

describe('a reservation', () => {
  test('is committed in part, with the event that it was for: the rest is open again', async () => {
    const wallet = await creditsOf('100')
    const made = await reserve(wallet, 'call-1', '40', { lease: { type: 'MINUTE', value: 5 } })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      object_type: 'WALLET_RESERVATION',
      wallet_id: wallet['id'],
      reference: 'call-1',
      status: 'ACTIVE',
      amount: null,
      ...credits('40'),
      committed_credits: null,
      event_reference: null,
    })
    expect(Date.parse(made.body['lease_until']) - Date.parse(made.body['created_at'])).toBeGreaterThanOrEqual(300_000)
    expect(await of.balance(wallet)).toBe('100 / 40 / 60')
    const done = await commit(wallet, 'call-1', { ...credits('25'), event_reference: 'event-1' })
    expect(done.body).toMatchObject({
      status: 'COMMITTED',
      event_reference: 'event-1',
      committed_credits: credits('25').credits,
    })
    expect(await of.balance(wallet)).toBe('75 / 0 / 75')
    expect((await a.call('GET', `/v1/wallets/${wallet['reference']}/reservations/${made.body['id']}`)).body).toEqual(
      done.body,
    )
    expect(await entriesOf(wallet)).toEqual([
      'GRANTED 100 REQUEST',
      'RELEASED 15 RESERVATION',
      'RESERVED 40 RESERVATION',
      'SPENT 25 RESERVATION',
    ])
  })

  test('is of money, over several grants, the one that expires first before the others', async () => {
    const wallet = await of.wallet(MONEY)
    const last = (await of.grant(wallet, '10')).body
    const first = (await of.grant(wallet, '2.50', { expire_at: '2199-01-01T00:00:00Z' })).body
    const amount = { amount: { quantity: '6', currency: 'EUR' } }
    const url = `/v1/wallets/${wallet['id']}/reservations`
    expect((await a.call('POST', url, { reference: 'r', ...amount })).body).toMatchObject(amount)
    expect((await commit(wallet, 'r')).body).toMatchObject({ status: 'COMMITTED', committed_amount: amount.amount })
    const spent = (grant: Row) =>
      api.sql('select open::text, spent::text from wallet_grant_accounts where grant_id = $1', [grant['id']])
    expect(
      [await spent(first), await spent(last)].map(([row]) =>
        [row?.['open'], row?.['spent']].map(text => plain(decimal(text))),
      ),
    ).toEqual([
      ['0', '2.5'],
      ['6.5', '3.5'],
    ])
  })

  test('above the open balance is refused with what is there, and takes nothing', async () => {
    const wallet = await creditsOf('10')
    await reserve(wallet, 'a', '7')
    const refused = await reserve(wallet, 'b', '3.000000000001')
    expect(refusal(refused)).toEqual([409, 'COULD_NOT_UPDATE_RESOURCE', 'credits'])
    expect(refused.body['message']).toBe(
      'The wallet has 3 open, which is less than 3.000000000001. Nothing was reserved.',
    )
    expect((await reserve(wallet, 'b', '3')).status).toBe(201)
  })

  test('of one reference is one, for ever, whatever became of it', async () => {
    const wallet = await creditsOf('10')
    const made = await reserve(wallet, 'a', '4')
    expect((await reserve(wallet, 'a', '4.0')).body).toEqual(made.body)
    expect(refusal(await reserve(wallet, 'a', '5'))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'reference'])
    const done = await commit(wallet, 'a')
    expect((await reserve(wallet, 'a', '4')).body).toEqual(done.body)
    expect((await commit(wallet, 'a')).body).toEqual(done.body)
    expect(refusal(await commit(wallet, 'a', credits('3')))).toEqual([409, 'COULD_NOT_UPDATE_RESOURCE', 'status'])
    expect(refusal(await release(wallet, 'a'))).toEqual([409, 'COULD_NOT_UPDATE_RESOURCE', 'status'])
    expect(await of.balance(wallet)).toBe('6 / 0 / 6')
  })

  test('that was released cannot be committed', async () => {
    const wallet = await creditsOf('10')
    await reserve(wallet, 'a', '4')
    const released = await release(wallet, 'a')
    expect(released.body).toMatchObject({ status: 'RELEASED' })
    expect((await release(wallet, 'a')).body).toEqual(released.body)
    expect(refusal(await commit(wallet, 'a'))).toEqual([409, 'COULD_NOT_UPDATE_RESOURCE', 'status'])
    expect(await of.balance(wallet)).toBe('10 / 0 / 10')
  })

  test('whose lease has ended is open again: at once for the next one, by the job for balances', async () => {
    const wallet = await creditsOf('10')
    const other = await creditsOf('10')
    for (const each of [wallet, other]) await reserve(each, 'a', '8', { lease: { type: 'MINUTE', value: 1 } })
    expect(refusal(await reserve(wallet, 'b', '8'))[0]).toBe(409)
    // Pretend that its minute has passed.
    await api.sql(
      "update wallet_reservations set lease_until = now() - interval '1 second' where wallet_id = any($1)",
      [[wallet['id'], other['id']]],
    )
    expect((await reserve(wallet, 'b', '8')).status).toBe(201)
    expect(refusal(await commit(wallet, 'a'))).toEqual([409, 'COULD_NOT_UPDATE_RESOURCE', 'status'])
    await endLeases(api.database, a.tenant)
    await endLeases(api.database, a.tenant)
    expect(await of.balance(other)).toBe('10 / 0 / 10')
    expect((await release(other, 'a')).body).toMatchObject({ status: 'EXPIRED' })
    const { body } = await a.call('GET', `/v1/wallets/${other['id']}/transactions?types[]=RELEASED`)
    expect(body['data']).toMatchObject([{ cause: { type: 'RESERVATION', reason: 'LEASE_ENDED' }, actor_id: null }])
  })

  test('of a grant that is reverted meanwhile can be committed; what is released of it is gone', async () => {
    const wallet = await of.wallet(of.CREDITS)
    const { body: grant } = await of.grant(wallet, '10')
    await reserve(wallet, 'a', '4')
    await a.call('POST', `/v1/wallet-grants/${grant['id']}/revert`)
    expect(await of.balance(wallet)).toBe('4 / 4 / 0')
    expect((await commit(wallet, 'a', credits('1'))).status).toBe(200)
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
  })

  test('whose lease has ended is not ended by a call that names it under another wallet', async () => {
    const [wallet, other] = [await of.wallet(of.CREDITS), await creditsOf('10')]
    const { body: grant } = await of.grant(wallet, '10')
    const { body: made } = await reserve(wallet, 'a', '4', { lease: { type: 'MINUTE', value: 1 } })
    await a.call('POST', `/v1/wallet-grants/${grant['id']}/revert`)
    await api.sql("update wallet_reservations set lease_until = now() - interval '1 second' where id = $1", [
      made['id'],
    ])
    expect(refusal(await release(other, made['id']))[0]).toBe(404)
    expect(await of.balance(wallet)).toBe('4 / 4 / 0')
    expect((await release(wallet, 'a')).body).toMatchObject({ status: 'EXPIRED' })
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
  })

  test.each([
    ['nothing', { credits: null }, 'MISSING_FIELD', 'credits'],
    ['money', { credits: null, amount: { quantity: '1', currency: 'EUR' } }, 'INVALID_FIELD', 'amount'],
    ['zero', { credits: { quantity: '0', credit_type_id: 'OWN' } }, 'INVALID_FIELD', 'credits.quantity'],
    ['below zero', { credits: { quantity: '-1', credit_type_id: 'OWN' } }, 'INVALID_FIELD', 'credits.quantity'],
    ['a float', { credits: { quantity: '1e3', credit_type_id: 'OWN' } }, 'INVALID_FIELD', 'credits.quantity'],
    [
      'other credits',
      { credits: { quantity: '1', credit_type_id: 'ctyp_x' } },
      'INVALID_FIELD',
      'credits.credit_type_id',
    ],
    ['no reference', { reference: undefined }, 'MISSING_FIELD', 'reference'],
    ['a reference with a space', { reference: 'a b' }, 'INVALID_FIELD', 'reference'],
    ['a lease of nothing', { lease: { type: 'SECOND', value: 0 } }, 'INVALID_FIELD', 'lease.value'],
    ['a lease of days', { lease: { type: 'DAY', value: 1 } }, 'INVALID_FIELD', 'lease.type'],
  ])('is refused with %s', async (_name, more, code, field) => {
    const wallet = await creditsOf('10')
    const body = JSON.parse(
      JSON.stringify({ reference: 'r', ...credits('1'), ...more }).replace('OWN', of.creditType['id']),
    )
    const answer = await a.call('POST', `/v1/wallets/${wallet['id']}/reservations`, body)
    expect(refusal(answer)).toEqual([400, code, field])
    expect(await of.balance(wallet)).toBe('10 / 0 / 10')
  })

  test('is refused of a wallet that is not spent or not there, and so is what it does not hold', async () => {
    const wallet = await creditsOf('10')
    expect(refusal(await reserve({ id: 'wall_x' }, 'r', '1'))[1]).toBe('RESOURCE_NOT_FOUND')
    expect(refusal(await commit(wallet, 'none'))).toEqual([404, 'RESOURCE_NOT_FOUND', undefined])
    await reserve(wallet, 'a', '4')
    expect(refusal(await commit(wallet, 'a', credits('4.1')))).toEqual([400, 'INVALID_FIELD', 'credits.quantity'])
    expect(refusal(await commit(wallet, 'a', credits('0')))).toEqual([400, 'INVALID_FIELD', 'credits.quantity'])
    const other = await creditsOf('10')
    expect(refusal(await commit(other, 'a'))[0]).toBe(404)
    expect(refusal(await a.call('POST', `/v1/wallets/${wallet['id']}/archive`))).toEqual([
      400,
      'INVALID_OPERATION',
      'status',
    ])
    await a.call('POST', `/v1/wallets/${wallet['id']}/deactivate`)
    expect(refusal(await reserve(wallet, 'b', '1'))).toEqual([400, 'INVALID_OPERATION', undefined])
    expect((await commit(wallet, 'a')).status).toBe(200)
  })

  test('with an Idempotency-Key is answered the same again', async () => {
    const wallet = await creditsOf('10')
    const body = { reference: 'a', ...credits('4') }
    const headers = { 'idempotency-key': a.seed.unique('key') }
    const url = `/v1/wallets/${wallet['id']}/reservations`
    const answers = [await a.call('POST', url, body, headers), await a.call('POST', url, body, headers)]
    expect(answers[1]?.body).toEqual(answers[0]?.body)
    expect(answers[1]?.headers['idempotent-replayed']).toBe('true')
  })
})

test('of a wallet that is locked elsewhere keeps no other wallet waiting', async () => {
  const [held, free] = [await creditsOf('10'), await creditsOf('10')]
  const elsewhere = new pg.Client({ connectionString: api.databaseUrl })
  await elsewhere.connect()
  try {
    await elsewhere.query('begin')
    await elsewhere.query('select from wallets where id = $1 for update', [held['id']])
    let isAnswered = false
    const waiting = reserve(held, 'waits', '1').finally(() => {
      isAnswered = true
    })
    await expect
      .poll(() =>
        api.sql(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%reserve_in_wallets%'`,
        ),
      )
      .not.toHaveLength(0)
    expect((await reserve(free, 'goes-on', '1')).status).toBe(201)
    expect(isAnswered).toBe(false)
    await elsewhere.query('rollback')
    expect((await waiting).status).toBe(201)
  } finally {
    await elsewhere.end()
  }
})

test('a thousand at once through two apis, a quarter of them repeats, get what is there and no more', async () => {
  const wallet = await creditsOf('300')
  const other = await startApi({})
  const call = (index: number) => {
    const app = index % 2 === 0 ? api.app : other.app
    const payload = { reference: `r${index % 750}`, ...credits(index % 3 === 0 ? '0.5' : '1') }
    const quantity = (index % 750) % 3 === 0 ? '0.5' : '1'
    return app.inject({
      method: 'POST',
      url: `/v1/wallets/${wallet['id']}/reservations`,
      headers: { 'x-api-key': a.key, 'content-type': 'application/json' },
      payload: JSON.stringify({ ...payload, ...credits(quantity) }),
    })
  }
  const answers = await Promise.all(Array.from({ length: 1_000 }, (_, index) => call(index)))
  expect([...new Set(answers.map(({ statusCode }) => statusCode))].toSorted()).toEqual([201, 409])
  const granted = new Map(
    answers.filter(each => each.statusCode === 201).map(each => [each.json().id, each.json().credits.quantity]),
  )
  const total = sum([...granted.values()].map(quantity => decimal(quantity)))
  const open = decimal('300').minus(total)
  expect(open.gte(decimal('0'))).toBe(true)
  // Nothing was refused while enough was open.
  expect(open.lt(decimal('1'))).toBe(true)
  expect(await of.balance(wallet)).toBe(`300 / ${plain(total)} / ${plain(open)}`)
  const ends = await Promise.all(
    [...granted.keys()].flatMap((id, index) => [
      commit(wallet, id),
      index % 2 === 0 ? release(wallet, id) : commit(wallet, id),
    ]),
  )
  expect(ends.every(({ status }) => status === 200 || status === 409)).toBe(true)
  const [sums] = await api.sql(
    `select (select sum(committed_quantity) from wallet_reservations where wallet_id = $1)::text as committed,
       (select sum(spent) from wallet_grant_accounts where wallet_id = $1)::text as spent,
       (select sum(reserved) from wallet_grant_accounts where wallet_id = $1)::text as reserved`,
    [wallet['id']],
  )
  expect([plain(decimal(sums?.['committed'])), plain(decimal(sums?.['reserved']))]).toEqual([
    plain(decimal(sums?.['spent'])),
    '0',
  ])
  await other.close()
})
