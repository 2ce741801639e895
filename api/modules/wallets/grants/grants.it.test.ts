// Grants by hand: created, refused by their field, and reverted once (semantics 6).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { customerResource } from '../../parties/customers/resource.ts'
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

describe('grants', () => {
  let refusing: Row
  beforeAll(async () => {
    refusing = await of.wallet(MONEY)
  })

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
    expect(refusal(await of.grant(refusing, quantity, more)).slice(1)).toEqual([code, field])
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
    await postMoves(api, a, { wallet: wallet, grantId: body['id'] }, [['RESERVE', '30']])
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
