import { describe, expect, test } from 'vitest'
import { at } from '../../../../shared/time.ts'
import { chargesOf } from '../charges/charges.ts'
import { type InvoiceRequest, priceInvoice } from '../run/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { exampleInputs, plainUsage, recurring } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { canonical, differencesOf } from '../why/verify-invoice.ts'
import { pinnedRequest, pinOf, textsOf } from './pinned.ts'

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
    const kept = pinOf(textsOf({ inputs, request: pinnedRequest(request) }))
    const again = { ...kept.request, terms: resolveTerms(kept.inputs), usage, late: [] }
    expect(canonical(priceInvoice(kept.inputs, again))).toBe(canonical(priceInvoice(inputs, request)))
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
