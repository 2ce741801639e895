// Wallet types, wallets, grants, the ledger and balances (contract: Wallet grants and balances, Wallet rules; semantics 6).
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant } from '../../../shared/database/database.ts'
import { decimal, plain, sum } from '../../../shared/decimal.ts'
import type { Id } from '../../../shared/ids.ts'
import { refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import { noticesOf } from '../../testing/notices.ts'
import type { Row } from '../../testing/wire.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { expireGrants } from './expiry/expire-grants.ts'
import { postEntries } from './ledger/post-entries.ts'
import { BALANCE, MONEY, walletsOf } from './testing/wallets-of.ts'

let api: ApiHarness
let a: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>

beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  of = await walletsOf(a)
})
afterAll(() => api?.close())

const REQUEST = { type: 'REQUEST', id: null } as const
const NOBODY = { id: null, requestId: null }

describe('credit types, wallet types and wallets', () => {
  test('go through their statuses, INACTIVE and back, and ARCHIVED is the end', async () => {
    for (const path of ['credit-types', 'wallet-types', 'wallets']) {
      const made =
        path === 'wallets'
          ? await of.wallet(MONEY)
          : path === 'wallet-types'
            ? await of.walletType(MONEY)
            : (await a.call('POST', '/v1/credit-types', { reference: a.seed.unique('c'), name: 'C', status: 'ACTIVE' }))
                .body
      const move = async (verb: string) => {
        const { status, body } = await a.call('POST', `/v1/${path}/${made['reference']}/${verb}`)
        return status === 200 ? body['status'] : `${status} ${body['code']} ${body['field']}`
      }
      expect([
        await move('deactivate'),
        await move('deactivate'),
        await move('activate'),
        await move('deprecate'),
        await move('deactivate'),
        await move('activate'),
        await move('archive'),
        await move('activate'),
      ]).toEqual([
        'INACTIVE',
        'INACTIVE',
        'ACTIVE',
        'DEPRECATED',
        '400 INVALID_OPERATION status',
        'ACTIVE',
        'ARCHIVED',
        '400 INVALID_OPERATION status',
      ])
      const listed = await a.call('GET', `/v1/${path}?statuses[]=ARCHIVED&reference=${made['reference']}`)
      expect(listed.body['data'].map((row: Row) => row['id'])).toEqual([made['id']])
    }
  })

  test('a new one is DRAFT', async () => {
    const { body } = await a.call('POST', '/v1/credit-types', { reference: a.seed.unique('c'), name: 'C' })
    expect(body).toMatchObject({ object_type: 'CREDIT_TYPE', status: 'DRAFT', unit_name: null })
  })

  test('a customer has one wallet of a type, and another once that is ARCHIVED', async () => {
    const wallet = await of.wallet(MONEY)
    const { customer_id, wallet_type_id } = wallet
    const again = () => a.call('POST', '/v1/wallets', { reference: a.seed.unique('w'), customer_id, wallet_type_id })
    expect(refusal(await again())).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'wallet_type_id'])
    await a.call('POST', `/v1/wallets/${wallet['id']}/archive`)
    expect((await again()).status).toBe(201)
    const listed = await a.call('GET', `/v1/wallets?customer_id=${customer_id}&wallet_type_id=${wallet_type_id}`)
    expect(listed.body['data']).toHaveLength(2)
  })

  test.each([
    ['BALANCE with credit', { ...BALANCE, credit: MONEY.credit }, 'INVALID_FIELD', 'credit'],
    ['CREDIT with balance', { ...MONEY, balance: {} }, 'INVALID_FIELD', 'balance'],
    ['CREDIT without credit', { type: 'CREDIT' }, 'MISSING_FIELD', 'credit'],
    [
      'CREDITS without a credit type',
      { type: 'CREDIT', credit: { grant_type: 'CREDITS' } },
      'MISSING_FIELD',
      'credit.credits_grant',
    ],
    [
      'CREDITS of a credit type there is not',
      { type: 'CREDIT', credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id: 'ctyp_x' } } },
      'RESOURCE_NOT_FOUND',
      'credit.credits_grant.credit_type_id',
    ],
    [
      'CREDITS with money',
      {
        type: 'CREDIT',
        credit: { grant_type: 'CREDITS', amount_grant: {}, credits_grant: { credit_type_id: 'ctyp_x' } },
      },
      'INVALID_FIELD',
      'credit.amount_grant',
    ],
    [
      'AMOUNT with a credit type',
      { type: 'CREDIT', credit: { grant_type: 'AMOUNT', credits_grant: { credit_type_id: 'ctyp_x' } } },
      'INVALID_FIELD',
      'credit.credits_grant',
    ],
    [
      'a currency there is not',
      { type: 'BALANCE', balance: { default_currency: 'EURO' } },
      'INVALID_FIELD',
      'balance.default_currency',
    ],
  ])('a wallet type is refused: %s', async (_name, terms, code, field) => {
    const answer = await a.call('POST', '/v1/wallet-types', { reference: a.seed.unique('t'), name: 'T', ...terms })
    expect(refusal(answer).slice(1)).toEqual([code, field])
  })

  test('a wallet is refused for a type or a customer that takes nothing new', async () => {
    const type = await of.walletType(MONEY)
    const customer = await a.seed.make(customerResource)
    const body = { reference: a.seed.unique('w'), customer_id: customer['id'], wallet_type_id: type['id'] }
    expect(refusal(await a.call('POST', '/v1/wallets', { ...body, customer_id: 'cust_x' }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'customer_id',
    ])
    await a.call('POST', `/v1/wallet-types/${type['id']}/deprecate`)
    expect(refusal(await a.call('POST', '/v1/wallets', body))).toEqual([400, 'INVALID_FIELD', 'wallet_type_id'])
    const other = await of.walletType(MONEY)
    await a.call('POST', `/v1/customers/${customer['id']}/archive`)
    expect(refusal(await a.call('POST', '/v1/wallets', { ...body, wallet_type_id: other['id'] }))).toEqual([
      400,
      'INVALID_FIELD',
      'customer_id',
    ])
  })
})

describe('grants', () => {
  test('are created, read, listed by wallet and customer, each with its event', async () => {
    const wallet = await of.wallet(MONEY)
    const { status, body } = await of.grant(wallet, '100.00', {
      type: 'PROMOTION',
      description: 'Welcome',
      paid_amount: { quantity: '0', currency: 'EUR' },
      start_at: '2026-03-01T00:00:00Z',
      expire_at: '2026-05-31T02:00:00+02:00',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      object_type: 'WALLET_GRANT',
      customer_id: wallet['customer_id'],
      wallet_id: wallet['id'],
      type: 'PROMOTION',
      grant_amount: { quantity: '100.00', currency: 'EUR' },
      grant_credits: null,
      start_at: '2026-03-01T00:00:00Z',
      expire_at: '2026-05-31T00:00:00Z',
      source: 'MANUAL',
      reverted_at: null,
      revert_reason: null,
    })
    expect((await a.call('GET', `/v1/wallet-grants/${body['id']}`)).body).toEqual(body)
    for (const filter of [`wallet_id=${wallet['id']}`, `customer_id=${wallet['customer_id']}`])
      expect((await a.call('GET', `/v1/wallet-grants?${filter}`)).body['data']).toEqual([body])
    expect((await noticesOf(api, body['id'])).map(({ type }) => type)).toEqual(['WALLET_GRANT.CREATED'])
  })

  test.each([
    ['zero', '0', {}, 'INVALID_FIELD', 'grant_amount.quantity'],
    ['below zero', '-5', {}, 'INVALID_FIELD', 'grant_amount.quantity'],
    ['more digits than there are', `1${'0'.repeat(26)}`, {}, 'INVALID_FIELD', 'grant_amount.quantity'],
    ['no number', 'ten', {}, 'INVALID_FIELD', 'grant_amount.quantity'],
    [
      'another currency',
      '5',
      { grant_amount: { quantity: '5', currency: 'USD' } },
      'INVALID_FIELD',
      'grant_amount.currency',
    ],
    ['credits', '5', { grant_credits: { quantity: '5', credit_type_id: 'ctyp_x' } }, 'INVALID_FIELD', 'grant_credits'],
    ['nothing', '5', { grant_amount: null }, 'MISSING_FIELD', 'grant_amount'],
    [
      'an expiry before its start',
      '5',
      { start_at: '2026-03-02T00:00:00Z', expire_at: '2026-03-01T00:00:00Z' },
      'INVALID_FIELD',
      'expire_at',
    ],
    [
      'an expiry at its start',
      '5',
      { start_at: '2026-03-01T00:00:00Z', expire_at: '2026-03-01T00:00:00Z' },
      'INVALID_FIELD',
      'expire_at',
    ],
    [
      'a payment below zero',
      '5',
      { paid_amount: { quantity: '-1', currency: 'EUR' } },
      'INVALID_FIELD',
      'paid_amount.quantity',
    ],
    ['a source of its own', '5', { source: 'SEAT_POOL' }, 'INVALID_FIELD', 'source'],
    ['an unknown billing entity', '5', { billing_entity_id: 'bent_x' }, 'RESOURCE_NOT_FOUND', 'billing_entity_id'],
    ['an unknown wallet', '5', { wallet_id: 'wall_x' }, 'RESOURCE_NOT_FOUND', 'wallet_id'],
  ])('are refused with %s', async (_name, quantity, more, code, field) => {
    expect(refusal(await of.grant(await of.wallet(MONEY), quantity, more)).slice(1)).toEqual([code, field])
  })

  test('are refused for another customer, other credits, no currency, and a wallet that takes none', async () => {
    const wallet = await of.wallet(MONEY)
    const other = await a.seed.make(customerResource)
    expect(refusal(await of.grant(wallet, '5', { customer_id: other['id'] }))).toEqual([
      400,
      'INVALID_FIELD',
      'customer_id',
    ])
    const credits = await of.wallet(of.CREDITS)
    const foreign = { grant_credits: { quantity: '5', credit_type_id: 'ctyp_x' } }
    expect(refusal(await of.grant(credits, '5', foreign))).toEqual([
      400,
      'INVALID_FIELD',
      'grant_credits.credit_type_id',
    ])
    const bare = await of.wallet({ type: 'BALANCE' })
    const money = { grant_amount: { quantity: '5', currency: 'EUR' }, grant_credits: null }
    expect(refusal(await of.grant(bare, '5', money))).toEqual([400, 'INVALID_OPERATION', 'wallet_id'])
    const set = await a.call('PATCH', `/v1/wallet-types/${bare['wallet_type_id']}`, {
      balance: { default_currency: 'EUR' },
    })
    expect(set.body['balance']).toEqual({ default_currency: 'EUR' })
    expect((await of.grant(bare, '5', money)).status).toBe(201)
    const change = { balance: { default_currency: 'USD' } }
    expect(refusal(await a.call('PATCH', `/v1/wallet-types/${bare['wallet_type_id']}`, change))).toEqual([
      400,
      'INVALID_FIELD',
      'balance',
    ])
    await a.call('POST', `/v1/wallets/${wallet['id']}/deprecate`)
    expect(refusal(await of.grant(wallet, '5'))).toEqual([400, 'INVALID_OPERATION', 'wallet_id'])
  })

  test('are reverted once: what is open is gone, and a repeat changes nothing', async () => {
    const wallet = await of.wallet(of.CREDITS)
    const { body } = await of.grant(wallet, '100')
    await post(wallet, body['id'], [['RESERVE', '30']])
    const reverted = await a.call('POST', `/v1/wallet-grants/${body['id']}/revert`)
    expect(reverted.body).toMatchObject({ revert_reason: 'WALLET_GRANT_REVERTED', reverted_at: expect.any(String) })
    expect((await a.call('POST', `/v1/wallet-grants/${body['id']}/revert`)).body).toEqual(reverted.body)
    expect(await of.balance(wallet)).toBe('30 / 30 / 0')
    const { body: list } = await a.call('GET', `/v1/wallets/${wallet['id']}/transactions?types[]=REVERTED`)
    expect(list['data']).toMatchObject([
      { value: { credits: { quantity: '70' } }, cause: { reason: 'WALLET_GRANT_REVERTED' } },
    ])
  })

  test('with one Idempotency-Key is one grant', async () => {
    const wallet = await of.wallet(MONEY)
    const { id: wallet_id, customer_id } = wallet
    const body = {
      wallet_id,
      customer_id,
      billing_entity_id: of.billingEntity['id'],
      grant_amount: { quantity: '5', currency: 'EUR' },
    }
    const headers = { 'idempotency-key': a.seed.unique('key') }
    const answers = [
      await a.call('POST', '/v1/wallet-grants', body, headers),
      await a.call('POST', '/v1/wallet-grants', body, headers),
    ]
    expect(answers[1]?.body).toEqual(answers[0]?.body)
    expect(await of.balance(wallet)).toBe('5 / 0 / 5')
  })
})

/** Posts entries of a grant without the API. */
const post = (
  wallet: Row,
  grantId: Id<'wgra'>,
  moves: readonly (readonly ['RESERVE' | 'RELEASE' | 'SPEND', string])[],
) =>
  inTenant(api.database, a.tenant, NOBODY, async uow => {
    for (const [move, quantity] of moves)
      await postEntries(uow, [{ walletId: wallet['id'], grantId, move, quantity: decimal(quantity), cause: REQUEST }])
  })

describe('balances', () => {
  test('100 granted, 30 settled, 20 reserved: 70 / 20 / 50', async () => {
    const wallet = await of.wallet(of.CREDITS)
    const { body } = await of.grant(wallet, '100')
    await post(wallet, body['id'], [
      ['RESERVE', '50'],
      ['SPEND', '30'],
    ])
    expect(await of.balance(wallet)).toBe('70 / 20 / 50')
  })

  test('at another time: what has started by then and has not expired', async () => {
    const wallet = await of.wallet(MONEY)
    await of.grant(wallet, '50', { start_at: '2026-03-01T00:00:00Z', expire_at: '2026-04-30T00:00:00Z' })
    await of.grant(wallet, '100', { start_at: '2026-04-01T00:00:00Z', expire_at: '2026-05-31T00:00:00Z' })
    await of.grant(wallet, '7.5', { start_at: '2199-01-01T00:00:00Z', expire_at: '2199-06-01T00:00:00Z' })
    const times = [
      '2026-02-28T23:59:59Z',
      '2026-03-01T00:00:00Z',
      '2026-04-29T23:59:59Z',
      '2026-04-30T00:00:00Z',
      '2199-02-01T00:00:00Z',
    ]
    const found = []
    for (const time of times) found.push(await of.balance(wallet, time))
    expect(found).toEqual(['0 / 0 / 0', '50 / 0 / 50', '150 / 0 / 150', '100 / 0 / 100', '7.5 / 0 / 7.5'])
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    await expireGrants(api.database, a.tenant)
    await expireGrants(api.database, a.tenant)
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    expect(await of.balance(wallet, '2026-04-29T23:59:59Z')).toBe('150 / 0 / 150')
    const { body } = await a.call(
      'GET',
      `/v1/wallets/${wallet['id']}/transactions?types[]=EXPIRED&order_by=effective_at`,
    )
    expect(
      body['data'].map((row: Row) => [row['value'].amount.quantity, row['effective_at'], row['cause'].type]),
    ).toEqual([
      ['100', '2026-05-31T00:00:00Z', 'EXPIRY'],
      ['50', '2026-04-30T00:00:00Z', 'EXPIRY'],
    ])
  })

  test('what is reserved does not expire', async () => {
    const wallet = await of.wallet(of.CREDITS)
    const { body } = await of.grant(wallet, '50', {
      start_at: '2026-03-01T00:00:00Z',
      expire_at: '2026-04-30T00:00:00Z',
    })
    await post(wallet, body['id'], [['RESERVE', '20']])
    await expireGrants(api.database, a.tenant)
    expect(await of.balance(wallet)).toBe('20 / 20 / 0')
  })

  test('of a customer: one entry for each wallet, credits and money', async () => {
    const money = await of.wallet(MONEY)
    const credits = await of.wallet(of.CREDITS, money['customer_id'])
    await of.grant(money, '12.34')
    await of.grant(credits, '40')
    const url = `/v1/customers/${money['customer_id']}/wallets/balance`
    const { status, body } = await a.call('POST', url, { balance_at: '2199-01-01T00:00:00Z' })
    expect(status).toBe(200)
    expect(body).toEqual({
      balance_at: '2199-01-01T00:00:00Z',
      wallet_balances: [
        [
          money['id'],
          { amount: { quantity: '12.34', currency: 'EUR' } },
          { amount: { quantity: '0', currency: 'EUR' } },
        ] as const,
        [
          credits['id'],
          { credits: { quantity: '40', credit_type_id: of.creditType['id'] } },
          { credits: { quantity: '0', credit_type_id: of.creditType['id'] } },
        ] as const,
      ].map(([wallet_id, all, none]) => ({
        wallet_id,
        wallet_balance: { balance: all, reserved_balance: none, open_balance: all, balance_at: '2199-01-01T00:00:00Z' },
      })),
    })
    expect(refusal(await a.call('POST', url, { balance_at: 'soon' }))).toEqual([400, 'INVALID_FIELD', 'balance_at'])
  })

  test('a forecast says when the rest ends at the rate of 7 and of 30 days', async () => {
    const wallet = await of.wallet(of.CREDITS)
    const { body } = await of.grant(wallet, '100')
    const url = `/v1/wallets/${wallet['id']}/forecast`
    expect((await a.call('GET', url)).body['forecasts']).toMatchObject([
      { days: 7, ends_at: null },
      { days: 30, ends_at: null },
    ])
    await post(wallet, body['id'], [['RESERVE', '50']])
    const from = Date.now()
    const { forecasts } = (await a.call('GET', url)).body
    const days = (at: string) => Math.round((Date.parse(at) - from) / 86_400_000)
    expect(forecasts.map((each: Row) => [each['used_balance'].credits.quantity, days(each['ends_at'])])).toEqual([
      ['50', 7],
      ['50', 30],
    ])
  })
})

describe('the ledger', () => {
  test('says who, what, when and why', async () => {
    const wallet = await of.wallet(MONEY)
    const { body: grant } = await of.grant(wallet, '10', { start_at: '2026-03-01T00:00:00Z' })
    const { body } = await a.call('GET', `/v1/wallets/${wallet['reference']}/transactions`)
    expect(body['data']).toEqual([
      {
        object_type: 'WALLET_TRANSACTION',
        id: expect.stringMatching(/^went_/),
        wallet_id: wallet['id'],
        wallet_grant_id: grant['id'],
        type: 'GRANTED',
        debit_account: 'FUNDING',
        credit_account: 'OPEN',
        value: { amount: { quantity: '10', currency: 'EUR' } },
        effective_at: '2026-03-01T00:00:00Z',
        cause: { type: 'REQUEST', id: expect.stringMatching(/^reqr_/), reason: null },
        actor_id: expect.any(String),
        request_id: expect.stringMatching(/^reqr_/),
        created_at: expect.any(String),
      },
    ])
  })

  test.each([
    ['an entry is changed', 'update wallet_entries set quantity = quantity + 1 where grant_id = $1', /never changed/],
    ['an entry is deleted', 'delete from wallet_entries where grant_id = $1', /never changed/],
    [
      'accounts are moved without an entry',
      'update wallet_grant_accounts set open = open + 1 where grant_id = $1',
      /follow its entries/,
    ],
    [
      'a grant begins with a balance',
      `insert into wallet_grant_accounts (platform_id, environment, grant_id, wallet_id, type, start_at, open)
       select platform_id, environment, 'x', wallet_id, type, start_at, 1 from wallet_grants where id = $1`,
      /begin at zero/,
    ],
    [
      'an entry moves more than there is',
      `insert into wallet_entries select platform_id, environment, 'x', now(), wallet_id, grant_id, 'RESERVED', 'OPEN', 'RESERVED', 11,
       now(), 'REQUEST' from wallet_entries where grant_id = $1`,
      /open_check/,
    ],
    [
      'an entry is not between its accounts',
      `insert into wallet_entries select platform_id, environment, 'x', now(), wallet_id, grant_id, 'SPENT', 'FUNDING', 'SPENT', 1,
       now(), 'REQUEST' from wallet_entries where grant_id = $1`,
      /entry_has_its_accounts/,
    ],
  ])('the database refuses, even its owner, when %s', async (_name, statement, message) => {
    const { body } = await of.grant(await of.wallet(MONEY), '10')
    await expect(api.sql(statement, [body['id']])).rejects.toThrow(message)
  })

  test('whatever is posted, accepted or refused, all accounts sum to zero and each is the sum of its entries', async () => {
    const wallet = await of.wallet(of.CREDITS)
    const { body: grant } = await of.grant(wallet, '100.000000000001')
    const moves = fc.array(
      fc.tuple(
        fc.constantFrom('RESERVE' as const, 'RELEASE' as const, 'SPEND' as const),
        fc.integer({ min: 1, max: 400 }).map(n => (n / 8).toString()),
      ),
      { minLength: 1, maxLength: 6 },
    )
    await fc.assert(
      fc.asyncProperty(moves, async list => {
        await post(wallet, grant['id'], list).catch(error => expect(String(error.cause ?? error)).toMatch(/_check/))
        const [accounts] = await api.sql('select * from wallet_grant_accounts where grant_id = $1', [grant['id']])
        const names = ['funding', 'open', 'reserved', 'spent', 'expired', 'reverted']
        expect(plain(sum(names.map(name => decimal(accounts?.[name]))))).toBe('0')
        const sums = await api.sql(
          `select account, sum(moved)::text as sum from (
             select credit_account as account, quantity as moved from wallet_entries where grant_id = $1
             union all select debit_account, -quantity from wallet_entries where grant_id = $1) s group by account`,
          [grant['id']],
        )
        const of = new Map(sums.map(row => [String(row['account']).toLowerCase(), plain(decimal(row['sum']))]))
        for (const name of names) expect(of.get(name) ?? '0').toBe(plain(decimal(accounts?.[name])))
      }),
      { numRuns: 15 },
    )
  })
})
