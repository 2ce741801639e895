// Plans whose prices grant into wallets, and subscriptions to them: billed for no usage, so that only what their rules grant moves.
import { expect } from 'vitest'
import { eur } from '../../../testing/catalog.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { type Selling, soldVersion, subscribedTo } from './sold-plans.ts'
import { MONEY, walletsOf } from './wallets-of.ts'

export const LUMP = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('30') }] }
export const SEATS = { pricing_type: 'FLAT', bands: [{ amount: eur('10') }] }

export type Subscribed = {
  readonly id: string
  readonly customerId: string
  readonly items: readonly Row[]
  readonly scheduleId: string
}

export const quantity = (grant: Row): string => (grant['grant_credits'] ?? grant['grant_amount']).quantity

/** For one tenant, with a wallet type of credits and one of money. */
export async function grantingPlans(api: ApiHarness, tenant: TestTenant) {
  const of = await walletsOf(tenant)
  const credits = await of.walletType(of.CREDITS)
  const money = await of.walletType(MONEY)

  const setTime = (text: string): void => api.clock.set(Date.parse(text))
  const post = (url: string, body: unknown): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)
  const credit = (quantity: string) => ({ quantity, credit_type_id: of.creditType['id'] })
  const rule = (more: object) => ({ wallet_type_id: credits['id'], ...more })
  const fixed = (quantity: string, more: object = {}) => rule({ credits_grant: { credits: credit(quantity) }, ...more })

  /** A version with one item for each price. */
  const sold = (all: readonly Selling[]) => soldVersion(tenant, all)

  /** An ACTIVE subscription since `start` to a plan with these prices; nothing is billed yet. */
  async function subscribed(all: readonly Selling[], start = '2026-03-01T00:00:00Z'): Promise<Subscribed> {
    setTime(start)
    const { version, items, pricing } = await sold(all)
    expect((await pricing()).status).toBe(201)
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    const customerId = await customer()
    const found = { customerId, billingEntityId: of.billingEntity['id'], versionId: version['id'], start }
    return { ...(await subscribedTo(tenant, found)), customerId, items }
  }

  const customer = async (more: object = {}): Promise<string> =>
    (
      await post('customers', {
        reference: tenant.seed.unique('acme'),
        type: 'ORGANIZATION',
        status: 'ACTIVE',
        organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: { country: 'NL', city: 'Utrecht' } },
        ...more,
      })
    )['id']

  const run = ({ id }: Subscribed) => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
  async function billedAt(time: string, subscription: Subscribed): Promise<void> {
    setTime(time)
    await run(subscription)
  }
  const grantsOf = async ({ customerId }: Subscribed): Promise<Row[]> =>
    (
      await succeed(
        tenant,
        'GET',
        `/v1/wallet-grants?customer_id=${customerId}&limit=100&order_by=start_at&order_direction=ASC`,
      )
    )['data']
  const shown = async (subscription: Subscribed): Promise<string[]> =>
    (await grantsOf(subscription)).map(grant =>
      [
        quantity(grant),
        grant['start_at'].slice(0, 10),
        grant['expire_at']?.slice(0, 10) ?? '-',
        grant['revert_reason'] ?? 'live',
      ].join(' '),
    )
  const invoicesOf = async ({ id }: Subscribed): Promise<Row[]> =>
    (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}&limit=100`))['data']

  return {
    of,
    credits,
    money,
    setTime,
    post,
    credit,
    rule,
    fixed,
    sold,
    subscribed,
    customer,
    run,
    billedAt,
    grantsOf,
    shown,
    invoicesOf,
  }
}
