// Subscriptions whose usage a test says, the invoices of March that are open, and the reprocesses of them.
import { expect } from 'vitest'
import { decimal } from '../../../../../shared/decimal.ts'
import { instantOf } from '../../../../../shared/time.ts'
import { startOwnApi } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { invoiceProducers } from '../../../modules.ts'
import type { BillingDeps } from '../../run/compute-invoice.ts'
import { runBilling } from '../../run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import type { UsageReader } from '../../usage/usage-reader.ts'
import { type ReprocessDeps, runReprocess } from '../run-reprocess.ts'

export const NOW = '2026-03-20T00:00:00Z'

export const ofCustomer = (of: Pick<Billed, 'customerId'>, more: object = {}) => ({
  type: 'CUSTOMER',
  customer: { customer_id: of.customerId, ...more },
})

export async function openReprocessRig() {
  /** What a test says of usage; `tokens` is what every customer has used, and `faults`, by customer, replaces it. */
  const said = {
    tokens: '1000000',
    faults: new Map<string, Error>(),
    complete: true,
    upToDate: async (): Promise<number> => Date.parse(NOW),
  }
  const usual = { ...said }
  const usage: UsageReader = {
    ...NO_USAGE,
    read: async (_tenant, parts) => {
      const fault = parts.flatMap(part => part.customerKeys.map(key => said.faults.get(key))).find(Boolean)
      if (fault) throw fault
      return [{ currency: null, number: decimal(said.tokens), count: 1 }]
    },
    settle: async () => said.complete,
    upToDateUntil: async () => instantOf(await said.upToDate()),
  }
  const api = await startOwnApi({ usage })
  const tenant = api.tenants.aLive
  const deps: BillingDeps = { database: api.database, usage }
  /** Removes every reprocess, as if no invoice waited for one. */
  async function clear(): Promise<void> {
    await api.sql('truncate reprocess_items, reprocesses')
    await api.sql(`update invoices set to_be_reprocessed_at = null where status <> 'FINAL'`)
  }
  /** Ignores what earlier tests left behind. */
  async function reset(): Promise<void> {
    api.clock.set(Date.parse(NOW))
    Object.assign(said, { ...usual, faults: new Map() })
    await clear()
  }

  /** A subscription since March 1 with the OPEN invoice of March, worth 15.00. */
  async function billed(): Promise<Billed & { invoice: string }> {
    const made = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
    await runBilling(deps, tenant.tenant, made.subscriptionId)
    const url = `/v1/invoices?pricing_plan_subscription_id=${made.subscriptionId}`
    const [invoice]: Row[] = (await succeed(tenant, 'GET', url))['data']
    return { ...made, invoice: invoice?.['id'] }
  }
  const invoiceOf = (id: string) => succeed(tenant, 'GET', `/v1/invoices/${id}`)
  const amountOf = async (id: string) => (await invoiceOf(id))['invoice_amount_excluding_tax'].quantity
  const create = (body: object) => succeed(tenant, 'POST', '/v1/reprocess', body)
  const read = (id: string) => succeed(tenant, 'GET', `/v1/reprocess/${id}`)
  const withProducers = (of: BillingDeps): ReprocessDeps => ({ ...of, producers: invoiceProducers(of) })
  const run = (id: string, more: { last?: boolean; deps?: Partial<BillingDeps> } = {}) =>
    runReprocess(withProducers({ ...deps, ...more.deps }), { tenant: tenant.tenant, id, last: more.last ?? false })
  const finalize = async (of: Billed & { invoice: string }) => {
    api.clock.set(Date.parse('2026-04-02T00:00:00Z'))
    await runBilling(deps, tenant.tenant, of.subscriptionId)
    expect((await invoiceOf(of.invoice))['status']).toBe('FINAL')
  }

  return { api, tenant, deps, said, clear, reset, billed, invoiceOf, amountOf, create, read, run, finalize }
}
