// Top-ups: charges on demand that grant to a wallet, and those that a low balance sets off, each once (semantics 6).
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type EngineAnswer, NoTaxAnswer, type TaxEngine } from '../../../../shared/billing/tax/tax-engine.ts'
import type { Database } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { openWorkerDatabase } from '../../../testing/worker.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { expireGrants } from '../expiry/expire-grants.ts'
import { shown, walletsOf } from '../testing/wallets-of.ts'
import { findLowWallets, topUpOf } from './jobs.ts'
import { topUp, topUpWallets } from './top-up.ts'

const CHARGE = '/v1/invoices/charge-on-demand-pricing-items'
const CONFIGS = '/v1/auto-top-up-configs'
const NOW = '2026-03-10T12:00:00Z'
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

const TAXED: EngineAnswer = {
  treatment: 'TAXED',
  rates: [{ name: 'GST', percentage: '5' }],
  taxable_percentage: '100',
  note: null,
  registration_country: null,
  source: null,
}
/** What the tax engine says to each question. */
let say = (): EngineAnswer => TAXED
const ENGINE: TaxEngine = { name: 'fake', ask: async () => say() }

let api: ApiHarness
let tenant: TestTenant
let before: number
let worker: Database
let of: Awaited<ReturnType<typeof walletsOf>>
let types: { credits: string; money: string; other: string }
let items: Record<'PACK' | 'FREE' | 'CHOICE' | 'MONEY' | 'NOTHING', string>
let versionId: string
const post = (url: string, body: unknown): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)

beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE, taxEngine: ENGINE })
  tenant = api.tenants.bTest
  before = api.clock.now()
  api.clock.set(Date.parse(NOW))
  worker = await openWorkerDatabase(api, 1)
  of = await walletsOf(tenant)
  const money = { type: 'CREDIT', credit: { grant_type: 'AMOUNT', amount_grant: { default_currency: 'EUR' } } }
  types = {
    credits: (await of.walletType(of.CREDITS))['id'],
    money: (await of.walletType(money))['id'],
    other: (await of.walletType(of.CREDITS))['id'],
  }
  const { unique } = tenant.seed
  const product = await post('products', { reference: unique('product'), name: 'Packs', status: 'ACTIVE' })
  const credits = { quantity: '100', credit_type_id: of.creditType['id'] }
  const prices = {
    PACK: {
      pricing_type: 'FIXED',
      bands: [{ fixed_amount: eur('50') }],
      wallet_grants: [{ wallet_type_id: types.credits, credits_grant: { credits } }],
    },
    FREE: {
      pricing_type: 'FIXED',
      bands: [{ fixed_amount: eur('0') }],
      wallet_grants: [{ wallet_type_id: types.credits, credits_grant: { credits } }],
    },
    CHOICE: {
      pricing_type: 'FLEXIBLE',
      bands: [{ minimum_amount: eur('10'), maximum_amount: eur('500') }],
      wallet_grants: [{ wallet_type_id: types.credits, credits_grant: { conversion: '10' } }],
    },
    MONEY: {
      pricing_type: 'FIXED',
      bands: [{ fixed_amount: eur('50') }],
      wallet_grants: [{ wallet_type_id: types.money, amount_grant: { percentage: '110' } }],
    },
    NOTHING: { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('5') }] },
  }
  const names = Object.keys(prices) as (keyof typeof prices)[]
  const priced: Row[] = []
  for (const name of names) {
    const item = await post('product-items', {
      reference: unique(name),
      product_id: product['id'],
      name,
      status: 'ACTIVE',
      model_type: 'ONE_OFF',
    })
    priced.push({ product_item_ids: [item['id']], configs: [{ ...prices[name], on_demand: true }] })
  }
  const plan = await post('pricing-plans', { reference: unique('plan'), name: 'Packs' })
  versionId = (await post('pricing-plan-versions', { pricing_plan_id: plan['id'] }))['id']
  const body = { pricing_plan_version_id: versionId, name: 'Packs', product_ids: [product['id']], items: priced }
  const pricing = await post('pricings', body)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  items = Object.fromEntries(names.map((name, index) => [name, pricing['items'][index].id])) as typeof items
})
beforeEach(() => api.clock.set(Date.parse(NOW)))
afterAll(async () => {
  api?.clock.set(before)
  await worker?.close()
  await api?.close()
})

type Customer = {
  readonly customer: string
  readonly schedule: string
  readonly subscription: string
  readonly clock: string | null
}

/** With `frozen_time` in the time of a new test clock. */
async function subscribed(frozen_time?: string): Promise<Customer> {
  const { id: customer } = await post('customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: { country: 'NL', city: 'Utrecht' } },
  })
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: customer,
    billing_entity_id: of.billingEntity['id'],
    billing_currency: 'EUR',
  })
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: versionId,
    start_at: '2026-03-01T00:00:00Z',
  })
  const url = `/v1/pricing-plan-subscriptions/${subscription['id']}`
  const clock = frozen_time ? (await post('test-clocks', { frozen_time, customer_ids: [customer] }))['id'] : null
  await succeed(tenant, 'PATCH', url, { status: 'ACTIVE' })
  return { customer, schedule: schedule['id'], subscription: subscription['id'], clock }
}
const walletFor = ({ customer }: Customer, wallet_type_id = types.credits): Promise<Row> =>
  post('wallets', { reference: tenant.seed.unique('wallet'), status: 'ACTIVE', wallet_type_id, customer_id: customer })
const charge = ({ schedule }: Customer, item: object, more: object = {}): Promise<Row> =>
  succeed(tenant, 'POST', CHARGE, { pricing_plan_schedule_id: schedule, pricing_items: [item], ...more })
const FINAL = { finalize_immediately: true }
const invoicesOf = async ({ customer }: Customer): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/invoices?customer_id=${customer}`))['data']

test('a charge grants when its invoice becomes FINAL, once for each purchase, with its cause in the ledger', async () => {
  const one = await subscribed()
  const wallet = await walletFor(one)
  const draft = await charge(one, { pricing_item_id: items.PACK })
  expect(await of.balance(wallet)).toBe('0 / 0 / 0')
  await succeed(tenant, 'PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
  expect(await of.balance(wallet)).toBe('100 / 0 / 100')
  await charge(one, { pricing_item_id: items.PACK }, FINAL)
  await charge(one, { pricing_item_id: items.CHOICE, flexible_amount: eur('25.50') }, FINAL)
  expect(await of.balance(wallet)).toBe('455 / 0 / 455')
  const { data: entries } = await succeed(tenant, 'GET', `/v1/wallets/${wallet['id']}/transactions`)
  expect(entries.map((entry: Row) => entry['cause'].type)).toEqual(['CHARGE', 'CHARGE', 'CHARGE'])
  const never = await charge(one, { pricing_item_id: items.PACK })
  await succeed(tenant, 'POST', `/v1/invoices/${never['id']}/void`)
  expect(await of.balance(wallet)).toBe('455 / 0 / 455')
})

test('what puts money into a wallet is not paid from it', async () => {
  const one = await subscribed()
  const wallet = await walletFor(one, types.money)
  expect((await of.grant(wallet, '60')).status).toBe(201)
  const invoice = await charge(one, { pricing_item_id: items.MONEY }, FINAL)
  expect(shown(invoice)).toEqual(['REVENUE 50.00', '50.00', '10.50', '60.50'])
  expect(await of.balance(wallet)).toBe('115 / 0 / 115')
})

/** An ACTIVE configuration that buys 100 credits for 10.00 below 20 credits. */
async function configured(more: object = {}, frozen_time?: string) {
  const one = await subscribed(frozen_time)
  const wallet = await walletFor(one)
  const body = {
    status: 'ACTIVE',
    wallet_id: wallet['id'],
    pricing_plan_schedule_id: one.schedule,
    pricing_item_id: items.CHOICE,
    topup_amount: eur('10'),
    threshold: { credits: { quantity: '20', credit_type_id: of.creditType['id'] } },
    ...more,
  }
  const config = await succeed(tenant, 'POST', CONFIGS, body)
  return { one, wallet, body, id: String(config['id']) }
}
const run = (id: Id<'atuc'>, failpoint?: () => Promise<void>) =>
  topUp({ database: api.database, taxEngine: null, failpoint }, tenant.tenant, { id })
const isLow = async (): Promise<boolean> =>
  (await findLowWallets(worker)).some(
    ({ platform_id, environment }) =>
      platform_id === tenant.tenant.platformId && environment === tenant.tenant.environment,
  )

test('tops up once below the threshold beside another worker, and again only when the last one is paid', async () => {
  const { one, wallet, id } = await configured()
  const [first, second] = await Promise.all([run(idOf('atuc', id)), run(idOf('atuc', id))])
  const invoiceId = first ?? second
  expect([first, second].filter(made => made !== null)).toHaveLength(1)
  expect(await of.balance(wallet)).toBe('100 / 0 / 100')
  expect(await succeed(tenant, 'GET', `/v1/invoices/${invoiceId}`)).toMatchObject({
    status: 'FINAL',
    payment_status: 'UNPAID',
    invoice_amount_including_tax: eur('12.10'),
  })
  expect(await run(idOf('atuc', id))).toBeNull()
  await post(`wallets/${wallet['id']}/reservations`, {
    reference: 'call-1',
    credits: { quantity: '85', credit_type_id: of.creditType['id'] },
  })
  // 15 are open, and the last top-up is not paid.
  expect(await run(idOf('atuc', id))).toBeNull()
  await post('payments', { customer_id: one.customer, invoice_id: invoiceId, amount: eur('12.10') })
  const next = await run(idOf('atuc', id))
  expect(next).not.toBeNull()
  expect(await of.balance(wallet)).toBe('200 / 85 / 115')
  expect(await invoicesOf(one)).toHaveLength(2)
  expect(await succeed(tenant, 'GET', `${CONFIGS}/${id}`)).toMatchObject({ last_invoice_id: next, failed_attempts: 0 })
  await expectPayloads(api, id, ['AUTO_TOP_UP_CONFIG.CREATED', 'AUTO_TOP_UP_CONFIG.UPDATED'])
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
  expect(await run(idOf('atuc', id))).toBeNull()
})

test('a top-up that costs nothing is not waited for: nothing of it can be paid', async () => {
  const { wallet, id } = await configured({ pricing_item_id: items.FREE, topup_amount: null })
  const free = await run(idOf('atuc', id))
  expect(await succeed(tenant, 'GET', `/v1/invoices/${free}`)).toMatchObject({
    status: 'FINAL',
    payment_status: 'UNPAID',
  })
  const credits = { quantity: '85', credit_type_id: of.creditType['id'] }
  await post(`wallets/${wallet['id']}/reservations`, { reference: 'call-1', credits })
  expect(await run(idOf('atuc', id))).not.toBeNull()
  expect(await of.balance(wallet)).toBe('200 / 85 / 115')
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
})

test('a worker that is killed before it commits leaves nothing, and the next one tops up', async () => {
  const { one, wallet, id } = await configured({ pricing_item_id: items.PACK, topup_amount: null })
  await expect(
    run(idOf('atuc', id), async () => {
      throw new Error('killed')
    }),
  ).rejects.toThrow('killed')
  expect([await of.balance(wallet), (await invoicesOf(one)).length]).toEqual(['0 / 0 / 0', 0])
  expect(await run(idOf('atuc', id))).not.toBeNull()
  expect([await of.balance(wallet), (await invoicesOf(one)).length]).toEqual(['100 / 0 / 100', 1])
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
})

test('a fault of one top-up holds up no other, and is thrown in the end', async () => {
  const [first, second] = [await configured(), await configured()]
  let calls = 0
  const failpoint = async (): Promise<void> => {
    calls += 1
    if (calls === 1) throw new Error('killed')
  }
  await expect(topUpWallets({ database: api.database, taxEngine: null, failpoint }, tenant.tenant)).rejects.toThrow(
    'killed',
  )
  const balances = [await of.balance(first.wallet), await of.balance(second.wallet)]
  expect(balances.toSorted()).toEqual(['0 / 0 / 0', '100 / 0 / 100'])
  for (const { id } of [first, second]) await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
})

test('a wallet that is not ACTIVE is not topped up', async () => {
  const { one, wallet, id } = await configured()
  await succeed(tenant, 'POST', `/v1/wallets/${wallet['id']}/archive`)
  expect(await run(idOf('atuc', id))).toBeNull()
  expect(await invoicesOf(one)).toEqual([])
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
})

test('a charge that is refused is kept, and tried again after waits that grow', async () => {
  const { one, id } = await configured()
  const cancel = `/v1/pricing-plan-subscriptions/${one.subscription}/cancel`
  await succeed(tenant, 'POST', cancel, { type: 'NOW' })
  expect(await run(idOf('atuc', id))).toBeNull()
  const failed = await succeed(tenant, 'GET', `${CONFIGS}/${id}`)
  expect(failed).toMatchObject({ failed_attempts: 1, next_attempt_at: '2026-03-10T12:15:00Z' })
  expect(failed['last_failure']).toContain('CANCELLED')
  expect(await run(idOf('atuc', id))).toBeNull()
  expect(await succeed(tenant, 'GET', `${CONFIGS}/${id}`)).toMatchObject({ failed_attempts: 1 })
  api.clock.set(Date.parse('2026-03-10T12:15:00Z'))
  expect(await run(idOf('atuc', id))).toBeNull()
  expect(await succeed(tenant, 'GET', `${CONFIGS}/${id}`)).toMatchObject({
    failed_attempts: 2,
    next_attempt_at: '2026-03-10T12:45:00Z',
  })
  expect(await invoicesOf(one)).toEqual([])
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
})

test('what cannot be charged, or grants nothing to the wallet, is refused with its field', async () => {
  const { body, id } = await configured()
  const other = await subscribed()
  const elsewhere = await walletFor(other, types.other)
  const credits = (quantity: string, credit_type_id: unknown = of.creditType['id']) => ({
    credits: { quantity, credit_type_id },
  })
  const second = await tenant.call('POST', CONFIGS, body)
  expect([second.status, second.body['field']]).toEqual([409, 'wallet_id'])
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
  for (const [more, field] of [
    [{ threshold: {} }, 'threshold.credits'],
    [{ threshold: credits('0') }, 'threshold.credits.quantity'],
    [{ threshold: credits('5', 'ctyp_1') }, 'threshold.credits.credit_type_id'],
    [{ threshold: { amount: eur('5') } }, 'threshold.amount'],
    [{ topup_amount: null }, 'topup_amount'],
    [{ topup_amount: eur('9') }, 'topup_amount.quantity'],
    [{ topup_amount: { quantity: '10', currency: 'USD' } }, 'topup_amount.currency'],
    [{ pricing_item_id: items.PACK }, 'topup_amount'],
    [{ units: { number: '2' } }, 'units'],
    [{ pricing_item_id: items.NOTHING, topup_amount: null }, 'pricing_item_id'],
    [{ pricing_item_id: 'none' }, 'pricing_item_id'],
    [{ pricing_plan_schedule_id: other.schedule }, 'pricing_plan_schedule_id'],
    [{ wallet_id: elsewhere['id'], pricing_plan_schedule_id: other.schedule }, 'pricing_item_id'],
  ] as const) {
    const { status, body: fault } = await tenant.call('POST', CONFIGS, { ...body, ...more })
    expect([[400, 404].includes(status), fault['field']], JSON.stringify(more)).toEqual([true, field])
  }
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/activate`)
  expect(await isLow()).toBe(true)
  expect(await run(idOf('atuc', id))).not.toBeNull()
  expect(await isLow()).toBe(false)
})

test('a customer of a test clock lives in its time: grants expire and wallets are topped up when it is advanced', async () => {
  const { one, wallet } = await configured({}, '2026-03-05T00:00:00Z')
  const times = { start_at: '2026-03-01T00:00:00Z', expire_at: '2026-03-20T00:00:00Z' }
  expect((await of.grant(wallet, '50', times)).status).toBe(201)
  const moved = async (): Promise<string[]> => {
    const { data } = await succeed(tenant, 'GET', `/v1/wallets/${wallet['id']}/transactions`)
    return data.map((entry: Row) => `${entry['type']} ${entry['value'].credits.quantity}`).toSorted()
  }
  const paidFor = async () => (await invoicesOf(one)).filter(({ type }) => type === 'ONE_OFF')
  api.clock.set(Date.parse('2026-06-01T00:00:00Z'))
  await expireGrants(api.database, tenant.tenant)
  await topUpWallets({ database: api.database, taxEngine: null }, tenant.tenant)
  expect([await of.balance(wallet), await moved(), await paidFor()]).toEqual(['50 / 0 / 50', ['GRANTED 50'], []])
  const url = `/v1/test-clocks/${one.clock}/advance`
  const answer = await succeed(tenant, 'POST', url, { frozen_time: '2026-03-25T00:00:00Z' })
  expect([answer['complete'], answer['failures']]).toEqual([true, []])
  expect([await of.balance(wallet), await moved()]).toEqual([
    '100 / 0 / 100',
    ['EXPIRED 50', 'GRANTED 100', 'GRANTED 50'],
  ])
  expect((await paidFor()).map(({ status, updated_to_final_at }) => [status, updated_to_final_at])).toEqual([
    ['FINAL', '2026-03-25T00:00:00Z'],
  ])
})

test('a configuration is checked in the time of the customer: the schedule need not run in that of the day', async () => {
  api.clock.set(Date.parse('2026-02-01T00:00:00Z'))
  const { wallet, id } = await configured({}, '2026-03-05T00:00:00Z')
  await topUpWallets({ database: api.database, taxEngine: null }, tenant.tenant)
  expect(await of.balance(wallet)).toBe('100 / 0 / 100')
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
  expect(await succeed(tenant, 'POST', `${CONFIGS}/${id}/activate`)).toMatchObject({
    status: 'ACTIVE',
    updated_at: '2026-03-05T00:00:00Z',
  })
})

test('the job asks the tax engine for each top-up; what the engine refuses is kept as a failure, an outage is not', async () => {
  const { one, wallet, id } = await configured()
  await succeed(tenant, 'POST', `${CONFIGS}/${id}/deactivate`)
  const { id: billing_entity_id } = await post('billing-entities', { reference: tenant.seed.unique('external') })
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, {
    registered_address: { country: 'CA', state: 'QC' },
    tax_settings: { provider: 'EXTERNAL' },
  })
  const subscription = await post('pricing-plan-subscriptions', {
    ...{ customer_id: one.customer, billing_entity_id, billing_currency: 'EUR' },
  })
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: versionId,
    start_at: '2026-03-01T00:00:00Z',
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  const config = await post('auto-top-up-configs', {
    ...{ status: 'ACTIVE', wallet_id: wallet['id'], pricing_plan_schedule_id: schedule['id'] },
    ...{ pricing_item_id: items.PACK, threshold: { credits: { quantity: '20', credit_type_id: of.creditType['id'] } } },
  })
  const { platformId: platform_id, environment } = tenant.tenant
  const deps = { database: api.database, system: worker, logger: silentLogger, taxEngine: ENGINE }
  const job = () =>
    topUpOf.run(deps as never, { platform_id, environment } as never, { stop: new AbortController().signal } as never)
  const read = () => succeed(tenant, 'GET', `${CONFIGS}/${config['id']}`)
  const waiting = () =>
    api.sql('select attempts from tax_answers where customer_id = $1 and answer is null', [one.customer])

  say = () => {
    throw new NoTaxAnswer('The tax engine is down.')
  }
  await expect(job()).rejects.toThrow('The tax engine is down.')
  expect([await read(), await waiting()]).toMatchObject([{ failed_attempts: 0, next_attempt_at: null }, []])
  say = () => {
    throw new NoTaxAnswer('The postal code is unknown.', { isRefusal: true })
  }
  await job()
  expect(await read()).toMatchObject({ failed_attempts: 1, last_failure: 'The postal code is unknown.' })
  say = () => TAXED
  api.clock.set(Date.parse(NOW) + 16 * 60_000)
  await job()
  expect(await read()).toMatchObject({ failed_attempts: 0, last_failure: null })
  expect(await of.balance(wallet)).toBe('100 / 0 / 100')
  const [invoice] = await invoicesOf(one)
  expect(invoice).toMatchObject({ status: 'FINAL', tax_summary: { tax_amount: eur('2.50') } })
})
