// Test clocks, through the api: a year of a customer in one call, by the code that bills in LIVE.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { inTenant, SERVICE } from '../../../shared/database/database.ts'
import type { Answer, ApiHarness, TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { openWorkerDatabase } from '../../testing/worker.ts'
import { findDueBilling } from '../billing/run/jobs/billing-jobs.ts'
import { runBilling } from '../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'
import { claimBilling } from '../subscriptions/billing-time/next-billing.ts'
import { MONEY, walletsOf } from '../wallets/testing/wallets-of.ts'
import { amountOf, CLOCKS, type ClockRig, openClockRig, SUBSCRIPTIONS, start } from './testing/clock-rig.ts'

let rig: ClockRig
let api: ApiHarness
let tenant: TestTenant
/** Whether usage is there when a run waits for it. */
let settle = async (): Promise<boolean> => true
beforeAll(async () => {
  rig = await openClockRig(() => settle())
  ;({ api, tenant } = rig)
})
afterAll(() => api.close())

const living: ClockRig['living'] = options => rig.living(options)
const advance: ClockRig['advance'] = (clock, time) => rig.advance(clock, time)
const subscriptionOf: ClockRig['subscriptionOf'] = billed => rig.subscriptionOf(billed)
const invoicesOf: ClockRig['invoicesOf'] = billed => rig.invoicesOf(billed)

describe('a year', () => {
  test('of a monthly subscription is billed by one call, each invoice at its time', async () => {
    const { billed, clock } = await living()
    expect(await subscriptionOf(billed)).toMatchObject({ status: 'ACTIVE', activated_at: start })
    const answer = await advance(clock, '2026-01-01T00:00:00Z')
    expect(answer).toMatchObject({
      status: 200,
      body: { object_type: 'TEST_CLOCK', status: 'READY', frozen_time: '2026-01-01T00:00:00Z', failures: [] },
    })
    // Thousands would mean that it looks at every hour.
    expect(answer.body['billing_runs']).toBeLessThan(40)
    const invoices = await invoicesOf(billed)
    const final = invoices.filter(({ status }) => status === 'FINAL')
    expect(final.map(amountOf)).toEqual(Array(12).fill('100.00'))
    const inOrder = final.toSorted((a, b) => (a['updated_to_final_at'] < b['updated_to_final_at'] ? -1 : 1))
    const numbers = inOrder.map(invoice => Number(/[0-9]+$/.exec(invoice['invoice_number'])?.[0]))
    expect(numbers).toEqual(numbers.map((_, index) => Math.min(...numbers) + index))
    // Made when their time was, not on the day of the test.
    expect(inOrder.map(invoice => invoice['updated_to_final_at'].slice(0, 7))).toEqual(
      Array.from({ length: 12 }, (_, month) => `2025-${String(month + 1).padStart(2, '0')}`),
    )
    expect(
      invoices
        .filter(({ status }) => status !== 'FINAL')
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual(['DRAFT', 'OPEN'])
  })

  test('of two subscriptions that combine is one invoice a month', async () => {
    const subscription = { combine: true }
    const { billed, clock } = await living({ subscription })
    const { customer_id, billing_entity_id } = await subscriptionOf(billed)
    const shared = { ...subscription, customer_id, billing_entity_id }
    const other = await billedSubscription(tenant, { start_at: start, fee: '50', subscription: shared })
    expect((await advance(clock, '2025-04-01T00:00:00Z')).body['failures']).toEqual([])
    const finals = (await invoicesOf(billed)).filter(({ status }) => status === 'FINAL')
    expect(finals.map(amountOf)).toEqual(['150.00', '150.00', '150.00'])
    expect((await invoicesOf(other)).filter(({ status }) => status === 'FINAL')).toEqual(finals)
  })

  test('in steps gives the same as at once', async () => {
    const [one, many] = [await living(), await living()]
    await advance(one.clock, '2025-06-15T12:00:00Z')
    for (const day of ['2025-01-20', '2025-03-01', '2025-03-02', '2025-06-15'])
      await advance(many.clock, `${day}T12:00:00Z`)
    const shown = (invoices: Row[]) =>
      invoices.map(invoice => [
        invoice['status'],
        invoice['period_start'],
        invoice['updated_to_final_at'],
        amountOf(invoice),
      ])
    expect(shown(await invoicesOf(many.billed))).toEqual(shown(await invoicesOf(one.billed)))
  })

  test('has its trial, its change of plan, its pause and the end of its term in the time of the clock', async () => {
    const { billed, clock } = await living({
      subscription: { initial_term: { type: 'MONTH', value: 6 }, auto_renewal: false },
      schedule: async () => ({ type: 'TRIAL', end_at: '2025-02-01T00:00:00Z' }),
      activate: false,
    })
    const [trial] = (
      await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${billed.subscriptionId}`)
    )['data']
    const { id } = await succeed(tenant, 'POST', '/v1/pricing-plan-schedules', {
      pricing_plan_subscription_id: billed.subscriptionId,
      pricing_plan_version_id: trial.pricing_plan_version_id,
      start_at: '2025-02-01T00:00:00Z',
    })
    await succeed(tenant, 'POST', `/v1/pricing-plan-schedules/${id}/activate`)
    await advance(clock, '2025-03-20T00:00:00Z')
    const paused = await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/${billed.subscriptionId}/pause`, {
      end_at: '2025-04-16T00:00:00Z',
    })
    expect(paused['inactive_periods'][0]).toMatchObject({ type: 'PAUSE', start_at: '2025-03-20T00:00:00Z' })
    await advance(clock, '2025-08-01T00:00:00Z')
    expect(await subscriptionOf(billed)).toMatchObject({ status: 'CANCELLED' })
    const final = (await invoicesOf(billed)).filter(({ status }) => status === 'FINAL')
    // February and March were charged before the pause; of April the 15 days after it; nothing of the trial, nor after June.
    expect(final.map(amountOf).filter(amount => amount !== '0.00')).toEqual([
      '100.00',
      '100.00',
      '50.00',
      '100.00',
      '100.00',
    ])
  })
})

describe('an answer', () => {
  test('names what usage that is behind holds up where the clock comes to stand, until a later run bills it', async () => {
    const { billed, clock } = await living()
    // Its month ended an hour ago, and its invoice is a DRAFT until its grace period is over.
    await advance(clock, '2025-02-01T01:00:00Z')
    settle = async () => false
    const held = await advance(clock, '2025-02-01T01:00:01Z').finally(() => {
      settle = async () => true
    })
    expect(held.body['failures']).toEqual([
      {
        pricing_plan_subscription_id: billed.subscriptionId,
        at: '2025-02-01T01:00:01Z',
        message: expect.stringContaining('cannot be made FINAL yet'),
      },
    ])
    expect((await advance(clock, '2025-02-01T01:00:02Z')).body['failures']).toEqual([])
    // The next period begins a minute or a second later, which is no fault.
    expect((await advance(clock, '2025-02-28T23:59:00Z')).body['failures']).toEqual([])
    expect((await advance(clock, '2025-02-28T23:59:59Z')).body['failures']).toEqual([])
  })

  test('comes before the last runs when the time of a call is over, and the next call does them', async () => {
    const { clock } = await living()
    let waited = 0
    const now = performance.now.bind(performance)
    const spied = vi.spyOn(performance, 'now').mockImplementation(() => now() + waited)
    settle = async () => {
      waited += 9_000
      return true
    }
    const call = () => tenant.call('POST', `${CLOCKS}/${clock}/advance`, { frozen_time: '2025-02-20T00:00:00Z' })
    const answers: Answer[] = []
    try {
      while (answers.at(-1)?.body['complete'] !== true && answers.length < 20) {
        waited = 0
        answers.push(await call())
      }
    } finally {
      settle = async () => true
      spied.mockRestore()
    }
    expect(answers.at(-1)?.body).toMatchObject({ complete: true, failures: [], frozen_time: '2025-02-20T00:00:00Z' })
    // Nothing fell due in the last call.
    expect(answers.map(({ body }) => [body['complete'], body['billing_runs'] > 0])).toEqual([
      ...answers.slice(1).map(() => [false, true]),
      [true, false],
    ])
  })
})

describe('nothing else', () => {
  test('bills a customer of a clock: no job claims it, and a run for it is in its time', async () => {
    const { billed } = await living()
    const worker = await openWorkerDatabase(api, 1)
    const ids = (await findDueBilling(worker)).map(({ id }) => id)
    await worker.close()
    expect(ids).not.toContain(billed.subscriptionId)
    const claimed = await inTenant(api.database, tenant.tenant, SERVICE, uow =>
      claimBilling(uow, { max: 1_000, until: uow.now }),
    )
    expect(claimed.map(({ id }) => id)).not.toContain(billed.subscriptionId)
    const { invoices } = await runBilling(
      { database: api.database, usage: NO_USAGE },
      tenant.tenant,
      billed.subscriptionId,
    )
    expect(invoices.map(({ status, created_at }) => [status, created_at.slice(0, 10)]).toSorted()).toEqual([
      ['DRAFT', '2025-01-01'],
      ['OPEN', '2025-01-01'],
    ])
  })

  test('bills in an earlier time: a run that was under way when the clock moved is done again in the new one', async () => {
    const { billed, clock } = await living()
    await advance(clock, '2025-01-15T00:00:00Z')
    let reach: () => void = () => {}
    const reached = new Promise<void>(resolve => {
      reach = resolve
    })
    let open: () => void = () => {}
    const opened = new Promise<void>(resolve => {
      open = resolve
    })
    // The job that follows a change, held between what it computed and what it saves.
    const failpoint = async (name: string): Promise<void> => {
      if (name !== 'billing.before-invoice') return
      reach()
      await opened
    }
    const job = runBilling({ database: api.database, usage: NO_USAGE, failpoint }, tenant.tenant, billed.subscriptionId)
    await reached
    await advance(clock, '2025-03-20T12:00:00Z')
    const answered = await invoicesOf(billed)
    const due = await subscriptionOf(billed)
    open()
    await job
    expect(await invoicesOf(billed)).toEqual(answered)
    expect(await subscriptionOf(billed)).toEqual(due)
  })

  test('is left to bill what had changed when advance answers', async () => {
    const { billed, clock } = await living()
    await advance(clock, '2025-01-15T00:00:00Z')
    await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${billed.subscriptionId}`, { sales_tax_percentage: '21' })
    await advance(clock, '2025-01-15T00:00:01Z')
    const answered = await invoicesOf(billed)
    expect(answered.map(amountOf)).toContain('100.00')
    // The job that follows the change finds nothing to do.
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, billed.subscriptionId)
    const version = ({ updated_at: _, ...shown }: Row) => shown
    expect((await invoicesOf(billed)).map(version)).toEqual(answered.map(version))
  })

  test('tells the time of payments: they are recorded and reversed in that of the customer', async () => {
    const { billed, clock } = await living()
    await advance(clock, '2025-02-02T00:00:00Z')
    const final = (await invoicesOf(billed)).find(({ status }) => status === 'FINAL')
    const paid = { invoice_id: final?.['id'], amount: { quantity: '100.00', currency: 'EUR' } }
    const payment = await succeed(tenant, 'POST', '/v1/payments', paid)
    expect(payment).toMatchObject({ timestamp: '2025-02-02T00:00:00Z' })
    await advance(clock, '2025-02-03T00:00:00Z')
    await succeed(tenant, 'POST', `/v1/payments/${payment['id']}/reverse`, {})
    expect(await succeed(tenant, 'GET', `/v1/payments/${payment['id']}`)).toMatchObject({
      result: 'CANCELLED',
      updated_at: expect.stringMatching(/^2025-02-03T00:00:00/),
    })
  })

  test('tells the time of a wallet, whether its reference or its id names it', async () => {
    const { billed, clock } = await living()
    const { wallet, grant, balance } = await walletsOf(tenant)
    const own = await wallet(MONEY, billed.customerId)
    await advance(clock, '2025-02-02T00:00:00Z')
    const granted = await grant(own, '30.00', { expire_at: '2025-03-01T00:00:00Z' })
    expect([granted.status, granted.body]).toEqual([201, expect.anything()])
    const named = { ...own, id: own['reference'] }
    expect(await Promise.all([own, named].map(each => balance(each)))).toEqual(['30 / 0 / 30', '30 / 0 / 30'])
    await advance(clock, '2025-03-02T00:00:00Z')
    expect(await Promise.all([own, named].map(each => balance(each)))).toEqual(['0 / 0 / 0', '0 / 0 / 0'])
  })

  test('what happened is sent on the day it happened', async () => {
    const { billed } = await living()
    const rows = await api.sql(
      `select created_at::text as at, data ->> 'activated_at' as activated from outbox
       where object_id = $1 and type = 'PRICING_PLAN_SUBSCRIPTION.ACTIVATED'`,
      [billed.subscriptionId],
    )
    expect(rows).toEqual([{ at: expect.stringContaining('2026-11-22'), activated: start }])
  })
})
