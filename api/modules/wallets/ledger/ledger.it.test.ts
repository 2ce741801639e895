// The ledger of wallets: what its entries say, what the database refuses, and that everything sums to zero.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { MONEY, postMoves, walletsOf } from '../testing/wallets-of.ts'

let api: ApiHarness
let a: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>

beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  of = await walletsOf(a)
})
afterAll(() => api?.close())

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

  let granted: string
  beforeAll(async () => {
    granted = (await of.grant(await of.wallet(MONEY), '10')).body['id']
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
    await expect(api.sql(statement, [granted])).rejects.toThrow(message)
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
        await postMoves(api, a, { wallet: wallet, grantId: grant['id'] }, list).catch(error =>
          expect(String(error.cause ?? error)).toMatch(/_check/),
        )
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
