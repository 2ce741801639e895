// Subscriptions that are billed for usage of April 2026, whose amount a test says: what wallets pay of is their invoice for April.
import { decimal } from '../../../../shared/decimal.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import {
  type Billed,
  type BilledOptions,
  billedSubscription,
  succeed,
} from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'

const START = '2026-04-01T00:00:00Z'
const END_MS = Date.parse('2026-05-01T00:00:00Z')
const BANDS = [{ amount: { quantity: '1', currency: 'EUR' }, block_size: { number: '1000' } }]

/** Usage of 1,000 for each euro that is `used`, until May. */
export function usageOfApril(): { readonly usage: UsageReader; use(euros: string): void } {
  let used = '0'
  const read: UsageReader['read'] = async (_tenant, parts) =>
    parts.some(({ interval }) => interval.start >= END_MS)
      ? []
      : [{ currency: null, number: decimal(used).times(decimal('1000')), count: 1 }]
  return {
    usage: { ...NO_USAGE, read },
    use: euros => {
      used = euros
    },
  }
}

export type AprilSales = {
  setTime(text: string): void
  /** A subscription since 1 April that is made at this time, at 1 EUR per 1,000. */
  billedIn(at: string, more?: Omit<BilledOptions, 'start_at'>): Promise<Billed>
  run(billed: Billed): ReturnType<typeof runBilling>
  /** The invoice for April, with its lines. */
  invoiceOf(billed: Billed): Promise<Row>
}

export function aprilSales(api: ApiHarness, tenant: TestTenant, usage: UsageReader): AprilSales {
  const setTime = (text: string): void => api.clock.set(Date.parse(text))
  return {
    setTime,
    billedIn: async (at, more) => {
      setTime(at)
      return await billedSubscription(tenant, { start_at: START, bands: BANDS, ...more })
    },
    run: billed => runBilling({ database: api.database, usage }, tenant.tenant, billed.subscriptionId),
    invoiceOf: async billed => {
      const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true&limit=100`
      const data: Row[] = (await succeed(tenant, 'GET', url))['data']
      const found = data.find(each => each['period_start'] === START)
      if (!found) throw new Error('April is billed')
      return found
    },
  }
}
