// Wallets for tests, created through the API.
import { expect } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Answer, ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { creditTypeResource } from '../../catalog/credit-types/credit-type.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { postEntries } from '../ledger/post-entries.ts'

/** What a wallet may hold. */
export const MONEY = { type: 'CREDIT', credit: { grant_type: 'AMOUNT', amount_grant: { default_currency: 'EUR' } } }
export const BALANCE = { type: 'BALANCE', balance: { default_currency: 'EUR' } }

export const linesOf = (invoice: Row): Row[] =>
  invoice['periods'].flatMap(({ groups }: Row) => groups.flatMap((group: Row) => group['lines']))

/** Each line of an invoice by its type and what it is without tax; then the invoice without tax, the tax, and with tax. */
export const shown = (invoice: Row): string[] => [
  ...linesOf(invoice).map(line => `${line['type']} ${line['amount_excluding_tax'].quantity}`),
  ...['base_amount', 'tax_amount', 'total_amount'].map(name => invoice['tax_summary'][name].quantity),
]

/** Wallets of one tenant. */
export async function walletsOf({ call, seed }: TestTenant) {
  const billingEntity = await seed.make(billingEntityResource)
  const creditType = await seed.make(creditTypeResource)
  const CREDITS = {
    type: 'CREDIT',
    credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id: creditType['id'] } },
  }

  async function made(url: string, body: object): Promise<Row> {
    const answer = await call('POST', url, body)
    expect([answer.status, answer.body]).toEqual([201, expect.anything()])
    return answer.body
  }

  const walletType = (terms: object) =>
    made('/v1/wallet-types', { reference: seed.unique('type'), name: 'Prepaid', status: 'ACTIVE', ...terms })

  /** An ACTIVE wallet of a new wallet type, of a new customer unless one is given. */
  async function wallet(terms: object, customerId?: string): Promise<Row> {
    const customer_id = customerId ?? (await seed.make(customerResource))['id']
    const { id: wallet_type_id } = await walletType(terms)
    return await made('/v1/wallets', {
      reference: seed.unique('wallet'),
      status: 'ACTIVE',
      wallet_type_id,
      customer_id,
    })
  }

  /** The response to granting `quantity` of what the wallet holds. */
  async function grant(of: Row, quantity: string, more: object = {}): Promise<Answer> {
    const { id: wallet_id, customer_id, wallet_type_id } = of
    const { body: type } = await call('GET', `/v1/wallet-types/${wallet_type_id}`)
    const currency = (type['credit']?.amount_grant ?? type['balance'])?.default_currency
    const value = currency
      ? { grant_amount: { quantity, currency } }
      : { grant_credits: { quantity, credit_type_id: creditType['id'] } }
    const body = { customer_id, billing_entity_id: billingEntity['id'], wallet_id, ...value, ...more }
    return await call('POST', '/v1/wallet-grants', body)
  }

  async function balance(of: Row, balance_at?: string): Promise<string> {
    const { body } = await call('POST', `/v1/wallets/${of['id']}/balance`, balance_at ? { balance_at } : {})
    const quantity = (value: Row) => (value?.['amount'] ?? value?.['credits'])?.quantity
    return [body['balance'], body['reserved_balance'], body['open_balance']].map(quantity).join(' / ')
  }

  /** What moved in a wallet of money, and what set it off, in alphabetical order. */
  async function entries(of: Row): Promise<string[]> {
    const { body } = await call('GET', `/v1/wallets/${of['id']}/transactions?limit=100`)
    return body['data']
      .map((row: Row) => `${row['type']} ${row['value'].amount.quantity} ${row['cause'].type}`)
      .toSorted()
  }

  return { billingEntity, creditType, CREDITS, walletType, wallet, grant, balance, entries }
}

/** Posts entries of a grant without the API. */
export const postMoves = (
  api: ApiHarness,
  { tenant }: TestTenant,
  of: { readonly wallet: Row; readonly grantId: Id<'wgra'> },
  moves: readonly (readonly ['RESERVE' | 'RELEASE' | 'SPEND', string])[],
) =>
  inTenant(api.database, tenant, SERVICE, async uow => {
    for (const [move, quantity] of moves)
      await postEntries(uow, [
        {
          walletId: of.wallet['id'],
          grantId: of.grantId,
          move,
          quantity: decimal(quantity),
          cause: { type: 'REQUEST', id: null },
        },
      ])
  })
