// Simulations through the API and their job, and the revenue gate of catalog files: real invoices, what another version
// would have made of them, limits, and runs that are killed or cancelled. The test supplies the usage figures.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { runBilling } from '../run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
import { runSimulation, type SimulationRun } from './run-simulation.ts'

let api: ApiHarness
let tenant: TestTenant
let deps: BillingDeps
let plan: { id: string; reference: string; version: string; pricing: Row }
let customers: readonly { id: string; subscriptionId: string }[]
/** Tokens of a month, by the reference of the customer. */
const tokens = new Map<string, string>()

const usage: UsageReader = {
  ...NO_USAGE,
  read: async (_tenant, parts) => {
    const [used] = parts.flatMap(part => part.customerKeys.flatMap(key => tokens.get(key) ?? []))
    return used === undefined ? [] : [{ currency: null, number: decimal(used), count: 1 }]
  },
}

const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
const get = (url: string) => succeed(tenant, 'GET', `/v1/${url}`)
const setTime = (text: string): void => api.clock.set(Date.parse(text))
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

/** Three customers on one plan: 0.015 per 1,000 tokens and a fee of 100 in advance, with a discount for one. */
beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.aLive
  deps = { database: api.database, usage }
  setTime('2026-03-01T00:00:00Z')
  const first = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  const [schedule] = (await get(`pricing-plan-schedules?pricing_plan_subscription_id=${first.subscriptionId}`))['data']
  const { pricing_plan_version_id: version, pricing_plan_id: id } = schedule
  const [category] = (await get(`pricing-plan-versions/${version}`))['pricing_categories']
  const [pricing] = category.pricings
  plan = { id, version, pricing, reference: (await get(`pricing-plans/${id}`))['reference'] }
  tokens.set(first.customerReference, '20000000')
  const more = [await anotherCustomer(first, '1000000', {}), await anotherCustomer(first, '0', DISCOUNT)]
  customers = [{ id: first.customerId, subscriptionId: first.subscriptionId }, ...more]
  // March, April and May are FINAL.
  for (const time of ['2026-03-02', '2026-04-02', '2026-05-02', '2026-06-02']) {
    setTime(`${time}T12:00:00Z`)
    for (const { subscriptionId } of customers) await runBilling(deps, tenant.tenant, subscriptionId)
  }
})
afterAll(() => api?.close())

const DISCOUNT = { discount: { totals: [{ percentage: '10' }] } }

async function anotherCustomer(like: Billed, used: string, schedule: object) {
  const { seed } = tenant
  const { billing_entity_id } = await get(`pricing-plan-subscriptions/${like.subscriptionId}`)
  const reference = seed.unique('also')
  const customer = await post('customers', {
    reference,
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Also', registered_address: { country: 'NL', city: 'Utrecht' } },
  })
  tokens.set(reference, used)
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: customer['id'],
    billing_entity_id,
    billing_currency: 'EUR',
  })
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: plan.version,
    start_at: '2026-03-11T00:00:00Z',
    pricing_currency: 'EUR',
    ...schedule,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  return { id: customer['id'] as string, subscriptionId: subscription['id'] as string }
}

/** A DRAFT version with the prices of the plan; tokens and the fee cost what is given. */
async function draftVersion(price: { readonly tokens: string; readonly fee: string }): Promise<string> {
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan.id })
  const [metered, fee] = plan.pricing['items'] as Row[]
  const bands = [[{ amount: eur(price.tokens), block_size: { number: '1000' } }], [{ fixed_amount: eur(price.fee) }]]
  await post('pricings', {
    pricing_plan_version_id: version['id'],
    name: 'Standard',
    product_ids: plan.pricing['product_ids'],
    items: [metered, fee].map((item, place) => ({
      product_item_ids: item?.['product_item_ids'],
      configs: [
        {
          pricing_type: place === 0 ? 'FLAT' : 'FIXED',
          ...(place === 0 ? {} : { billing_in_advance: true }),
          bands: bands[place],
        },
      ],
    })),
  })
  return version['id']
}

const simulate = (versionId: string, body: object = {}) => post(`pricing-plan-versions/${versionId}/simulate`, body)
const run = async ({ id }: Row, more: Partial<SimulationRun> & { deps?: Partial<BillingDeps> } = {}): Promise<Row> => {
  const { deps: other, ...how } = more
  await runSimulation({ ...deps, ...other }, { tenant: tenant.tenant, id: String(id), last: false, ...how })
  return await read(id)
}
const read = (id: unknown) => get(`pricing-plan-version-simulations/${id}`)
const customersOf = async ({ id }: Row, query = ''): Promise<Row[]> =>
  (await get(`pricing-plan-version-simulations/${id}/customers?order_by=difference${query}`))['data']
const quantityOf = (of: Row, name: string): string => of[name].quantity

describe('a simulation', () => {
  test('of the version that customers are on equals their invoices, and so does a copy of it', async () => {
    for (const version of [plan.version, await draftVersion({ tokens: '0.015', fee: '100' })]) {
      const done = await run(
        await simulate(version, { periods: 3, max_revenue_change: '0', max_customer_increase: '0' }),
      )
      expect(done).toMatchObject({ status: 'DONE', percentage: 100, pricing_plan_version_id: version })
      expect(done['result']).toMatchObject({
        number_of_customers: 3,
        number_of_unchanged: 3,
        number_of_failed: 0,
        breaches: [],
        totals: [{ currency: 'EUR', difference: eur('0'), change_percentage: '0' }],
      })
      const found = await customersOf(done)
      expect(found.map(each => each['invoices'].length)).toEqual([3, 3, 3])
      const billed = await Promise.all(
        found.flatMap(each =>
          (each['invoices'] as Row[]).map(async ({ invoice_id, amount }) => [
            (await get(`invoices/${invoice_id}`))['invoice_amount_excluding_tax'].quantity,
            amount.quantity,
          ]),
        ),
      )
      for (const [invoiced, simulated] of billed) expect(decimal(simulated).eq(decimal(invoiced))).toBe(true)
    }
  })

  test('of a DRAFT shows who wins and who loses, by how much, and on which line', async () => {
    // Twice the price of tokens, half the fee: 20 M tokens +300, 1 M +15, and 50 less for the fee; 10 % off for the third.
    const version = await draftVersion({ tokens: '0.03', fee: '50' })
    const done = await run(await simulate(version, { periods: 1 }))
    expect(done['result']).toMatchObject({
      number_of_customers: 3,
      number_of_winners: 2,
      number_of_losers: 1,
      totals: [{ currency: 'EUR', amount: eur('605'), simulated_amount: eur('775'), difference: eur('170') }],
    })
    const [highest, middle, lowest] = await customersOf(done, '&order_direction=desc')
    expect(highest).toMatchObject({ customer_id: customers[0]?.id, outcome: 'LOSER', difference: eur('250') })
    expect(middle).toMatchObject({ customer_id: customers[1]?.id, outcome: 'WINNER', difference: eur('-35') })
    expect(lowest).toMatchObject({ customer_id: customers[2]?.id, outcome: 'WINNER', difference: eur('-45') })
    const [invoice]: Row[] = highest?.['invoices'] ?? []
    expect(invoice).toMatchObject({ amount: eur('400'), simulated_amount: eur('650'), difference: eur('250') })
    expect(
      [...(invoice?.['lines'] ?? [])]
        .map((line: Row) => line)
        .map(line => [line['name'], quantityOf(line, 'difference')])
        .toSorted(),
    ).toEqual([
      ['Platform fee', '-50'],
      ['Tokens', '300'],
    ])
    expect(await customersOf(done, '&outcome=LOSER')).toEqual([highest])
    const page = await get(`pricing-plan-version-simulations/${done['id']}/customers?limit=2&page=2`)
    expect(page).toMatchObject({ total_number_of_pages: 2, data: [expect.anything()] })
  })

  test('fails when a limit does not hold, and names it', async () => {
    const version = await draftVersion({ tokens: '0.03', fee: '50' })
    const failed = await run(await simulate(version, { max_revenue_change: '28', max_customer_increase: '60' }))
    expect(failed['status']).toBe('FAILED')
    const breaches: Row[] = failed['result'].breaches
    expect(breaches.map(({ limit }) => limit)).toEqual(['max_revenue_change', 'max_customer_increase'])
    expect(breaches[0]?.['message']).toContain('by 28.0992 percent; at most 28')
    expect(breaches[1]?.['message']).toContain(`${customers[0]?.id} most of all`)
    const held = await run(await simulate(version, { max_revenue_change: '29', max_customer_increase: '63' }))
    expect(held['status']).toBe('DONE')
  })

  test('says of each customer that the version cannot bill why, and with a limit it fails', async () => {
    const version = await post('pricing-plan-versions', { pricing_plan_id: plan.id })
    const [metered] = plan.pricing['items'] as Row[]
    const bands = [{ amount: { quantity: '1', currency: 'USD' } }]
    await post('pricings', {
      pricing_plan_version_id: version['id'],
      name: 'In dollars',
      product_ids: plan.pricing['product_ids'],
      items: [{ product_item_ids: metered?.['product_item_ids'], configs: [{ pricing_type: 'FLAT', bands }] }],
    })
    const failed = await run(await simulate(version['id'], { max_revenue_change: '1000' }))
    expect(failed).toMatchObject({ status: 'FAILED', result: { number_of_failed: 3 } })
    expect(failed['result'].breaches.map(({ limit }: Row) => limit)).toContain('number_of_failed')
    const [one] = await customersOf(failed, '&status=ERROR')
    expect(one).toMatchObject({ outcome: null, difference: null, message: expect.stringContaining('USD') })
  })

  test('that was killed continues, and stores nothing twice', async () => {
    const version = await draftVersion({ tokens: '0.02', fee: '100' })
    const started = await simulate(version)
    let groups = 0
    const failpoint = async () => {
      groups += 1
      if (groups === 1) throw new Error('killed')
    }
    await expect(run(started, { groupMax: 1, deps: { failpoint } })).rejects.toThrow('killed')
    expect(await read(started['id'])).toMatchObject({ status: 'IN_PROGRESS', percentage: 33, result: null })
    const done = await run(started, { groupMax: 1 })
    expect(done).toMatchObject({
      status: 'DONE',
      result: { number_of_customers: 3, totals: [{ difference: eur('105') }] },
    })
    // A second worker that runs it once more changes nothing.
    expect(await run(started)).toEqual(done)
    await expectPayloads(api, started['id'], [
      'PRICING_PLAN_VERSION_SIMULATION.CREATED',
      'PRICING_PLAN_VERSION_SIMULATION.UPDATED',
    ])
  })

  test('that is cancelled stops after the group it is in, and its job is not taken up again', async () => {
    const started = await simulate(plan.version)
    const cancel = () => post(`pricing-plan-version-simulations/${started['id']}/cancel`, {})
    const failpoint = async () => void (await cancel())
    const stopped = await run(started, { groupMax: 1, deps: { failpoint } })
    expect(stopped).toMatchObject({ status: 'CANCELLED', percentage: 33, result: null })
    expect(await cancel()).toEqual(stopped)
    expect(await run(started)).toEqual(stopped)
  })

  test('ends in ERROR when usage cannot be read for good', async () => {
    const away: UsageReader = {
      ...usage,
      read: async () => {
        throw new Error('usage is away')
      },
    }
    const started = await simulate(plan.version)
    await expect(run(started, { deps: { usage: away } })).rejects.toThrow('usage is away')
    expect(await read(started['id'])).toMatchObject({ status: 'IN_PROGRESS' })
    await expect(run(started, { last: true, deps: { usage: away } })).rejects.toThrow('usage is away')
    expect(await read(started['id'])).toMatchObject({ status: 'ERROR', message: expect.stringContaining('again') })
  })

  test.each([
    ['a version that is not there', 'ppve_none', {}, 'RESOURCE_NOT_FOUND'],
    ['no period', null, { periods: 0 }, 'INVALID_FIELD'],
    ['more periods than are kept in mind', null, { periods: 13 }, 'INVALID_FIELD'],
    ['a limit below 0', null, { max_revenue_change: '-1' }, 'INVALID_FIELD'],
    ['a limit that is no number', null, { max_customer_increase: 'much' }, 'INVALID_FIELD'],
    ['a field that it does not have', null, { months: 3 }, 'INVALID_FIELD'],
  ])('of %s is refused', async (_, version, body, code) => {
    const url = `/v1/pricing-plan-versions/${version ?? plan.version}/simulate`
    expect((await tenant.call('POST', url, body)).body).toMatchObject({ code })
  })

  test('of a version without prices is refused', async () => {
    const { id } = await post('pricing-plan-versions', { pricing_plan_id: plan.id })
    const refused = await tenant.call('POST', `/v1/pricing-plan-versions/${id}/simulate`, {})
    expect(refused.body).toMatchObject({ code: 'INVALID_OPERATION', message: expect.stringContaining('no price') })
  })
})

describe('the revenue gate of a catalog file', () => {
  /** A file with one more version of the plan: the fee of version 1 times two. */
  async function file(gate: object | null): Promise<Row> {
    const catalog = await get('catalog')
    const own = (catalog['pricing_plans'] as Row[]).find(({ reference }) => reference === plan.reference)
    const versions: Row[] = own?.['versions'] ?? []
    const [pricing] = structuredClone(versions[0]?.['pricings'] ?? [])
    pricing.items[1].configs[0].bands = [{ fixed_amount: eur('200') }]
    const next = { version: (versions.at(-1)?.['version'] ?? 0) + 1, status: 'ACTIVE', pricings: [pricing] }
    return {
      format: 1,
      ...(gate ? { revenue_gate: gate } : {}),
      pricing_plans: [{ reference: plan.reference, name: own?.['name'], versions: [next] }],
    }
  }

  /** Plans the file, and runs its simulation as the worker would. */
  async function plannedWith(body: Row, query = ''): Promise<Row> {
    const planning = succeed(tenant, 'POST', `/v1/catalog/plan${query}`, body)
    const url = `pricing-plan-version-simulations?pricing_plan_id=${plan.id}&status=SCHEDULED`
    for (;;) {
      const [waiting] = (await get(url))['data'] as Row[]
      if (waiting) {
        await run(waiting)
        break
      }
      if (await Promise.race([planning.then(() => true), Promise.resolve(false)])) break
    }
    return await planning
  }

  test('passes within its limits, and nothing of the file is kept', async () => {
    const planned = await plannedWith(await file({ max_revenue_change: '60' }))
    expect(planned).toMatchObject({ applicable: true, refusals: [], revenue_gate: { status: 'PASSED' } })
    const [simulation] = planned['revenue_gate'].simulations
    expect(simulation.catalog_reference).toMatch(new RegExp(`^${plan.reference}@`))
    const read_ = await read(simulation.id)
    // 100 each for two customers, 90 for the third, of 605.
    expect(read_).toMatchObject({ pricing_plan_version_id: null, result: { totals: [{ difference: eur('290') }] } })
  })

  test('fails beyond them, with the limit, by how much, and where to look', async () => {
    const body = await file({ max_revenue_change: '40', max_customer_increase: '20' })
    const planned = await plannedWith(body)
    expect(planned).toMatchObject({ applicable: false, revenue_gate: { status: 'FAILED' } })
    const refusals: Row[] = planned['refusals']
    expect(refusals.map(({ field, code }) => [field, code])).toEqual([
      ['revenue_gate', 'INVALID_OPERATION'],
      ['revenue_gate', 'INVALID_OPERATION'],
    ])
    expect(refusals[0]?.['message']).toMatch(
      /change by 47\.9339 percent; at most 40 percent are allowed\. See the simulation ppsi_/,
    )
    // The same file again finds the same simulation.
    const again = await succeed(tenant, 'POST', '/v1/catalog/plan', body)
    expect(again['revenue_gate']).toEqual(planned['revenue_gate'])
  })

  test('is run by apply as well: what does not hold is not applied', async () => {
    const body = await file({ max_revenue_change: '40' })
    await plannedWith(body)
    const apply = (query = '') => tenant.call('POST', `/v1/catalog/apply${query}`, body)
    const { status, body: answer } = await apply()
    expect([status, answer['code'], answer['field']]).toEqual([400, 'INVALID_OPERATION', 'revenue_gate'])
    const own = await get(`pricing-plans/${plan.id}`)
    const wanted = (body['pricing_plans'] as Row[])[0]?.['versions'][0].version
    expect(own['pricing_plan_version_infos'].map((info: Row) => info['version'])).not.toContain(wanted)
  })

  test('is set by the call as well, whose limits replace those of the file', async () => {
    const body = await file({ max_revenue_change: '1' })
    const query = '?periods=2&max_revenue_change=80'
    expect(await plannedWith(body, query)).toMatchObject({ applicable: true, revenue_gate: { status: 'PASSED' } })
    const plain = await succeed(tenant, 'POST', '/v1/catalog/plan', await file(null))
    expect(plain).toMatchObject({ applicable: true, revenue_gate: null })
  })

  test.each([
    ['periods=0', 'periods'],
    ['periods=99', 'periods'],
    ['max_revenue_change=much', 'max_revenue_change'],
  ])('of ?%s is refused', async (query, field) => {
    const refused = await tenant.call('POST', `/v1/catalog/plan?${query}`, { format: 1 })
    expect(refused.body).toMatchObject({ code: 'INVALID_FIELD', field })
  })

  test('with a limit below 0 is refused', async () => {
    const planned = await succeed(tenant, 'POST', '/v1/catalog/plan', await file({ max_revenue_change: '-1' }))
    expect(planned['refusals']).toMatchObject([{ field: 'revenue_gate.max_revenue_change', code: 'INVALID_FIELD' }])
  })
})
