// Terms of subscriptions and schedules through the api: what takes the place of another, by what it is paid, how its version and its
// billing entity are chosen, and what is pending review.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instantOf } from '../../../shared/time.ts'
import { refusal } from '../../testing/catalog.ts'
import type { ApiHarness, TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { runBilling } from '../billing/run/run-billing.ts'
import { billedSubscription } from '../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { paymentAcceptorResource } from '../parties/payment-acceptors/payment-acceptor.ts'
import {
  makeActiveSubscription,
  makeSchedule,
  makeSubscription,
  makeVersion,
  succeed,
} from './testing/seed-subscription.ts'
import { startAt } from './testing/start-at.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z', 'TEST'))
})
afterAll(() => stop())

const PATH = '/v1/pricing-plan-subscriptions'
const SCHEDULES = '/v1/pricing-plan-schedules'
const get = (id: string, query = ''): Promise<Row> => succeed(tenant, 'GET', `${PATH}/${id}${query}`)
const patch = (id: string, body: object) => tenant.call('PATCH', `${PATH}/${id}`, body)
const FROM = 'upgraded_from_pricing_plan_subscription_id'
const TO = 'upgraded_to_pricing_plan_subscription_id'

describe('a subscription that takes the place of another', () => {
  /** A DRAFT of the customer of another subscription, which names that one. */
  async function successor(old: string, start_at: string, more: object = {}): Promise<string> {
    const { customer_id, billing_entity_id, billing_currency } = await get(old)
    const body = { customer_id, billing_entity_id, billing_currency, [FROM]: old, ...more }
    const { id } = await succeed(tenant, 'POST', PATH, body)
    await makeSchedule(tenant, id, start_at)
    return id
  }

  test('ends it where it starts, whatever is said of its end afterwards', async () => {
    const old = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const start_at = '2026-03-20T00:00:00Z'
    const next = await successor(old, start_at)
    expect((await get(old))[TO]).toBeNull()
    await succeed(tenant, 'PATCH', `${PATH}/${next}`, { status: 'ACTIVE' })
    expect(await get(next)).toMatchObject({ status: 'ACTIVE', [FROM]: old, [TO]: null })
    expect(await get(old)).toMatchObject({
      status: 'ACTIVE',
      [TO]: next,
      inactive_periods: [{ type: 'UPGRADE', start_at }],
    })
    // It ends by that alone: it is not cancelled otherwise, nor renewed past it.
    for (const type of ['UNDO', 'NOW'])
      expect((await tenant.call('POST', `${PATH}/${old}/cancel`, { type })).body).toMatchObject({
        code: 'INVALID_OPERATION',
        resource_id: next,
      })
    await succeed(tenant, 'PATCH', `${PATH}/${old}`, { auto_renewal: false })
    expect((await get(old))['inactive_periods']).toMatchObject([{ type: 'UPGRADE', start_at }])
    const [stored] = await api.sql(
      'select cancelled_at, next_billing_at from pricing_plan_subscriptions where id = $1',
      [old],
    )
    expect([stored?.['cancelled_at'], stored?.['next_billing_at']].map(time => new Date(time).toISOString())).toEqual([
      '2026-03-20T00:00:00.000Z',
      '2026-03-11T10:00:00.000Z',
    ])
  })

  test('ends it where it starts, also when that has passed, and gives it back when it is voided before', async () => {
    const old = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const start_at = '2026-03-05T00:00:00Z'
    await succeed(tenant, 'PATCH', `${PATH}/${await successor(old, start_at)}`, { status: 'ACTIVE' })
    expect(await get(old)).toMatchObject({
      status: 'CANCELLED',
      inactive_periods: [{ type: 'UPGRADE', start_at, refund_advance_charges: true }],
    })
    const other = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const next = await successor(other, '2026-03-20T00:00:00Z')
    await succeed(tenant, 'PATCH', `${PATH}/${next}`, { status: 'ACTIVE' })
    await succeed(tenant, 'POST', `${PATH}/${next}/void`)
    const undone = await succeed(tenant, 'POST', `${PATH}/${other}/cancel`, { type: 'UNDO' })
    expect(undone).toMatchObject({ [TO]: null, inactive_periods: [] })
  })

  test('is refused where it cannot: another customer, itself, a template, one that has ended or is taken', async () => {
    const old = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const draft = await successor(old, '2026-03-20T00:00:00Z')
    const refused = [400, 'INVALID_FIELD', FROM]
    expect(refusal(await patch(draft, { [FROM]: draft }))).toEqual(refused)
    expect(refusal(await patch(draft, { [FROM]: await makeSubscription(tenant) }))).toEqual(refused)
    expect(refusal(await patch(draft, { [FROM]: 'ppsu_0000000000000000000000' }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      FROM,
    ])
    const { billing_entity_id } = await get(old)
    const template = { billing_entity_id, billing_currency: 'EUR', type: 'TEMPLATE', [FROM]: old }
    expect(refusal(await tenant.call('POST', PATH, template))).toEqual(refused)
    const second = await successor(old, '2026-03-20T00:00:00Z')
    // Of two that are activated at once, one takes its place.
    const answers = await Promise.all([draft, second].map(id => patch(id, { status: 'ACTIVE' })))
    const lost = answers.find(({ status }) => status !== 200)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    expect(lost?.body).toMatchObject({ code: 'INVALID_OPERATION', field: FROM, resource_id: old })
    const [won, failed] = answers[0]?.status === 200 ? [draft, second] : [second, draft]
    expect([(await get(old))[TO], (await get(failed))['status']]).toEqual([won, 'DRAFT'])
    const copy = await succeed(tenant, 'POST', `${PATH}/${won}/copy`, {})
    expect(copy[FROM]).toBeNull()
    // Nor does one that starts earlier take the place of one that is taken.
    const third = await successor(old, '2026-03-15T00:00:00Z')
    expect(await patch(third, { status: 'ACTIVE' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', field: FROM, resource_id: old },
    })
    expect((await get(old))[TO]).toBe(won)
    const ended = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const late = await successor(ended, '2026-03-20T00:00:00Z')
    await succeed(tenant, 'POST', `${PATH}/${ended}/cancel`, { type: 'DATE', cancel_at: '2026-04-15T00:00:00Z' })
    expect(refusal(await patch(late, { status: 'ACTIVE' }))).toEqual([400, 'INVALID_OPERATION', FROM])
    expect((await get(ended))['inactive_periods']).toMatchObject([{ type: 'CANCEL', start_at: '2026-04-15T00:00:00Z' }])
    await succeed(tenant, 'POST', `${PATH}/${ended}/cancel`, { type: 'NOW' })
    expect(refusal(await patch(late, { status: 'ACTIVE' }))).toEqual([400, 'INVALID_OPERATION', FROM])
  })

  test('leaves one alone that has become the subscription of another customer', async () => {
    const moved = await makeSubscription(tenant)
    await makeSchedule(tenant, moved, '2026-03-01T00:00:00Z')
    const next = await successor(moved, '2026-03-20T00:00:00Z')
    const { id: customer_id } = await tenant.seed.make(customerResource)
    await succeed(tenant, 'PATCH', `${PATH}/${moved}`, { customer_id, status: 'ACTIVE' })
    expect(refusal(await patch(next, { status: 'ACTIVE' }))).toEqual([400, 'INVALID_FIELD', FROM])
    expect(await get(moved)).toMatchObject({ status: 'ACTIVE', [TO]: null, inactive_periods: [] })
  })

  test('charges no day that the other one charges, and is refused where a FINAL invoice has billed it', async () => {
    const deps = { database: api.database, usage: NO_USAGE }
    const at = (time: string) => api.clock.set(instantOf(Date.parse(time)))
    at('2027-03-01T10:00:00Z')
    const { subscriptionId: old } = await billedSubscription(tenant, { start_at: '2027-03-01T00:00:00Z', fee: '31' })
    await runBilling(deps, tenant.tenant, old)
    // The fee of March is FINAL; of its 31 days the last 21 are the other subscription's.
    at('2027-03-20T10:00:00Z')
    await runBilling(deps, tenant.tenant, old)
    const invoices = async (): Promise<unknown[][]> =>
      (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${old}`))['data'].map((each: Row) => [
        each['status'],
        each['invoice_amount_excluding_tax'].quantity,
      ])
    const early = await successor(old, '2027-03-01T00:00:00Z')
    expect(await patch(early, { status: 'ACTIVE' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', field: FROM, resource_id: old },
    })
    const next = await successor(old, '2027-03-11T00:00:00Z')
    await succeed(tenant, 'PATCH', `${PATH}/${next}`, { status: 'ACTIVE' })
    await runBilling(deps, tenant.tenant, old)
    expect((await invoices()).map(([, quantity]) => quantity).toSorted()).toEqual(['-21.00', '31.00'])
    at('2026-03-11T10:00:00Z')
  })
})

describe('payment_acceptor_ids', () => {
  test('are those by which its invoices can be paid, of its billing entity', async () => {
    const acceptor = await tenant.seed.make(paymentAcceptorResource)
    const id = await makeSubscription(tenant)
    expect((await get(id))['payment_acceptor_ids']).toEqual([])
    const FIELD = 'payment_acceptor_ids.0'
    expect(refusal(await patch(id, { payment_acceptor_ids: [acceptor.id] }))).toEqual([400, 'INVALID_FIELD', FIELD])
    const own = { billing_entity_id: acceptor.billing_entity_id, payment_acceptor_ids: [acceptor.id] }
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, own)
    const shown = await get(id, '?expand[]=payment_acceptors')
    expect(shown['payment_acceptors']).toMatchObject([{ id: acceptor.id, type: 'BANK_ACCOUNT' }])
    const unknown = await patch(id, { payment_acceptor_ids: ['paya_0000000000000000000000'] })
    expect(refusal(unknown)).toEqual([404, 'RESOURCE_NOT_FOUND', FIELD])
    const other = await succeed(tenant, 'POST', '/v1/payment-acceptors', {
      billing_entity_id: acceptor.billing_entity_id,
      reference: tenant.seed.unique('link'),
      type: 'CUSTOM_REDIRECT',
      custom_redirect: { url: 'https://pay.example.com' },
    })
    await makeSchedule(tenant, id, '2026-03-01T00:00:00Z')
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
    const { next_invoice } = await get(id)
    const payable = async (): Promise<unknown> =>
      (await succeed(tenant, 'GET', `/v1/invoices/${next_invoice['invoice_id']}`))['payment_acceptor_ids']
    expect(await payable()).toEqual([acceptor.id])
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { payment_acceptor_ids: [] })
    expect(await payable()).toEqual([acceptor.id, other['id']])
    await succeed(tenant, 'PATCH', `/v1/payment-acceptors/${other['id']}`, { status: 'DEPRECATED' })
    await succeed(tenant, 'PATCH', `/v1/payment-acceptors/${other['id']}`, { status: 'ARCHIVED' })
    const archived = await patch(id, { payment_acceptor_ids: [other['id']] })
    expect(refusal(archived)).toEqual([400, 'INVALID_FIELD', FIELD])
  })
})

describe('a template', () => {
  async function template(more: object): Promise<{ id: string }> {
    const { billing_entity_id } = await get(await makeSubscription(tenant))
    const body = { billing_entity_id, billing_currency: 'EUR', type: 'TEMPLATE', ...more }
    return { id: (await succeed(tenant, 'POST', PATH, body))['id'] }
  }
  const init = (template_pricing_plan_subscription_id: string, body: object) =>
    succeed(tenant, 'POST', `${PATH}/init`, { template_pricing_plan_subscription_id, ...body })

  test('has the billing entity chosen by the customer, unless the call names one', async () => {
    const settings = { template: { apply_billing_entity_selector: true } }
    const acceptor = await tenant.seed.make(paymentAcceptorResource)
    const { billing_entity_id: entity } = acceptor
    const payable = { billing_entity_id: entity, payment_acceptor_ids: [acceptor.id] }
    const { id } = await template({ ...settings, ...payable })
    await makeSchedule(tenant, id, '2026-01-01T00:00:00Z')
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    const chosen = await succeed(tenant, 'POST', '/v1/billing-entities', {
      reference: tenant.seed.unique('fo'),
      default_customer_country_selector: ['FO'],
    })
    const customerIn = async (country: string): Promise<string> =>
      (
        await succeed(tenant, 'POST', '/v1/customers', {
          type: 'INDIVIDUAL',
          individual: { residential_address: { country } },
        })
      )['id']
    const made = await init(id, { customer_id: await customerIn('FO') })
    // Payment acceptors of the template stay with its billing entity.
    const other = { billing_entity_id: chosen['id'], payment_acceptor_ids: [] }
    expect(made).toMatchObject({ ...other, type: 'BILLING', template: null })
    expect(await init(id, { customer_id: await customerIn('NL') })).toMatchObject(payable)
    const named = await init(id, { customer_id: await customerIn('FO'), billing_entity_id: entity })
    expect(named).toMatchObject(payable)
    const elsewhere = { customer_id: await customerIn('NL'), billing_entity_id: chosen['id'] }
    expect(await init(id, elsewhere)).toMatchObject(other)
    const billed = await makeSubscription(tenant)
    expect(refusal(await patch(billed, settings))).toEqual([400, 'INVALID_FIELD', 'template'])
  })

  test('sells the latest version of its plan, when it chose it so', async () => {
    const version = await makeVersion(tenant)
    const { pricing_plan_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${version}`)
    const selector = { pricing_plan_id, type: 'LATEST' }
    const versions: Record<string, string> = {}
    for (const [name, given] of [
      ['chosen', { pricing_plan_version_selector: selector }],
      ['by number', { pricing_plan_version_selector: { pricing_plan_id, type: 'VERSION', version: 1 } }],
      ['by id', { pricing_plan_version_id: version }],
    ] as const) {
      const { id } = await template({})
      const scheduled = { pricing_plan_subscription_id: id, start_at: '2026-01-01T00:00:00Z', ...given }
      const schedule = await succeed(tenant, 'POST', SCHEDULES, scheduled)
      expect(schedule['pricing_plan_version_selector'] ?? null).toEqual(
        'pricing_plan_version_selector' in given ? given.pricing_plan_version_selector : null,
      )
      await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
      versions[name] = id
    }
    const second = await succeed(tenant, 'POST', '/v1/pricing-plan-versions', {
      pricing_plan_id,
      copied_from_pricing_plan_version_id: version,
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${second['id']}`, { status: 'ACTIVE' })
    const customer_id = (await tenant.seed.make(customerResource))['id']
    const soldBy = async (name: string): Promise<string> =>
      (await init(versions[name] ?? '', { customer_id }))['pricing_plan_schedules'][0]['pricing_plan_version_id']
    expect(await soldBy('chosen')).toBe(second['id'])
    expect([await soldBy('by number'), await soldBy('by id')]).toEqual([version, version])
  })
})

describe('a schedule', () => {
  test('keeps how its version was named, until another one is', async () => {
    const version = await makeVersion(tenant)
    const { pricing_plan_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${version}`)
    const selector = { pricing_plan_id, type: 'VERSION', version: 1 }
    const id = await makeSchedule(tenant, await makeSubscription(tenant), '2026-03-20T00:00:00Z', {
      pricing_plan_version_selector: selector,
      pricing_plan_version_id: undefined,
    })
    const change = (body: object) => succeed(tenant, 'PATCH', `${SCHEDULES}/${id}`, body)
    const SELECTOR = 'pricing_plan_version_selector'
    expect((await succeed(tenant, 'GET', `${SCHEDULES}/${id}`))[SELECTOR]).toEqual(selector)
    // As a whole: nothing of the one before is left.
    expect((await change({ [SELECTOR]: { pricing_plan_id } }))[SELECTOR]).toEqual({ pricing_plan_id })
    expect((await change({ pricing_plan_version_id: version }))[SELECTOR]).toBeNull()
  })

  test('that is pending review is listed, and neither it nor the next one is activated', async () => {
    const id = await makeSubscription(tenant)
    const end_at = '2026-04-01T00:00:00Z'
    const first = await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { end_at })
    const second = await makeSchedule(tenant, id, end_at)
    expect((await get(id))['pending_review_pricing_plan_schedule_ids']).toEqual([])
    await api.sql(`update pricing_plan_schedules set approval_status = 'PENDING_REVIEW' where id = any ($1)`, [
      [second, first],
    ])
    const shown = await get(id)
    expect(shown).toMatchObject({
      pricing_plan_schedule_infos: [],
      pending_review_pricing_plan_schedule_ids: [first, second],
    })
    expect((await succeed(tenant, 'GET', `${SCHEDULES}/${first}`))['approval_status']).toBe('PENDING_REVIEW')
    const refused = { status: 400, body: { code: 'INVALID_OPERATION', resource_id: first } }
    expect(await tenant.call('POST', `${SCHEDULES}/${first}/activate`)).toMatchObject(refused)
    expect(await patch(id, { status: 'ACTIVE' })).toMatchObject(refused)
    await api.sql('update pricing_plan_schedules set approval_status = null where id = $1', [second])
    const next = await tenant.call('POST', `${SCHEDULES}/${second}/activate`)
    expect(next).toMatchObject({ ...refused, body: { message: expect.stringContaining('pending review') } })
  })
})

test('of a PATCH and the billing run that closes the period at once, one wins: the invoice has the discount, or the PATCH is refused', async () => {
  const deps = { database: api.database, usage: NO_USAGE }
  const won: boolean[] = []
  for (const first of ['ANY', 'RUN'] as const) {
    api.clock.set(instantOf(Date.parse('2027-05-01T10:00:00Z')))
    const { subscriptionId: id } = await billedSubscription(tenant, { start_at: '2027-05-01T00:00:00Z', fee: '100' })
    const [{ id: schedule }] = (await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${id}`))['data']
    const run = () => runBilling(deps, tenant.tenant, id)
    await run()
    api.clock.set(instantOf(Date.parse('2027-06-01T00:01:00Z')))
    await run()
    const list = `/v1/invoices?pricing_plan_subscription_id=${id}&statuses[]=DRAFT&statuses[]=FINAL`
    const june = (rows: Row[]) =>
      rows.find(row => row['invoice_amount_excluding_tax'].quantity !== '0' && row['status'] === 'DRAFT')
    const invoice = june((await succeed(tenant, 'GET', list))['data'])?.['id']
    api.clock.set(instantOf(Date.parse('2027-06-20T10:00:00Z')))
    const patching = () =>
      tenant.call('PATCH', `${SCHEDULES}/${schedule}`, { discount: { totals: [{ percentage: '10' }] } })
    // Either may be first; which one it is at the lock is up to the machine.
    const [patched] = await Promise.all(first === 'ANY' ? [patching(), run()] : [run().then(patching)])
    await run()
    const { status, invoice_amount_excluding_tax } = await succeed(tenant, 'GET', `/v1/invoices/${invoice}`)
    const { discount } = await succeed(tenant, 'GET', `${SCHEDULES}/${schedule}`)
    won.push(patched.status === 200)
    if (patched.status !== 200) expect(refusal(patched)).toEqual([400, 'INVALID_FIELD', 'discount.totals.0.start_at'])
    expect([status, invoice_amount_excluding_tax.quantity, discount === null]).toEqual(
      patched.status === 200 ? ['FINAL', '90.00', false] : ['FINAL', '100.00', true],
    )
  }
  // After the run it is always refused.
  expect(won[1]).toBe(false)
})
