// Subscriptions whose usage is in ClickHouse, billed by runs that a test starts; only the wait for the log, which has no events
// here, is simulated.
import { createTestClickHouse } from '../../../../shared/testing/clickhouse.ts'
import { createClickHouse } from '../../../../shared/usage/clickhouse.ts'
import { startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { runBilling } from '../run/run-billing.ts'
import { createUsageReader, type UsageReader } from '../usage/usage-reader.ts'
import { type Billed, type BilledOptions, billedSubscription, succeed, useTokens } from './billed-subscription.ts'
import { NO_USAGE } from './no-usage.ts'

export async function openInvoiceRig() {
  const clickhouse = await createTestClickHouse()
  const client = createClickHouse(clickhouse.url, clickhouse.database)
  const { read } = createUsageReader({ client, jsm: undefined as never, partitions: 0 })
  /** Whether all usage is counted; a test may say that it is not. */
  const said = { complete: true }
  const usage: UsageReader = { ...NO_USAGE, read, settle: async () => said.complete }
  const api = await startApi({ usage })
  const deps: BillingDeps = { database: api.database, usage }
  const setTime = (text: string): void => api.clock.set(Date.parse(text))

  async function subscribe(tenant: TestTenant, options: Partial<BilledOptions> = {}): Promise<Billed> {
    return await billedSubscription(tenant, { start_at: '2026-03-11T00:00:00Z', ...options })
  }
  const run = (tenant: TestTenant, billed: Billed) => runBilling(deps, tenant.tenant, billed.subscriptionId)

  async function invoicesOf(tenant: TestTenant, billed: Billed): Promise<Row[]> {
    const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true&order_direction=asc&order_by=created_at`
    const data: Row[] = (await succeed(tenant, 'GET', url))['data']
    return data.toSorted((a, b) => (a['billing_period_date'] < b['billing_period_date'] ? -1 : 1))
  }

  /** One DRAFT invoice of March with usage worth 0.05. */
  async function draftInvoice(tenant: TestTenant): Promise<{ billed: Billed; invoice: Row }> {
    setTime('2026-04-01T01:00:00Z')
    const billed = await subscribe(tenant)
    await useTokens(client, tenant, { billed, tokens: '3450', timestamp: '2026-03-15 12:00:00.000' })
    await run(tenant, billed)
    const [invoice] = (await invoicesOf(tenant, billed)).filter(each => each['status'] === 'DRAFT')
    if (!invoice) throw new Error('March has ended')
    return { billed, invoice }
  }

  return {
    api,
    client,
    deps,
    said,
    setTime,
    subscribe,
    run,
    invoicesOf,
    draftInvoice,
    close: async () => {
      await api.close()
      await client.close()
      await clickhouse.drop()
    },
  }
}
