// A subscription since 1 February 2026 whose first schedule ends on the 11th, and the DRAFT that starts there.
import { type ApiHarness, startApi, type TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { type Billed, billedSubscription, succeed } from '../../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../../testing/no-usage.ts'
import { runBilling } from '../../run-billing.ts'

const SCHEDULES = '/v1/pricing-plan-schedules'
const [START, CHANGE] = ['2026-02-01T00:00:00Z', '2026-02-11T00:00:00Z']

export type Continued = {
  /** Of the price of the fee. */
  readonly feeConfig: Record<string, unknown>
  readonly subscription?: Record<string, unknown>
  /** Other members of the DRAFT. */
  readonly draft?: (tenant: TestTenant) => Promise<Record<string, unknown>>
  /** When the DRAFT is activated. */
  readonly activated: string
  /** The first schedule has an end from the start, and the DRAFT is made when it is activated. */
  readonly madeLate?: boolean
  /** Calls before that, by their time. */
  readonly calls?: readonly (readonly [time: string, call: (billed: Billed) => Promise<unknown>])[]
}

export type LateRig = {
  readonly api: ApiHarness
  readonly tenant: TestTenant
  /** A fee of 280 a month, and the DRAFT when it has been activated. */
  continued(of: Continued): Promise<Billed>
  /** Its invoices once March has been issued: what each is for, its status and its amount, in the order of time. */
  untilApril(billed: Billed): Promise<string[]>
  readonly invoices: (billed: Billed) => Promise<string[]>
}

/** Starts an api without usage. */
export async function startLate(): Promise<LateRig> {
  const api = await startApi({ usage: NO_USAGE })
  const tenant = api.tenants.aLive
  const setTime = (text: string): void => api.clock.set(Date.parse(text))
  const run = ({ subscriptionId }: Billed) =>
    runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)

  async function invoices(billed: Billed): Promise<string[]> {
    const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true&include_periods=true`
    const data: Row[] = (await succeed(tenant, 'GET', url))['data']
    return data
      .filter(({ status }) => status !== 'ARCHIVED')
      .map(invoice => {
        const times = invoice['periods'].map(
          (period: Row) => `${String(period['start_at']).slice(0, 10)} to ${String(period['end_at']).slice(0, 10)}`,
        )
        return `${times.join(', ')} ${invoice['status']} ${invoice['invoice_amount_excluding_tax'].quantity}`
      })
      .toSorted()
  }

  return {
    api,
    tenant,
    invoices,
    continued: async of => {
      const { feeConfig, activated, madeLate = false, calls = [] } = of
      setTime(START)
      const billed = await billedSubscription(tenant, {
        start_at: START,
        fee: '280',
        feeConfig,
        subscription: { billing_time: 'CALENDAR', ...of.subscription },
        schedule: async () => (madeLate ? { end_at: CHANGE } : {}),
      })
      await run(billed)
      const { data } = await succeed(
        tenant,
        'GET',
        `${SCHEDULES}?pricing_plan_subscription_id=${billed.subscriptionId}`,
      )
      const make = async (): Promise<Row> =>
        await succeed(tenant, 'POST', `${SCHEDULES}?set_previous_end_at=true`, {
          pricing_plan_subscription_id: billed.subscriptionId,
          pricing_plan_version_id: data[0].pricing_plan_version_id,
          start_at: CHANGE,
          ...(await of.draft?.(tenant)),
        })
      setTime('2026-02-05T00:00:00Z')
      const early = madeLate ? null : await make()
      for (const time of [
        '2026-02-05T01:00:00Z',
        '2026-02-11T00:30:00Z',
        '2026-02-11T12:00:00Z',
        '2026-02-13T00:00:00Z',
      ]) {
        if (time > activated) continue
        setTime(time)
        await run(billed)
      }
      for (const [time, call] of calls) {
        setTime(time)
        await call(billed)
      }
      setTime(activated)
      const { id } = early ?? (await make())
      await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)
      await run(billed)
      return billed
    },
    untilApril: async billed => {
      for (const time of ['2026-04-01T12:00:00Z', '2026-04-03T00:00:00Z']) {
        setTime(time)
        await run(billed)
        await run(billed)
      }
      return await invoices(billed)
    },
  }
}
