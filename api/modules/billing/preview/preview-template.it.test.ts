// POST /v1/invoices/preview of a template: what a customer would be billed who chooses on a checkout page. Nothing is kept of it.
import { expect, test } from 'vitest'
import { succeed } from '../../../testing/calls.ts'
import type { Row } from '../../../testing/wire.ts'
import { invoiceLines } from '../testing/sales.ts'
import { salesRig } from '../testing/sales-rig.ts'

const { callOther, connect, get, patch, post, sales, setTime, sql, tenant, unique } = salesRig()
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const PREVIEW = '/v1/invoices/preview'
const START = '2026-01-01T00:00:00Z'

/**
 * An ACTIVE template of a fee of 100, seats at 10 and setup at 5 a unit, all ahead, and an ADDON of 31. With `hasChosen` it has 5 seats,
 * 3 more at 2, and an ADDON of 7.
 */
async function template({ hasChosen = false, latest = false } = {}) {
  setTime('2026-03-01T00:00:00Z')
  const product = await post('products', { reference: unique('base'), name: 'Base', status: 'ACTIVE' })
  const extra = await post('products', {
    ...{ reference: unique('extra'), name: 'Extra', status: 'ACTIVE', product_type: 'ADDON' },
  })
  const plan = await post('pricing-plans', { reference: unique('plan') })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  await sales.feePricing(version['id'], product, '100', {}, { billing_in_advance: true })
  const addon = await sales.feePricing(version['id'], extra, '31', {}, { billing_in_advance: true })
  const priced = async (model: string, amount: string, more: object = {}) => {
    const item = await sales.item(product, model)
    const configs = [{ pricing_type: 'FLAT', bands: [{ amount: eur(amount) }], billing_in_advance: true, ...more }]
    const pricing = await post('pricings', {
      pricing_plan_version_id: version['id'],
      product_ids: [product['id']],
      items: [{ product_item_ids: [item['id']], configs }],
    })
    return pricing['items'][0].configs[0].id as string
  }
  const seats = await priced('PER_SEAT', '10', { default_seats_value: { number: '1' } })
  const setup = await priced('ONE_OFF', '5')
  const chosen = hasChosen
    ? {
        seats_values: [
          { pricing_item_config_id: seats, number: '5', start_at: START },
          {
            ...{ number: '3', start_at: START },
            pricing_item_config_id: await priced('PER_SEAT', '2', { default_seats_value: { number: '1' } }),
          },
        ],
        enabled_pricings: [
          { pricing_id: (await sales.feePricing(version['id'], extra, '7', {}, { billing_in_advance: true }))['id'] },
        ],
      }
    : {}
  await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const made = await post('pricing-plan-subscriptions', {
    ...{ billing_entity_id: await sales.billingEntity(), billing_currency: 'EUR', type: 'TEMPLATE', name: 'Starter' },
  })
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: made['id'],
    ...(latest
      ? { pricing_plan_version_selector: { pricing_plan_id: plan['id'] } }
      : { pricing_plan_version_id: version['id'] }),
    start_at: START,
    ...chosen,
  })
  await patch(`pricing-plan-subscriptions/${made['id']}`, { status: 'ACTIVE' })
  return {
    versionId: version['id'] as string,
    id: made['id'] as string,
    scheduleId: schedule['id'] as string,
    seats,
    setup,
    addonId: addon['id'] as string,
  }
}
type Template = Awaited<ReturnType<typeof template>>

const preview = (of: Template, body: object = {}): Promise<Row> =>
  succeed(tenant, 'POST', PREVIEW, { template_pricing_plan_subscription_id: of.id, ...body })
const refused = async (body: object) => {
  const { status, body: answer } = await tenant.call('POST', PREVIEW, body)
  return [status, answer['code'], answer['field']]
}
const linesOf = (invoice: Row) =>
  invoiceLines(invoice)
    .map(line => line.slice(5))
    .toSorted()
const person = (country: string) => ({ type: 'INDIVIDUAL', individual: { residential_address: { country } } })
/** How many rows there are of what a subscription leaves. */
const stored = async () => {
  const tables = ['customers', 'pricing_plan_subscriptions', 'pricing_plan_schedules', 'coupon_redemptions', 'outbox']
  const { platformId, environment } = tenant.tenant
  const counts = tables.map(
    name => `(select count(*) from ${name} where platform_id = $1 and environment = $2) as ${name}`,
  )
  return (await sql(`select ${counts.join(', ')}`, [platformId, environment]))[0]
}

test('shows what it costs from now on, taxed by where the customer is, and keeps nothing', async () => {
  const of = await template()
  const before = await stored()
  const shown = await preview(of, { customer_details: person('NL') })
  expect(linesOf(shown['first_invoice'])).toEqual([
    '03-01..2026-04-01 10.00',
    '03-01..2026-04-01 100.00',
    '03-01..2026-04-01 5.00',
  ])
  expect(shown['first_invoice'].tax_summary.total_amount).toEqual(eur('139.15'))
  expect(shown['invoice']).toEqual(shown['first_invoice'])
  expect(shown['invoice_infos']).toMatchObject([{ pricing_plan_schedule_id: of.scheduleId }])
  expect(shown['invoice']).toMatchObject({
    pricing_plan_subscription_id: of.id,
    pricing_plan_subscription_ids: [of.id],
  })
  // The customer is not kept, so it has no id.
  expect(shown['invoice'].customer).toMatchObject({ object_type: 'CUSTOMER', type: 'INDIVIDUAL' })
  expect(shown['invoice']).not.toHaveProperty('customer_id')
  expect(JSON.stringify(shown)).not.toContain('"cust_')
  // Who buys abroad, and a customer of whom nothing is known, who is taxed as at home.
  expect((await preview(of, { customer_details: person('US') }))['invoice'].tax_summary.tax_amount).toEqual(eur('0.00'))
  expect((await preview(of))['invoice'].tax_summary.tax_amount).toEqual(eur('24.15'))
  const later = await preview(of, { start_at: '2026-05-01T00:00:00Z', invoices_per_schedule: 2 })
  const [first, second] = later['invoice_infos'][0].invoices
  expect(linesOf(first)).toContain('05-01..2026-06-01 100.00')
  // The setup is charged once.
  expect(linesOf(second)).toEqual(['06-01..2026-07-01 10.00', '06-01..2026-07-01 100.00'])
  expect(await stored()).toEqual(before)
})

/** A code of 10 % off. */
async function promotion() {
  const reference = unique('coupon')
  const coupon = await post('coupons', {
    ...{ reference, name: reference, status: 'ACTIVE', duration: { type: 'FOREVER' } },
    discount: { type: 'PERCENTAGE', percentage: '10' },
  })
  const code = unique('SAVE')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
  await post('promotion-codes', { coupon_id: coupon['id'], code, status: 'ACTIVE' })
  return { code, couponId: coupon['id'] }
}

test('does not wait for a sale that holds the template and the code', async () => {
  const of = await template()
  const { code, couponId } = await promotion()
  const chosen = {
    pricing_plan_schedule_customizations: [{ pricing_plan_schedule_id: of.scheduleId, promotion_codes: [code] }],
  }
  const elsewhere = await connect()
  try {
    await elsewhere.query('begin')
    // What a sale holds until it commits.
    await elsewhere.query('select from pricing_plan_subscriptions where id = $1 for update', [of.id])
    await elsewhere.query('select from coupons where id = $1 for no key update', [couponId])
    await elsewhere.query('select from promotion_codes where coupon_id = $1 for no key update', [couponId])
    const answered: Row[] = []
    const previews = [1, 2].map(async () => answered.push(await preview(of, chosen)))
    await expect.poll(() => answered.length, { timeout: 15_000 }).toBe(2)
    for (const each of answered) expect(linesOf(each['invoice'])).toContain('03-01..2026-04-01 -11.50')
    await elsewhere.query('rollback')
    await Promise.all(previews)
  } finally {
    await elsewhere.end()
  }
})

test('with units, seats, ADDONs and a promotion code that the customer chooses', async () => {
  const of = await template()
  const { code } = await promotion()
  const before = await stored()
  const customized = {
    pricing_plan_schedule_id: of.scheduleId,
    units: [{ pricing_item_config_id: of.setup, number: '3' }],
    seats_values: [{ pricing_item_config_id: of.seats, number: '4' }],
    enabled_pricings: [{ pricing_id: of.addonId }],
    promotion_codes: [code],
  }
  const chosen = { customer_details: person('NL'), pricing_plan_schedule_customizations: [customized] }
  const { invoice } = await preview(of, chosen)
  // 100 + 4 × 10 + 3 × 5 + 31 = 186, less 10 % = 167.40, and 21 % of that.
  expect(linesOf(invoice)).toEqual([
    '03-01..2026-04-01 -18.60',
    '03-01..2026-04-01 100.00',
    '03-01..2026-04-01 15.00',
    '03-01..2026-04-01 31.00',
    '03-01..2026-04-01 40.00',
  ])
  expect(invoice.tax_summary.total_amount).toEqual(eur('202.55'))
  const { enabled_pricings, ...others } = customized
  const beside = { ...chosen, pricing_plan_schedule_customizations: [others], enabled_pricings }
  expect(linesOf((await preview(of, beside))['invoice'])).toEqual(linesOf(invoice))
  // Many at once show the same.
  const all = await Promise.all([1, 2, 3, 4].map(() => preview(of, chosen)))
  for (const each of all) expect(linesOf(each['invoice'])).toEqual(linesOf(invoice))
  expect(await stored()).toEqual(before)
})

test('of the LATEST version, what is chosen by the prices that the template shows is of the prices that replace them', async () => {
  const of = await template({ latest: true })
  const shown = await get(`pricing-plan-versions/${of.versionId}`)
  const next = await post('pricing-plan-versions', { pricing_plan_id: shown['pricing_plan_id'] })
  const pricings: Row[] = shown['pricing_categories'].flatMap((category: Row) => category['pricings'])
  const withoutIds = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (name, each: unknown) => (name === 'id' ? undefined : each))
  for (const { product_ids, product_type, items } of pricings) {
    const body = { pricing_plan_version_id: next['id'], product_ids, product_type, items: withoutIds(items) }
    await post('pricings', body)
  }
  await patch(`pricing-plan-versions/${next['id']}`, { status: 'ACTIVE' })
  const chosen = {
    pricing_plan_schedule_id: of.scheduleId,
    units: [{ pricing_item_config_id: of.setup, number: '3' }],
    seats_values: [{ pricing_item_config_id: of.seats, number: '4' }],
    enabled_pricings: [{ pricing_id: of.addonId }],
  }
  const expected = ['100.00', '15.00', '31.00', '40.00'].map(amount => `03-01..2026-04-01 ${amount}`)
  const customizations = { pricing_plan_schedule_customizations: [chosen] }
  expect(linesOf((await preview(of, customizations))['first_invoice'])).toEqual(expected)
  const { enabled_pricings, ...others } = chosen
  const apart = { enabled_pricings, pricing_plan_schedule_customizations: [others] }
  expect(linesOf((await preview(of, apart))['first_invoice'])).toEqual(expected)
  const unknown = [{ ...others, enabled_pricings: [{ pricing_id: 'prcg_none' }] }]
  const body = { template_pricing_plan_subscription_id: of.id, pricing_plan_schedule_customizations: unknown }
  const field = 'pricing_plan_schedule_customizations.0.enabled_pricings.0.pricing_id'
  expect(await refused(body)).toEqual([404, 'RESOURCE_NOT_FOUND', field])
})

test('with as many promotion codes as the template allows', async () => {
  const of = await template()
  const [{ code: one }, { code: other }] = [await promotion(), await promotion()]
  const field = 'pricing_plan_schedule_customizations.0.promotion_codes'
  const answerTo = async (...promotion_codes: string[]) => {
    const { body } = await tenant.call('POST', PREVIEW, {
      template_pricing_plan_subscription_id: of.id,
      pricing_plan_schedule_customizations: [{ pricing_plan_schedule_id: of.scheduleId, promotion_codes }],
    })
    return body['code'] === undefined ? linesOf(body['invoice']).length : [body['code'], body['field']]
  }
  const allow = (allow_promotion_codes: string | null) =>
    patch(`pricing-plan-subscriptions/${of.id}`, { template: { allow_promotion_codes } })
  // Three charges, and a line for each discount.
  expect(await answerTo(one, other)).toBe(5)
  expect((await allow('SINGLE'))['template']).toEqual({ allow_promotion_codes: 'SINGLE' })
  expect(await answerTo(one)).toBe(4)
  expect(await answerTo(one, other)).toEqual(['INVALID_FIELD', field])
  await allow('NONE')
  expect(await answerTo()).toBe(3)
  expect(await answerTo(one)).toEqual(['INVALID_FIELD', field])
  await allow(null)
  expect(await answerTo(one, other)).toBe(5)
})

test('what is chosen stands beside what the template has for other prices', async () => {
  const of = await template({ hasChosen: true })
  const own = ['100.00', '5.00', '6.00', '7.00'].map(each => `03-01..2026-04-01 ${each}`)
  const charged = async (body: object) => linesOf((await preview(of, body))['invoice'])
  const and = (...more: string[]) => [...own, ...more.map(each => `03-01..2026-04-01 ${each}`)].toSorted()
  expect(await charged({})).toEqual(and('50.00'))
  const customized = {
    pricing_plan_schedule_id: of.scheduleId,
    seats_values: [{ pricing_item_config_id: of.seats, number: '4' }],
    enabled_pricings: [{ pricing_id: of.addonId }],
  }
  expect(await charged({ pricing_plan_schedule_customizations: [customized] })).toEqual(and('40.00', '31.00'))
  expect(await charged({ enabled_pricings: customized.enabled_pricings })).toEqual(and('50.00', '31.00'))
})

test('what cannot be previewed is refused with its field', async () => {
  const of = await template()
  const template_pricing_plan_subscription_id = of.id
  const on = (...pricing_plan_schedule_customizations: object[]) => ({
    template_pricing_plan_subscription_id,
    pricing_plan_schedule_customizations,
  })
  const own = { pricing_plan_schedule_id: of.scheduleId }
  const CUSTOMIZED = 'pricing_plan_schedule_customizations'
  const { id: subscription } = await sales.subscription()
  const cases: readonly (readonly [object, number, string, string])[] = [
    [{}, 400, 'MISSING_FIELD', 'pricing_plan_subscription_id'],
    [
      { pricing_plan_subscription_id: subscription, template_pricing_plan_subscription_id },
      ...([400, 'INVALID_FIELD', 'template_pricing_plan_subscription_id'] as const),
    ],
    [
      { pricing_plan_subscription_id: subscription, customer_details: person('NL') },
      ...([400, 'INVALID_FIELD', 'customer_details'] as const),
    ],
    [
      { pricing_plan_subscription_id: template_pricing_plan_subscription_id },
      ...([400, 'INVALID_FIELD', 'pricing_plan_subscription_id'] as const),
    ],
    [
      { pricing_plan_subscription_id: 'ppsu_none' },
      ...([404, 'RESOURCE_NOT_FOUND', 'pricing_plan_subscription_id'] as const),
    ],
    [
      { template_pricing_plan_subscription_id: 'ppsu_none' },
      ...([404, 'RESOURCE_NOT_FOUND', 'template_pricing_plan_subscription_id'] as const),
    ],
    [
      { template_pricing_plan_subscription_id: subscription },
      ...([400, 'INVALID_FIELD', 'template_pricing_plan_subscription_id'] as const),
    ],
    [
      {
        template_pricing_plan_subscription_id,
        customer_details: { ...person('NL'), organization: { legal_name: 'A' } },
      },
      ...([400, 'INVALID_FIELD', 'customer_details.organization'] as const),
    ],
    [
      { template_pricing_plan_subscription_id, customer_details: { type: 'INDIVIDUAL', name: 'A' } },
      ...([400, 'INVALID_FIELD', 'customer_details.name'] as const),
    ],
    [
      on({ pricing_plan_schedule_id: 'ppsc_none' }),
      ...([404, 'RESOURCE_NOT_FOUND', `${CUSTOMIZED}.0.pricing_plan_schedule_id`] as const),
    ],
    [on(own, own), 400, 'INVALID_FIELD', `${CUSTOMIZED}.1.pricing_plan_schedule_id`],
    [
      on({ ...own, units: [{ pricing_item_config_id: of.seats, number: '2' }] }),
      ...([400, 'INVALID_FIELD', `${CUSTOMIZED}.0.units.0.pricing_item_config_id`] as const),
    ],
    [
      on({ ...own, units: [{ pricing_item_config_id: of.setup, number: '0' }] }),
      ...([400, 'INVALID_FIELD', `${CUSTOMIZED}.0.units.0.number`] as const),
    ],
    [on({ ...own, promotion_codes: ['NONE'] }), 400, 'INVALID_FIELD', `${CUSTOMIZED}.0.promotion_codes`],
    [
      on({ ...own, enabled_pricings: [{ pricing_id: 'prcg_none' }] }),
      ...([404, 'RESOURCE_NOT_FOUND', `${CUSTOMIZED}.0.enabled_pricings.0.pricing_id`] as const),
    ],
    [
      {
        ...on({ ...own, enabled_pricings: [{ pricing_id: of.addonId }] }),
        enabled_pricings: [{ pricing_id: of.addonId }],
      },
      ...([400, 'INVALID_FIELD', 'enabled_pricings'] as const),
    ],
    [on({ ...own, discount: {} }), 400, 'INVALID_FIELD', `${CUSTOMIZED}.0.discount`],
  ]
  for (const [body, ...expected] of cases) expect([body, await refused(body)]).toEqual([body, expected])
  // Of another tenant it is not there.
  const foreign = await callOther('POST', PREVIEW, { template_pricing_plan_subscription_id })
  expect([foreign.status, foreign.body['field']]).toEqual([404, 'template_pricing_plan_subscription_id'])
})
