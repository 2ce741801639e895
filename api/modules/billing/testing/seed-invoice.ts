import { formatInstant } from '../../../../shared/time.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../run/run-billing.ts'
import { billedSubscription, succeed } from './billed-subscription.ts'
import { NO_USAGE } from './no-usage.ts'

/**
 * Only billing creates an invoice: creates a subscription with a fee, runs its billing, and returns the DRAFT of the
 * fee.
 */
export async function seedInvoice(api: Pick<ApiHarness, 'database' | 'clock'>, tenant: TestTenant): Promise<Row> {
  const billed = await billedSubscription(tenant, {
    // Starts recently, so that only two invoices are created.
    start_at: formatInstant(api.clock.now()),
    fee: '100',
  })
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, billed.subscriptionId)
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&statuses[]=DRAFT&limit=1`
  const [draft]: Row[] = (await succeed(tenant, 'GET', url))['data']
  if (!draft) throw new Error('the first fee is asked in advance')
  return await succeed(tenant, 'GET', `/v1/invoices/${draft['id']}`)
}
