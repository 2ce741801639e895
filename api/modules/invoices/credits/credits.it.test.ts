// Credit notes: what they credit, how that changes the invoice, and that they never exceed what is left.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal, succeed } from '../../../testing/calls.ts'
import { type ApiHarness, startApi } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { amounts, at, eur, finalize, issued, line, oneOff } from './testing/issued-invoice.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  api.clock.set(Date.parse('2026-05-04T10:00:00Z'))
})
afterAll(async () => await api?.close())

describe('a credit note', () => {
  test('over the whole mirrors the invoice, has a number of its own series, and settles what was open', async () => {
    const tenant = api.tenants.aTest
    const { url, invoice } = await issued(tenant)
    expect(amounts(invoice)).toEqual(['UNPAID', false, '0.00', '145.20', '0.00', '0.00'])
    const credit = await succeed(tenant, 'POST', `${url}/credit`, { note: 'Returned.' })
    expect(credit).toMatchObject({
      type: 'ONE_OFF_CREDIT',
      status: 'DRAFT',
      invoice_number: null,
      invoice_amount_excluding_tax: eur('-120.00'),
      invoice_amount_including_tax: eur('-145.20'),
      tax_summary: { base_amount: eur('-120.00'), tax_amount: eur('-25.20'), total_amount: eur('-145.20') },
      credit: { original_invoice_id: invoice['id'], note: 'Returned.', credit_details_source: 'CURRENT' },
      notes: ['Returned.'],
      linked_invoices_ids: [invoice['id']],
    })
    expect(amounts(await succeed(tenant, 'GET', url))).toEqual(['UNPAID', false, '0.00', '145.20', '0.00', '0.00'])
    const final = await finalize(tenant, credit['id'])
    expect(final['invoice_number']).toMatch(/^CRE-2026-\d{5}$/)
    expect([final['invoice_date'], final['due_date']]).toEqual(['2026-05-04T00:00:00Z', '2026-05-04T00:00:00Z'])
    const after = await succeed(tenant, 'GET', url)
    expect(amounts(after)).toEqual(['PAID', true, '0.00', '0.00', '145.20', '0.00'])
    expect(after['linked_invoices']).toEqual([
      {
        id: credit['id'],
        link_type: 'CREDIT',
        note: 'Returned.',
        invoice_number: final['invoice_number'],
        amount: eur('-145.20'),
        invoice_date: '2026-05-04T00:00:00Z',
      },
    ])
    expect((await noticesOf(api, invoice['id'])).map(({ type }) => type)).not.toContain('INVOICE.PAID')
    expect(await refusal(tenant, 'POST', `${url}/credit`, {})).toEqual([400, 'INVALID_OPERATION', 'periods'])
    expect((await tenant.call('GET', `/v1/invoices/${credit['id']}/pdf`)).status).toBe(200)
    // A line of a credit note refers to the line that it credits, and billing ignores it.
    const rows = await api.sql('select amount_including_tax, source from invoice_lines where invoice_id = $1', [
      credit['id'],
    ])
    expect(rows).toHaveLength(3)
  })

  test('in parts: by line, group and period, until nothing is left; the tax is that of the invoice', async () => {
    const tenant = api.tenants.aTest
    const { url, invoice } = await issued(tenant)
    const first = await succeed(tenant, 'POST', `${url}/credit`, at(0, '33.33'))
    expect([first['invoice_amount_excluding_tax'], first['tax_summary'].tax_amount]).toEqual([
      eur('-33.33'),
      eur('-7.00'),
    ])
    await finalize(tenant, first['id'])
    expect(amounts(await succeed(tenant, 'GET', url))).toEqual(['UNPAID', false, '0.00', '104.87', '40.33', '0.00'])
    const second = await succeed(tenant, 'POST', `${url}/credit`, {
      // The groups of the only period.
      groups: [{ group_order: 0, amount: eur('20.00') }],
    })
    expect(second['invoice_amount_excluding_tax']).toEqual(eur('-20.00'))
    const third = await succeed(tenant, 'POST', `${url}/credit`, { periods: [{ period_order: 0 }] })
    expect(third['invoice_amount_excluding_tax']).toEqual(eur('-66.67'))
    for (const { id } of [second, third] as unknown as { id: string }[]) await finalize(tenant, id)
    const after = await succeed(tenant, 'GET', url)
    expect(amounts(after)).toEqual(['PAID', true, '0.00', '0.00', '145.20', '0.00'])
    expect(after['linked_invoices_ids']).toHaveLength(3)
    expect(invoice['id']).toBe(after['id'])
  })

  test('of a paid invoice leaves an amount that can be refunded', async () => {
    const tenant = api.tenants.aTest
    const { url } = await issued(tenant)
    await succeed(tenant, 'PATCH', url, { payment_status: 'PAID' })
    const credit = await succeed(tenant, 'POST', `${url}/credit`, at(1))
    await finalize(tenant, credit['id'])
    expect(amounts(await succeed(tenant, 'GET', url))).toEqual(['OVERPAID', true, '145.20', '0.00', '145.20', '60.50'])
    expect(await refusal(tenant, 'PATCH', url, { payment_status: 'PAID' })).toEqual([
      400,
      'INVALID_OPERATION',
      'payment_status',
    ])
    expect(amounts(await succeed(tenant, 'PATCH', url, { paid: false }))).toEqual([
      'UNPAID',
      false,
      '0.00',
      '84.70',
      '60.50',
      '0.00',
    ])
  })

  test('never gives back tax that was not charged, even where an exempt line leaves the total high enough', async () => {
    const tenant = api.tenants.aTest
    const { id } = await tenant.seed.make(productItemResource)
    await succeed(tenant, 'PATCH', `/v1/product-items/${id}`, { tax_category: 'EXEMPT' })
    const draft = await oneOff(tenant, [
      line('A', '100'),
      line('Less', '80', { product_item_type: 'DEDUCTION' }),
      line('Exempt', '200', { product_item_id: id }),
    ])
    const url = `/v1/invoices/${draft['id']}`
    await finalize(tenant, draft['id'])
    expect(await refusal(tenant, 'POST', `${url}/credit`, at(0))).toEqual([400, 'INVALID_FIELD', 'periods'])
    const { tax_summary } = await succeed(tenant, 'POST', `${url}/credit`, at(0, '20'))
    expect([tax_summary.tax_amount, tax_summary.total_amount]).toEqual([eur('-4.20'), eur('-24.20')])
  })

  test('of a refund takes the refund back, in full or in part', async () => {
    const tenant = api.tenants.aTest
    const draft = await oneOff(tenant, [line('A', '10'), line('Back', '30', { product_item_type: 'DEDUCTION' })])
    const url = `/v1/invoices/${draft['id']}`
    expect(amounts(await finalize(tenant, draft['id']))).toEqual(['UNPAID', false, '0.00', '-24.20', '0.00', '0.00'])
    const steps = [
      [at(1, '-5'), '6.05', ['UNPAID', false, '0.00', '-18.15', '-6.05', '0.00']],
      // To credit its charge makes the refund larger.
      [at(0), '-12.10', ['UNPAID', false, '0.00', '-30.25', '6.05', '0.00']],
      [{}, '30.25', ['PAID', true, '0.00', '0.00', '-24.20', '0.00']],
    ] as const
    for (const [body, total, after] of steps) {
      const credit = await succeed(tenant, 'POST', `${url}/credit`, body)
      expect([credit['type'], credit['invoice_amount_including_tax']]).toEqual(['ONE_OFF_CREDIT', eur(total)])
      await finalize(tenant, credit['id'])
      expect(amounts(await succeed(tenant, 'GET', url))).toEqual(after)
    }
    expect(await refusal(tenant, 'POST', `${url}/credit`, {})).toEqual([400, 'INVALID_OPERATION', 'periods'])
  })

  test('that becomes VOID releases what it reserved, and one on hold gets no number by itself', async () => {
    const tenant = api.tenants.aTest
    const { url } = await issued(tenant)
    const credit = await succeed(tenant, 'POST', `${url}/credit`, {
      force_init_on_hold: true,
      delivery_date: '2026-04-30T00:00:00Z',
    })
    expect(credit).toMatchObject({ on_hold: true, delivery_date: '2026-04-30T00:00:00Z', finalize_at: null })
    expect(await refusal(tenant, 'POST', `${url}/credit`, at(0, '1'))).toEqual([
      400,
      'INVALID_FIELD',
      'periods.0.groups.0.lines.0',
    ])
    const other = `/v1/invoices/${credit['id']}`
    expect(await refusal(tenant, 'POST', `${other}/lines`, line('X', '1'))).toEqual([400, 'INVALID_OPERATION', 'lines'])
    await succeed(tenant, 'POST', `${other}/void`)
    expect((await succeed(tenant, 'POST', `${url}/credit`, at(0, '1')))['invoice_amount_excluding_tax']).toEqual(
      eur('-1.00'),
    )
    expect(await succeed(tenant, 'POST', `${other}/archive`)).toMatchObject({ status: 'ARCHIVED' })
  })

  test('shows the names of now, or those of the invoice', async () => {
    const tenant = api.tenants.aTest
    const { url, invoice } = await issued(tenant)
    const customer = await succeed(tenant, 'GET', `/v1/customers/${invoice['customer_id']}`)
    await succeed(tenant, 'PATCH', `/v1/customers/${customer['id']}`, {
      organization: { ...customer['organization'], legal_name: 'Acme Holding', tax_exempt: true },
    })
    const current = await succeed(tenant, 'POST', `${url}/credit`, at(0, '10'))
    const original = await succeed(tenant, 'POST', `${url}/credit`, {
      ...at(0, '10'),
      credit_details_source: 'ORIGINAL',
    })
    expect([current, original].map(({ customer }) => customer.organization.legal_name)).toEqual([
      'Acme Holding',
      'Acme',
    ])
    // Taxed like the original invoice, although the customer is exempt now.
    expect(current['tax_summary'].tax_amount).toEqual(eur('-2.10'))
  })

  test('is refused with the place that is wrong', async () => {
    const tenant = api.tenants.aTest
    const { url, invoice } = await issued(tenant)
    const one = { period_order: 0, groups: [{ group_order: 0, lines: [{ line_order: 0 }] }] }
    const cases: readonly (readonly [unknown, string])[] = [
      [{ periods: [{ period_order: 1 }] }, 'periods.0.period_order'],
      [{ periods: [{ period_order: 0, groups: [{ group_order: 2 }] }] }, 'periods.0.groups.0.group_order'],
      [at(7), 'periods.0.groups.0.lines.0.line_order'],
      [at(0, '100.01'), 'periods.0.groups.0.lines.0.amount.quantity'],
      [at(0, '0'), 'periods.0.groups.0.lines.0.amount.quantity'],
      [at(0, '-1'), 'periods.0.groups.0.lines.0.amount.quantity'],
      [at(2, '1'), 'periods.0.groups.0.lines.0.amount.quantity'],
      [at(0, '0.001'), 'periods.0.groups.0.lines.0.amount.quantity'],
      [{ periods: [{ ...one, amount: eur('1') }] }, 'periods.0.amount'],
      [{ periods: [one, one] }, 'periods.1.groups.0.lines.0'],
      [{ periods: [] }, 'periods'],
      [{ groups: [] }, 'groups'],
      [{ groups: [{ group_order: 2 }] }, 'groups.0.group_order'],
      [{ groups: [{ group_order: 0, lines: [{ line_order: 7 }] }] }, 'groups.0.lines.0.line_order'],
      [{ groups: [{ group_order: 0, amount: eur('999') }] }, 'groups.0.amount.quantity'],
      [{ groups: [{ group_order: 0 }], periods: [{ period_order: 0 }] }, 'groups'],
      // The deduction alone would charge it.
      [at(2), 'periods'],
      // A and B alone are 150, and the invoice was 120.
      [
        { periods: [{ period_order: 0, groups: [{ group_order: 0, lines: [{ line_order: 0 }, { line_order: 1 }] }] }] },
        'periods',
      ],
    ]
    for (const [body, field] of cases)
      expect([field, await refusal(tenant, 'POST', `${url}/credit`, body)]).toEqual([
        field,
        [400, 'INVALID_FIELD', field],
      ])
    const messageOf = async (body: unknown) => (await tenant.call('POST', `${url}/credit`, body)).body['message']
    expect(await messageOf(at(0, '0'))).toBe(
      'Give an amount above zero and at most 100 EUR, which is what is left to credit here.',
    )
    expect(await messageOf(at(2, '1'))).toMatch(/^Give an amount below zero and at least -\d+ EUR, which/)
    const usd = at(0, '1')
    usd.periods[0]?.groups[0]?.lines.splice(0, 1, { line_order: 0, amount: { quantity: '1', currency: 'USD' } })
    expect(await refusal(tenant, 'POST', `${url}/credit`, usd)).toEqual([
      400,
      'INVALID_FIELD',
      'periods.0.groups.0.lines.0.amount.currency',
    ])
    expect(await succeed(tenant, 'GET', url)).not.toHaveProperty('linked_invoices_ids')
    const draft = await oneOff(tenant, [line('A', '1')])
    expect(await refusal(tenant, 'POST', `/v1/invoices/${draft['id']}/credit`, {})).toEqual([
      400,
      'INVALID_OPERATION',
      'status',
    ])
    const credit = await succeed(tenant, 'POST', `${url}/credit`, {})
    await finalize(tenant, credit['id'])
    expect(await refusal(tenant, 'POST', `/v1/invoices/${credit['id']}/credit`, {})).toEqual([
      400,
      'INVALID_OPERATION',
      'type',
    ])
    expect(invoice['status']).toBe('FINAL')
  })

  test('many at once never take more than there is, and each FINAL one counts once', async () => {
    const tenant = api.tenants.bTest
    const { url } = await issued(tenant)
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => tenant.call('POST', `${url}/credit`, at(0, '40'))),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 400, 400, 400, 400])
    const made = answers.filter(({ status }) => status === 200).map(({ body }) => body['id'])
    await Promise.all(made.flatMap(id => [finalize(tenant, id), finalize(tenant, id)]))
    expect(amounts(await succeed(tenant, 'GET', url))).toEqual(['UNPAID', false, '0.00', '48.40', '96.80', '0.00'])
    await expect(api.sql(`update invoices set credit = null where id = '${made[0]}'`)).rejects.toThrow(/FINAL/)
  })
})
