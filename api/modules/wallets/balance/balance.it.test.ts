// Balances of a wallet and of a customer at any time, what expires, and the forecast (semantics 6).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { expireGrants } from '../expiry/expire-grants.ts'
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

describe('balances', () => {
  test('100 granted, 30 settled, 20 reserved: 70 / 20 / 50', async () => {
    const wallet = await of.wallet(of.CREDITS)
    const { body } = await of.grant(wallet, '100')
    await postMoves(api, a, { wallet: wallet, grantId: body['id'] }, [
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
    await postMoves(api, a, { wallet: wallet, grantId: body['id'] }, [['RESERVE', '20']])
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
    await postMoves(api, a, { wallet: wallet, grantId: body['id'] }, [['RESERVE', '50']])
    const from = Date.now()
    const { forecasts } = (await a.call('GET', url)).body
    const days = (at: string) => Math.round((Date.parse(at) - from) / 86_400_000)
    expect(forecasts.map((each: Row) => [each['used_balance'].credits.quantity, days(each['ends_at'])])).toEqual([
      ['50', 7],
      ['50', 30],
    ])
  })
})
