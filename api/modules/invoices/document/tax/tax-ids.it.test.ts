// How tax ids change invoices, through the API: from the parties to the taxes, the warnings and the FINAL document.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instantOf } from '../../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { runBilling } from '../../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../../billing/testing/no-usage.ts'
import { renderInvoicePdf } from '../../rendering/pdf/render-pdf.ts'
import { readPdf } from '../../rendering/testing/read-pdf.ts'

let api: ApiHarness
let tenant: TestTenant
let before: number
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  before = api.clock.now()
  api.clock.set(instantOf(Date.parse('2026-03-10T00:00:00Z')))
})
afterAll(async () => {
  api.clock.set(instantOf(before))
  await api.close()
})

/** The advance invoice of March, over 100.00, between these parties. */
async function invoiceBetween(entity: Row, organization: Row): Promise<Row> {
  const { subscriptionId, customerId } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    fee: '100',
  })
  const { billing_entity_id: entityId } = await succeed(
    tenant,
    'GET',
    `/v1/pricing-plan-subscriptions/${subscriptionId}`,
  )
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${entityId}`, entity)
  await succeed(tenant, 'PATCH', `/v1/customers/${customerId}`, { organization: { tax_id: null, ...organization } })
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
  const { data } = await succeed(
    tenant,
    'GET',
    `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true&statuses[]=DRAFT`,
  )
  const found = data.find((invoice: Row) => invoice['status'] === 'DRAFT')
  if (!found) throw new Error('March is billed in advance')
  return found
}

const taxesOf = (invoice: Row): string[] =>
  invoice['tax_categories'].flatMap((each: Row) =>
    each['rates'].map((rate: Row) => `${rate['name']} ${rate['percentage']} ${rate['tax_amount'].quantity}`),
  )

describe('tax ids on invoices', () => {
  test('a seller in Quebec with a QST number charges GST and QST, and both numbers are on the document (W3)', async () => {
    const address = { country: 'CA', state: 'QC', city: 'Montréal' }
    const tax_ids = [
      { type: 'CA_GST_HST', id: '123026635RT0001' },
      { type: 'CA_QST', id: '1000043172TQ0001', display_name: 'TVQ' },
    ]
    const invoice = await invoiceBetween({ registered_address: address, tax_ids }, { registered_address: address })
    expect(taxesOf(invoice)).toEqual(['GST 5 5.00', 'QST 9.975 9.98'])
    // The invoice is in euros, and nothing says what its tax is in Canadian dollars.
    expect(invoice['validation_result']).toEqual([
      { status: 'WARNING', details: expect.stringContaining('cannot be stated in CAD') },
    ])
    const final = await succeed(tenant, 'PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    const { text } = await readPdf(await renderInvoicePdf(final as never))
    expect(text).toContain('HST: 123026635RT0001')
    expect(text).toContain('TVQ: 1000043172TQ0001')
  })

  test('without that number it charges GST alone', async () => {
    const address = { country: 'CA', state: 'QC' }
    const invoice = await invoiceBetween({ registered_address: address }, { registered_address: address })
    expect(taxesOf(invoice)).toEqual(['GST 5 5.00'])
  })

  test('reverse charge on an id that is wrong, or unproven, is warned of; the invoice still goes FINAL (O3)', async () => {
    const nl = { registered_address: { country: 'NL' } }
    const wrong = await invoiceBetween(nl, { registered_address: { country: 'DE' }, tax_id: 'XX' })
    expect(wrong['validation_result']).toMatchObject([{ status: 'WARNING', details: expect.stringContaining('"XX"') }])
    const right = await invoiceBetween(nl, { registered_address: { country: 'DE' }, tax_id: 'DE136695976' })
    expect(right['validation_result']).toMatchObject([
      { status: 'WARNING', details: expect.stringContaining('DE136695976') },
    ])
    for (const { id } of [wrong, right])
      expect(await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })).toMatchObject({
        status: 'FINAL',
      })
  })

  test('an individual abroad is taxed under the registration there, which the invoice names whole', async () => {
    const invoice = await invoiceBetween(
      {
        registered_address: { country: 'NL' },
        tax_registrations: [
          {
            registered_address: { country: 'DE' },
            tax_id: 'DE136695976',
            registration_number: 'HRB 1',
            description: 'Berlin',
          },
        ],
      },
      { registered_address: { country: 'NL' } },
    )
    const { customer_id: id } = invoice
    await succeed(tenant, 'PATCH', `/v1/customers/${id}`, {
      type: 'INDIVIDUAL',
      organization: null,
      individual: { residential_address: { country: 'DE' } },
    })
    const again = await succeed(tenant, 'POST', `/v1/invoices/${invoice['id']}/refresh`, { types: ['TAX_RATES'] })
    expect(taxesOf(again)).toEqual(['VAT 19 19.00'])
    expect(again['used_tax_registration']).toMatchObject({
      country: 'DE',
      id: expect.stringMatching(/^txrg_/),
      description: 'Berlin',
      tax_id: 'DE136695976',
      registration_number: 'HRB 1',
      registered_address: { country: 'DE' },
    })
  })
})
