// Invoices from end to end with real PostgreSQL and ClickHouse: created, closed and numbered once, whatever happens.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eur } from '../../../testing/catalog.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed, useTokens } from '../testing/billed-subscription.ts'
import { openInvoiceRig } from '../testing/invoice-rig.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
import { runBilling } from './run-billing.ts'

let rig: Awaited<ReturnType<typeof openInvoiceRig>>
beforeAll(async () => {
  rig = await openInvoiceRig()
})
afterAll(() => rig?.close())

describe('billing runs', () => {
  test('a subscription is invoiced in advance and in arrears, closed at the cut and numbered after the grace (scenario A)', async () => {
    const tenant = rig.api.tenants.aLive
    rig.setTime('2026-03-20T10:00:00Z')
    const billed = await rig.subscribe(tenant, { fee: '100' })
    await useTokens(rig.client, tenant, { billed, tokens: '3450', timestamp: '2026-03-15 12:00:00.000' })
    await rig.run(tenant, billed)
    const [first, open] = await rig.invoicesOf(tenant, billed)
    expect([first?.['status'], first?.['tax_summary'].base_amount.quantity]).toEqual(['DRAFT', '67.74'])
    expect(first?.['finalize_at']).toBe('2026-03-20T18:00:00Z')
    expect([open?.['status'], open?.['tax_summary'].base_amount.quantity]).toEqual(['OPEN', '100.05'])
    expect(
      open?.['periods'].map((period: Row) => [
        period['start_at'],
        period['end_at'],
        period['amount_excluding_tax'].quantity,
      ]),
    ).toEqual([
      ['2026-03-11T00:00:00Z', '2026-04-01T00:00:00Z', '0.05'],
      ['2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z', '100.00'],
    ])

    rig.setTime('2026-04-01T00:00:00Z')
    await rig.run(tenant, billed)
    const closed = await rig.invoicesOf(tenant, billed)
    expect(closed.map(each => each['status'])).toEqual(['FINAL', 'DRAFT', 'OPEN'])
    rig.setTime('2026-04-01T08:00:00Z')
    await rig.run(tenant, billed)
    const done = await rig.invoicesOf(tenant, billed)
    expect(done.map(each => each['status'])).toEqual(['FINAL', 'FINAL', 'OPEN'])
    expect(done[1]).toMatchObject({
      invoice_date: '2026-03-31T00:00:00Z',
      due_date: '2026-04-30T00:00:00Z',
      paid: false,
    })
    expect(done.map(each => each['invoice_number'])).toEqual(['INV-2026-00001', 'INV-2026-00002', null])
    const types = (await noticesOf(rig.api, done[1]?.['id'])).map(event => event['type'])
    expect(types).toEqual([
      'INVOICE.CREATED',
      'INVOICE.UPDATED',
      'INVOICE.STATUS_TO_DRAFT',
      'INVOICE.UPDATED',
      'INVOICE.STATUS_TO_FINAL',
    ])
    await expectPayloads(rig.api, done[1]?.['id'], ['INVOICE.STATUS_TO_DRAFT'])
  })

  test('a price that is split bills each value in its own tiers', async () => {
    const tenant = rig.api.tenants.aLive
    const region = tenant.seed.unique('region')
    rig.setTime('2026-03-20T10:00:00Z')
    const billed = await rig.subscribe(tenant, {
      properties: [region],
      pricing_type: 'TIERED',
      bands: [{ amount: eur('1'), tier_top_bound: { number: '10' } }, { amount: eur('0.5') }],
      config: { split_pricing: { meter_properties: [{ reference: region }] } },
    })
    const use = (value: string, tokens: string) =>
      useTokens(rig.client, tenant, {
        billed,
        tokens,
        timestamp: '2026-03-15 12:00:00.000',
        properties: { [region]: value },
      })
    await use('eu', '8')
    await use('us', '12')
    await use('eu', '4')
    await rig.run(tenant, billed)
    const [open] = await rig.invoicesOf(tenant, billed)
    const line = open?.['periods'][0].groups[0].lines[0]
    expect(line.amount_excluding_tax.quantity).toBe('22.00')
    expect(
      line.sub_lines.map((each: Row) => [each['details'].split_pricing.meter_properties[0].value, each['description']]),
    ).toEqual([
      ['eu', `${region} eu: 10 × 1 EUR`],
      ['eu', `${region} eu: 2 × 0.5 EUR`],
      ['us', `${region} us: 10 × 1 EUR`],
      ['us', `${region} us: 2 × 0.5 EUR`],
    ])
  })

  test('a price of each event bills whole minutes of every call, at most 5.00 a call', async () => {
    const tenant = rig.api.tenants.aLive
    rig.setTime('2026-03-20T10:00:00Z')
    const billed = await rig.subscribe(tenant, {
      pricing_type: 'FLAT_TOP_UP',
      bands: [{ amount: eur('0.5'), block_size: { number: '60' }, maximum_amount: eur('5') }],
      config: { rate_per: 'EVENT' },
    })
    for (const tokens of ['61', '30', '30', '3600']) {
      await useTokens(rig.client, tenant, { billed, tokens, timestamp: '2026-03-15 12:00:00.000' })
    }
    await rig.run(tenant, billed)
    const [open] = await rig.invoicesOf(tenant, billed)
    const line = open?.['periods'][0].groups[0].lines[0]
    expect(line).toMatchObject({
      amount_excluding_tax: eur('7.00'),
      meter_value: { number: '3721' },
      details: { meter_value: { count: '4' } },
    })
    expect(line.sub_lines.map((each: Row) => [each['details'].price_bound, each['description']])).toEqual([
      [undefined, '4 blocks of 60 × 0.5 EUR'],
      ['MAXIMUM_AMOUNT', '60 blocks of 60 × 0.5 EUR → 1 × maximum amount 5 EUR'],
    ])
  })

  test('an OPEN invoice that counts on says nothing; what it is priced from, and its end, are announced', async () => {
    const tenant = rig.api.tenants.aLive
    rig.setTime('2026-03-20T10:00:00Z')
    const billed = await rig.subscribe(tenant)
    const use = async (tokens: string, time: string) => {
      await useTokens(rig.client, tenant, { billed, tokens, timestamp: '2026-03-15 12:00:00.000' })
      rig.setTime(time)
      await rig.run(tenant, billed)
      return (await rig.invoicesOf(tenant, billed))[0] ?? {}
    }
    const first = await use('100', '2026-03-20T10:00:00Z')
    const typesOf = async () => (await noticesOf(rig.api, first['id'])).map(({ type }) => type)
    const second = await use('400', '2026-03-20T10:01:00Z')
    const quantityOf = (invoice: Row) => invoice['periods'][0].groups[0].lines[0].meter_value.number
    expect([first, second].map(quantityOf)).toEqual(['100', '500'])
    expect(second).toMatchObject({ status: 'OPEN', updated_at: '2026-03-20T10:01:00Z' })
    expect(await typesOf()).toEqual(['INVOICE.CREATED'])

    await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, {
      organization: { legal_name: 'Renamed', registered_address: { country: 'NL' } },
    })
    await use('1', '2026-03-20T10:02:00Z')
    expect(await typesOf()).toEqual(['INVOICE.CREATED', 'INVOICE.UPDATED'])

    await use('1', '2026-04-01T00:00:00Z')
    const [, , , ended] = await noticesOf(rig.api, first['id'])
    expect(ended).toMatchObject({ type: 'INVOICE.STATUS_TO_DRAFT' })
    await use('1', '2026-04-01T00:01:00Z')
    expect((await typesOf()).at(-1)).toBe('INVOICE.UPDATED')
    await expectPayloads(rig.api, first['id'], ['INVOICE.STATUS_TO_DRAFT'])
  })

  test('a DRAFT whose period ends later after all, by the time zone of its customer, collects again as OPEN', async () => {
    const tenant = rig.api.tenants.aLive
    const { billed, invoice } = await rig.draftInvoice(tenant)
    await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { timezone: 'America/New_York' })
    await rig.run(tenant, billed)
    const again = (await rig.invoicesOf(tenant, billed)).find(each => each['id'] === invoice['id'])
    expect(again).toMatchObject({ status: 'OPEN', finalize_at: null })
    expect((await noticesOf(rig.api, invoice['id'])).at(-1)?.['type']).toBe('INVOICE.STATUS_TO_OPEN')
    await expectPayloads(rig.api, invoice['id'], ['INVOICE.STATUS_TO_OPEN'])
  })

  test('a run that is repeated, or runs five times at once, changes nothing and makes one invoice a period', async () => {
    const tenant = rig.api.tenants.aTest
    rig.setTime('2026-06-10T00:00:00Z')
    const billed = await rig.subscribe(tenant, { fee: '100' })
    await Promise.all(Array.from({ length: 5 }, () => rig.run(tenant, billed)))
    const invoices = await rig.invoicesOf(tenant, billed)
    expect(invoices.map(each => each['period_start']).toSorted()).toEqual([
      '2026-03-11T00:00:00Z',
      '2026-03-11T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-05-01T00:00:00Z',
      '2026-06-01T00:00:00Z',
    ])
    const counted = () => rig.api.sql(`select count(*) from outbox where object_type = 'INVOICE'`)
    const before = await counted()
    await rig.run(tenant, billed)
    expect(await rig.invoicesOf(tenant, billed)).toEqual(invoices)
    expect(await counted()).toEqual(before)
    const charged = invoices.flatMap(each =>
      each['periods'].flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines'])),
    )
    expect(new Set(charged.map((line: Row) => line['id'])).size).toBe(charged.length)
  })

  test('a subscription years behind catches up over several runs, also while its drafts are held', async () => {
    const tenant = rig.api.tenants.bTest
    rig.setTime('2026-06-10T00:00:00Z')
    const billed = await rig.subscribe(tenant, {
      start_at: '2023-01-01T00:00:00Z',
      fee: '100',
      subscription: { init_invoice_on_hold: true },
    })
    const first = await rig.run(tenant, billed)
    expect([first.invoices.length, first.nextBillingAt]).toEqual([24, Date.parse('2026-06-10T00:00:00Z')])
    const second = await rig.run(tenant, billed)
    expect(second.nextBillingAt).toBe(Date.parse('2026-06-10T01:00:00Z'))
    const counted = await rig.api.sql(
      'select count(*)::int as n from invoices where pricing_plan_subscription_id = $1',
      [billed.subscriptionId],
    )
    expect(counted[0]?.['n']).toBe(43)
  })

  test('a period without anything to charge takes no number', async () => {
    const tenant = rig.api.tenants.bTest
    rig.setTime('2026-04-02T00:00:00Z')
    const billed = await rig.subscribe(tenant)
    await rig.run(tenant, billed)
    rig.setTime('2026-04-02T08:00:00Z')
    await rig.run(tenant, billed)
    const [march] = await rig.invoicesOf(tenant, billed)
    expect([march?.['status'], march?.['invoice_number']]).toEqual(['ARCHIVED', null])
    await rig.run(tenant, billed)
    expect(await rig.invoicesOf(tenant, billed)).toHaveLength(2)
  })

  test('a cancellation shortens the running period; the last invoice is arrears alone', async () => {
    const tenant = rig.api.tenants.bLive
    rig.setTime('2026-04-10T00:00:00Z')
    const billed = await rig.subscribe(tenant, { fee: '100' })
    await rig.run(tenant, billed)
    await useTokens(rig.client, tenant, { billed, tokens: '1000000', timestamp: '2026-04-12 00:00:00.000' })
    await useTokens(rig.client, tenant, { billed, tokens: '9000000', timestamp: '2026-04-17 00:00:00.000' })
    await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}/cancel`, {
      type: 'DATE',
      cancel_at: '2026-04-16T00:00:00Z',
    })
    rig.setTime('2026-04-16T00:00:00Z')
    await rig.run(tenant, billed)
    const last = (await rig.invoicesOf(tenant, billed)).at(-1)
    expect([last?.['status'], last?.['period_end'], last?.['tax_summary'].base_amount.quantity]).toEqual([
      'DRAFT',
      '2026-04-16T00:00:00Z',
      '15.00',
    ])
    rig.setTime('2026-07-01T00:00:00Z')
    const { nextBillingAt } = await rig.run(tenant, billed)
    expect(nextBillingAt).toBeNull()
    expect((await rig.invoicesOf(tenant, billed)).map(each => each['status'])).toEqual(['FINAL', 'FINAL', 'FINAL'])
  })

  test('nothing closes while usage is still being counted; the run comes back', async () => {
    const tenant = rig.api.tenants.aLive
    rig.setTime('2026-03-20T00:00:00Z')
    const billed = await rig.subscribe(tenant)
    await rig.run(tenant, billed)
    rig.setTime('2026-04-01T00:00:00Z')
    rig.said.complete = false
    try {
      const { nextBillingAt } = await rig.run(tenant, billed)
      expect(nextBillingAt).toBe(Date.parse('2026-04-01T00:01:00Z'))
      expect((await rig.invoicesOf(tenant, billed)).map(each => each['status'])).toEqual(['OPEN', 'OPEN'])
    } finally {
      rig.said.complete = true
    }
  })

  test('an extra open period keeps the invoice OPEN with the dates of its period, and the grace follows it', async () => {
    const tenant = rig.api.tenants.bLive
    const platform = `/v1/platforms/${tenant.tenant.platformId}`
    const extra = (period: object | null) =>
      succeed(tenant, 'PATCH', platform, { invoice_settings: { invoice_extra_open_period: period } })
    expect((await extra({ value: 2, type: 'DAY' }))['invoice_settings'].invoice_extra_open_period).toEqual({
      ...{ value: 2, type: 'DAY' },
    })
    try {
      rig.setTime('2026-03-20T00:00:00Z')
      const billed = await rig.subscribe(tenant, { fee: '20' })
      await rig.run(tenant, billed)
      const march = async () => {
        const all = await rig.invoicesOf(tenant, billed)
        const one = all.find(each => each['period_start'] === all[0]?.['period_start'] && each['usage_counted_until'])
        return [one?.['status'], one?.['finalize_at'], one?.['invoice_date']]
      }
      for (const [time, status, finalizeAt] of [
        ['2026-04-01T10:00:00Z', 'OPEN', null],
        ['2026-04-02T23:00:00Z', 'OPEN', null],
        ['2026-04-03T00:00:00Z', 'DRAFT', '2026-04-03T08:00:00Z'],
      ] as const) {
        rig.setTime(time)
        const { nextBillingAt } = await rig.run(tenant, billed)
        expect(nextBillingAt, time).toBeGreaterThan(Date.parse(time))
        expect(await march(), time).toEqual([status, finalizeAt, '2026-03-31T00:00:00Z'])
      }
      rig.setTime('2026-04-03T08:00:00Z')
      await rig.run(tenant, billed)
      expect((await march())[0]).toBe('FINAL')

      await extra(null)
      rig.setTime('2026-04-20T00:00:00Z')
      const other = await rig.subscribe(tenant, { fee: '20' })
      await rig.run(tenant, other)
      rig.setTime('2026-05-01T02:00:00Z')
      await rig.run(tenant, other)
      const draft = (await rig.invoicesOf(tenant, other)).find(each => each['status'] === 'DRAFT')
      expect(draft?.['finalize_at']).toBe('2026-05-01T08:00:00Z')
      // A setting that comes later does not make it OPEN again.
      await extra({ value: 2, type: 'DAY' })
      const ranAt = async (time: string) => {
        rig.setTime(time)
        await rig.run(tenant, other)
        const { status, finalize_at } =
          (await rig.invoicesOf(tenant, other)).find(({ id }) => id === draft?.['id']) ?? {}
        return [status, finalize_at]
      }
      expect(await ranAt('2026-05-01T02:30:00Z')).toEqual(['DRAFT', draft?.['finalize_at']])
      expect((await ranAt('2026-05-01T08:00:00Z'))[0]).toBe('FINAL')
    } finally {
      await extra(null)
    }
  })

  test('a change between reading and saving is seen: the invoice is computed again', async () => {
    const tenant = rig.api.tenants.aLive
    rig.setTime('2026-04-01T01:00:00Z')
    const billed = await rig.subscribe(tenant)
    let changed = 0
    const usage: UsageReader = {
      ...rig.deps.usage,
      read: async (...question) => {
        changed += 1
        if (changed === 1) {
          const organization = { legal_name: 'Renamed', registered_address: { country: 'NL' } }
          await succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization })
        }
        return rig.deps.usage.read(...question)
      },
    }
    await runBilling({ ...rig.deps, usage }, tenant.tenant, billed.subscriptionId)
    expect(changed).toBeGreaterThan(2)
    const names = (await rig.invoicesOf(tenant, billed)).map(each => each['customer'].organization.legal_name)
    expect(names).toEqual(['Renamed', 'Renamed'])
  })
})
