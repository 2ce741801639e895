// Previews of a simulated year: a second before each period ends, what its invoice is said to be.
import { formatInstant, instantOf } from '../../../../../../shared/time.ts'
import { succeed } from '../../../../../testing/calls.ts'
import type { TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { closingsOf } from '../closings.ts'
import type { Story } from '../story.ts'
import type { Beside } from './live-year.ts'

const BEFORE_MS = 1_000
const NOTHING_MORE = 'INVALID_OPERATION'

/** An invoice as it was previewed, and when its period ends. */
export type Previewed = { readonly cutoff: string; readonly invoice: Row }

export class Previews implements Beside {
  readonly moments: readonly number[]
  readonly made: Previewed[] = []
  private readonly tenant: TestTenant
  private readonly customer: string

  constructor(tenant: TestTenant, story: Story, customer: string) {
    this.tenant = tenant
    this.customer = customer
    const happens = [...story.actions.map(({ at }) => at), ...story.usage.map(({ time }) => time)]
    this.moments = closingsOf(story)
      .map(({ cutoff }) => ({ cutoff, moment: cutoff - BEFORE_MS }))
      .filter(({ cutoff, moment }) => moment > story.start && !happens.some(at => moment <= at && at <= cutoff))
      .map(({ moment }) => moment)
  }

  async step(now: number, last: boolean): Promise<void> {
    if (last) return
    const { data } = await succeed(this.tenant, 'GET', `/v1/pricing-plan-subscriptions?customer_id=${this.customer}`)
    for (const { id } of data.filter((each: Row) => each['status'] === 'ACTIVE')) {
      const answer = await this.tenant.call('POST', '/v1/invoices/preview', { pricing_plan_subscription_id: id })
      if (answer.body['code'] === NOTHING_MORE) continue
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      this.made.push({ cutoff: formatInstant(instantOf(now + BEFORE_MS)), invoice: answer.body['invoice'] })
    }
  }

  firstPayment(): null {
    return null
  }

  firstPaid(): void {
    // Nothing is paid.
  }
}
