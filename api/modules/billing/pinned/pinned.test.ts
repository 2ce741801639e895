import { describe, expect, test } from 'vitest'
import type { InvoiceDateType } from '../../../../shared/billing/invoice-dates/invoice-date.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import { chargesOf } from '../charges/charges.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { exampleInputs, plainUsage, recurring } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { canonical, differencesOf } from '../why/verify-invoice.ts'
import { catalogOf, type Pin, pinnedRequest, pinOf, textsOf } from './pinned.ts'

/** A pin, stored and read again. */
function stored(pin: Pick<Pin, 'inputs' | 'request'>) {
  const { catalog, ...texts } = textsOf(pin)
  return pinOf({ ...texts, catalog: catalogOf(catalog) })
}

describe('what is kept of an invoice', () => {
  test('gives the same document, byte for byte', () => {
    const inputs = exampleInputs({ start: '2026-01-01T00:00:00Z', items: [recurring('10')] })
    const [, window] = [...take(invoiceWindows(inputs), 2)]
    if (!window) throw new Error('there is a second window')
    const terms = resolveTerms(inputs)
    const usage = new Map(
      usageNeeds(chargesOf(terms, window, new Set())).map(need => [need.key, plainUsage('5')] as const),
    )
    const request: InvoiceRequest = {
      ...{ terms, window, usage, billed: new Set(['a b']), finalizedAt: at('2026-03-01T00:00:00Z') },
    }
    const kept = stored({ inputs, request: pinnedRequest(request) })
    const again = { ...kept.request, terms: resolveTerms(kept.inputs), usage, late: [] }
    expect(canonical(priceInvoice(kept.inputs, again))).toBe(canonical(priceInvoice(inputs, request)))
  })

  const DAILY = Array.from({ length: 1_000 }, (_, day) => ({
    ...{ base_currency: 'EUR', currency: 'GBP', rate: `0.${8_000 + day}`, source: 'ECB' },
    rate_timestamp: formatInstant(instantOf(at('2024-01-01T15:00:00Z') + day * 86_400_000)),
  }))
  test.each<[InvoiceDateType, string, typeof DAILY, string]>([
    ['AT_END_OF_BILLING_PERIOD', 'UTC', DAILY, 'local'],
    ['AFTER_END_OF_BILLING_PERIOD', 'Pacific/Kiritimati', DAILY, 'local'],
    ['WHEN_INVOICE_GOES_TO_FINAL', 'America/Los_Angeles', DAILY, 'local'],
    ['AT_END_OF_BILLING_PERIOD', 'UTC', DAILY.slice(0, 400), 'warned'],
  ])('of the rates of its tax, has those that may have stated it: %s in %s', (type, timezone, rates, expected) => {
    const base = exampleInputs({
      start: '2024-01-01T00:00:00Z',
      items: [recurring('10')],
      subscription: { billing_period: { type: 'YEAR', value: 1 } },
    })
    const UK = { registered_address: { country: 'GB' } }
    const inputs = {
      ...base,
      platform: { ...base.platform, timezone, invoice_settings: { invoice_date_determination_type: type } },
      customer: { ...base.customer, organization: { legal_name: 'Acme', ...UK } },
      billing_entity: { ...base.billing_entity, ...UK, tax_id: 'GB123456789' },
      tax_exchange_rates: rates,
    }
    const terms = resolveTerms(inputs)
    for (const [place, window] of [...take(invoiceWindows(inputs), 3)].entries()) {
      const finalizedAt = instantOf(window.cutoffAt + 50 * 86_400_000)
      const request: InvoiceRequest = { terms, window, usage: new Map(), billed: new Set(), finalizedAt }
      const kept = stored({ inputs, request: pinnedRequest(request) })
      const issued = canonical(priceInvoice(inputs, request))
      expect(canonical(priceInvoice(kept.inputs, { ...request, terms: resolveTerms(kept.inputs) }))).toBe(issued)
      expect(kept.inputs.tax_exchange_rates?.length).toBeLessThan(200)
      if (place === 2) expect(issued).toContain(expected === 'local' ? 'used_exchange_rate' : 'at most 31 days')
    }
  })
})

describe('differences', () => {
  test('are named by the path of the member, with both values', () => {
    expect(differencesOf({ a: [{ b: '1' }, 2], c: null }, { a: [{ b: '2' }, 2, 3] })).toEqual([
      { field: 'a.0.b', issued: '1', computed: '2' },
      { field: 'a.2', issued: null, computed: '3' },
      { field: 'c', issued: 'null', computed: null },
    ])
    expect(canonical({ b: 1, a: { d: undefined, c: [] } })).toBe('{"a":{"c":[]},"b":1}')
  })
})

function* take<T>(all: Iterable<T>, count: number): Generator<T> {
  let taken = 0
  for (const one of all) {
    if (taken++ >= count) return
    yield one
  }
}
