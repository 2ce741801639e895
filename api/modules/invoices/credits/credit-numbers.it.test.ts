// The numbers of credit notes: a series of their own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../../../testing/calls.ts'
import { type ApiHarness, startApi } from '../../../testing/harness.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { finalize, issued } from './testing/issued-invoice.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  api.clock.set(Date.parse('2026-05-04T10:00:00Z'))
})
afterAll(async () => await api?.close())

describe('number series', () => {
  test('are configured apart, and refused where two could give the same number', async () => {
    const tenant = api.tenants.aLive
    const url = `/v1/platforms/${tenant.tenant.platformId}`
    const set = (invoice_settings: unknown) => tenant.call('PATCH', url, { invoice_settings })
    const same = await set({ self_billing_invoice_number_configuration: { prefix: 'CRE' } })
    expect([same.status, same.body['field']]).toEqual([
      400,
      'invoice_settings.self_billing_invoice_number_configuration.prefix',
    ])
    const unknown = await set({
      credit_invoice_number_configuration: { prefix: '{{customer.custom_fields[unknown]}}' },
    })
    expect([unknown.status, unknown.body['field']]).toEqual([
      400,
      'invoice_settings.credit_invoice_number_configuration.prefix',
    ])
    expect(
      (await set({ credit_invoice_number_configuration: { prefix: 'GS', minimum_number_of_digits: 3 } })).status,
    ).toBe(200)
    const { url: invoice } = await issued(tenant)
    const credit = await succeed(tenant, 'POST', `${invoice}/credit`, {})
    expect((await finalize(tenant, credit['id']))['invoice_number']).toBe('GS-2026-001')
    await set({})
  })
})
