// Credit types, wallet types and wallets (contract: Wallet grants and balances, Wallet rules; semantics 6).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { customerResource } from '../parties/customers/resource.ts'
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
    const second = await again()
    expect(refusal(second)).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'wallet_type_id'])
    expect(second.body).toMatchObject({ message: expect.stringContaining(String(second.body['resource_id'])) })
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
