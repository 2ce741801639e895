// Two subscriptions of a customer that combine, billed by runs at the times of a test.
import { expect } from 'vitest'
import { decimal } from '../../../../../../shared/decimal.ts'
import { idOf } from '../../../../../../shared/ids.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { type Billed, billedSubscription, succeed } from '../../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../../testing/no-usage.ts'
import type { UsageFigure } from '../../../usage/usage-needs.ts'
import { verifyInvoice } from '../../../why/verify-invoice.ts'
import type { BillingDeps } from '../../compute-invoice.ts'
import { runGroup } from '../../group/run-group.ts'

export const START = '2026-03-01T00:00:00Z'
export const MARCH = '2026-03-10T00:00:00Z'
export const APRIL = '2026-04-01T01:00:00Z'
/** After the grace period of what March has. */
export const FINAL = '2026-04-02T00:00:00Z'

type Over = {
  readonly fee?: string
  readonly feeConfig?: Record<string, unknown>
  readonly discount?: unknown
  readonly subscription?: Record<string, unknown>
}

export type CombiningRig = {
  readonly api: ApiHarness
  readonly tenant: TestTenant
  readonly deps: BillingDeps
  /** How many tokens every period has; 4,000 whenever subscriptions are made. */
  tokens: string
  setTime(text: string): void
  /** Subscriptions of one customer, at 0.50 and 2 euros a thousand tokens unless it says otherwise. */
  subscribed(first?: Over, second?: Over, secondStarts?: string): Promise<[Billed, Billed]>
  /** A run of all of them together at a time. */
  run(all: readonly Billed[], time: string, by?: BillingDeps): ReturnType<typeof runGroup>
  invoicesOf(one: Billed, status: string): Promise<Row[]>
  /** The one FINAL invoice of a subscription. */
  finalOf(one: Billed): Promise<Row>
  /** What verifying an invoice finds. */
  verified(id: unknown): ReturnType<typeof verifyInvoice>
  patch(url: string, body: object): Promise<Row>
}

export const idsOfBilled = (all: readonly Billed[]): string[] => all.map(({ subscriptionId }) => subscriptionId)

/** Starts an api whose every period has as many tokens as `tokens` says. */
export async function startCombining(): Promise<CombiningRig> {
  const usage = {
    ...NO_USAGE,
    read: async (): Promise<UsageFigure[]> => [{ currency: null, number: decimal(rig.tokens), count: 2 }],
  }
  const api = await startApi({ usage })
  const tenant = api.tenants.aTest
  const deps: BillingDeps = { database: api.database, usage }
  const rig: CombiningRig = {
    api,
    tenant,
    deps,
    tokens: '4000',
    setTime: text => api.clock.set(Date.parse(text)),
    subscribed: async (first = {}, second = {}, secondStarts = START) => {
      rig.setTime(MARCH)
      rig.tokens = '4000'
      const band = (quantity: string) => [{ amount: { quantity, currency: 'EUR' }, block_size: { number: '1000' } }]
      const made = (over: Over, bands: unknown, shared: Record<string, unknown>, start_at = START) =>
        billedSubscription(tenant, {
          start_at,
          bands,
          ...(over.fee ? { fee: over.fee } : {}),
          ...(over.feeConfig ? { feeConfig: over.feeConfig } : {}),
          subscription: { combine: true, ...shared, ...over.subscription },
          ...(over.discount ? { schedule: async () => ({ discount: over.discount as never }) } : {}),
        })
      const one = await made(first, band('0.5'), {})
      const { billing_entity_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${one.subscriptionId}`)
      return [one, await made(second, band('2'), { customer_id: one.customerId, billing_entity_id }, secondStarts)]
    },
    run: async (all, time, by = deps) => {
      rig.setTime(time)
      return await runGroup(by, tenant.tenant, idsOfBilled(all))
    },
    invoicesOf: async ({ subscriptionId }, status) => {
      const query = `pricing_plan_subscription_id=${subscriptionId}&statuses[]=${status}&include_lines=true`
      return (await succeed(tenant, 'GET', `/v1/invoices?${query}`))['data']
    },
    finalOf: async one => {
      const [final, ...more] = await rig.invoicesOf(one, 'FINAL')
      expect(more).toEqual([])
      return final as Row
    },
    verified: id => verifyInvoice(deps, tenant.tenant, idOf('invo', String(id))),
    patch: (url, body) => succeed(tenant, 'PATCH', `/v1/${url}`, body),
  }
  return rig
}
