// Subscriptions to usage priced in credits, whose calls in April a test says, and the sale of the credits that wallets lack.
import { expect } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { eur } from '../../../testing/catalog.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type Selling, soldVersion, subscribedTo } from './sold-plans.ts'
import { linesOf, walletsOf } from './wallets-of.ts'

/** 0.05 for each credit that wallets lack. */
export const LACK = { pricing_type: 'FLAT', bands: [{ amount: eur('0.05') }] }

/** Calls in April, by customer; the subscription's own under ''. */
export function callsOfApril(): { readonly usage: UsageReader; use(calls: Readonly<Record<string, string>>): void } {
  let used: Readonly<Record<string, string>> = {}
  const isApril = (parts: readonly { interval: { start: number } }[]) =>
    !parts.some(({ interval }) => interval.start >= Date.parse('2026-05-01T00:00:00Z'))
  const figure = (number: string) => ({ currency: null, number: decimal(number), count: 1 })
  const total = () => Object.values(used).reduce((sum, each) => sum.plus(each), decimal('0'))
  const usage: UsageReader = {
    ...NO_USAGE,
    read: async (_tenant, parts) => (isApril(parts) ? [{ ...figure('0'), number: total() }] : []),
    readByCustomer: async (_tenant, parts) =>
      isApril(parts)
        ? {
            figures: [{ ...figure('0'), number: total() }],
            byCustomer: Object.entries(used).map(([customerId, number]) => ({
              ...figure(number),
              customerId,
              weight: decimal(number),
            })),
          }
        : { figures: [], byCustomer: [] },
  }
  return {
    usage,
    use: calls => {
      used = calls
    },
  }
}

/** Each line of an invoice by the model of its item and its amount. */
export const modelsShown = (invoice: Row): string[] =>
  linesOf(invoice).map(line => `${line['product_items'][0].model_type} ${line['amount_excluding_tax'].quantity}`)

export async function creditSales(api: ApiHarness, tenant: TestTenant, usage: UsageReader) {
  const setTime = (text: string): void => api.clock.set(Date.parse(text))
  const post = (url: string, body?: unknown): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)
  const of = await walletsOf(tenant)
  const { unique } = tenant.seed
  const value = await post('meter-values', {
    reference: unique('calls'),
    name: 'Calls',
    type: 'NUMBER',
    status: 'ACTIVE',
  })
  const made = await post('meters', {
    reference: unique('inference'),
    status: 'ACTIVE',
    meter_values: [{ id: value['id'], required: true }],
  })
  const meter = await post('meter-value-calculations', {
    reference: unique('sum'),
    calculation_type: 'SUM',
    meter_id: made['id'],
    meter_value_id: value['id'],
  })

  const credit = (quantity: string) => ({ quantity, credit_type_id: of.creditType['id'] })
  /** A credit a call. */
  const CALL = () => ({ pricing_type: 'FLAT', bands: [{ credits: credit('1') }] })

  const version = async (all: readonly Selling[]) => {
    const { version, items, pricing } = await soldVersion(tenant, all, model => ({
      ...(model.startsWith('USAGE_BASED') ? { usage_based: { meter_value_calculation_id: meter['id'] } } : {}),
      ...(model === 'CREDITS' ? { credits: { credit_type_id: of.creditType['id'] } } : {}),
    }))
    return { id: version['id'], items, priced: await pricing() }
  }

  const usageOf = (config: object = CALL()): Selling => ({ model: 'USAGE_BASED', config })
  const selling: Selling = { model: 'CREDITS', config: LACK }

  /** Bills April to a new customer, whose wallets `fund` fills. */
  async function billed(all: readonly Selling[], fund: (customerId: string) => Promise<void>) {
    setTime('2026-04-01T00:00:00Z')
    const { id: versionId, items, priced } = await version(all)
    expect(priced.status).toBe(201)
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
    const customerId: string = (await tenant.seed.make(customerResource))['id']
    await fund(customerId)
    const { id } = await subscribedTo(tenant, {
      customerId,
      billingEntityId: of.billingEntity['id'],
      versionId,
      start: '2026-04-01T00:00:00Z',
    })
    const run = () => runBilling({ database: api.database, usage }, tenant.tenant, id)
    const april = async (): Promise<Row> => {
      const url = `/v1/invoices?pricing_plan_subscription_id=${id}&include_lines=true&limit=100`
      const found = ((await succeed(tenant, 'GET', url))['data'] as Row[]).find(
        each => each['period_end'] <= '2026-05-01',
      )
      if (!found) throw new Error('April is billed')
      return found
    }
    return { id, customerId, versionId, items, run, april }
  }

  return { of, meter, setTime, post, credit, CALL, version, usageOf, selling, billed }
}
