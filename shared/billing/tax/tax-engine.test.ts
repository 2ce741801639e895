import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { computeAmounts } from '../amount-pipeline.ts'
import { decisionOfAnswer, type EngineQuestion, NoTaxAnswer, readEngineAnswer } from './tax-engine.ts'

const PARTY = { reference: null, type: 'ORGANIZATION', tax_ids: [] } as const
const address = (country: string) => ({ line1: null, line2: null, city: null, postal_code: null, state: null, country })
const question = (seller: string, buyer: string, billing_type: EngineQuestion['billing_type'] = 'DEFAULT') => ({
  ...({ version: 1, date: '2026-06-30', tax_category: 'STANDARD', billing_type } as const),
  seller: { ...PARTY, id: 'bill_1', address: address(seller), registrations: [] },
  buyer: { ...PARTY, id: 'cust_1', address: address(buyer), tax_exempt: false, tax_exempt_percentage: null },
})

describe('an answer', () => {
  test('gives the tax, with what it left out', () => {
    expect(readEngineAnswer({ treatment: 'EXPORT', extra: 1 })).toEqual({
      ...{
        treatment: 'EXPORT',
        rates: [],
        taxable_percentage: '100',
        note: null,
        registration_country: null,
        source: null,
      },
    })
  })

  test.each<[unknown, RegExp]>([
    [null, /not a JSON object/],
    [[], /not a JSON object/],
    [{}, /treatment is none of TAXED/],
    [{ treatment: 'taxed' }, /treatment is none of/],
    [{ treatment: 'TAXED' }, /has no rates/],
    [{ treatment: 'EXPORT', rates: [{ name: 'VAT', percentage: '5' }] }, /it is EXPORT and has rates/],
    [{ treatment: 'TAXED', rates: {} }, /rates is not a list/],
    [{ treatment: 'TAXED', rates: [null] }, /rates\.0 is not an object/],
    [{ treatment: 'TAXED', rates: [{ name: '', percentage: '5' }] }, /rates\.0\.name/],
    [{ treatment: 'TAXED', rates: [{ name: 'a\nb', percentage: '5' }] }, /rates\.0\.name/],
    [
      { treatment: 'TAXED', rates: [{ name: 'VAT', percentage: 5 }] },
      /rates\.0\.percentage is not a percentage as text/,
    ],
    [{ treatment: 'TAXED', rates: [{ name: 'VAT', percentage: '-5' }] }, /rates\.0\.percentage/],
    [{ treatment: 'TAXED', rates: [{ name: 'VAT', percentage: '1e2' }] }, /rates\.0\.percentage/],
    [{ treatment: 'TAXED', rates: [{ name: 'VAT', percentage: '100.1' }] }, /over 100/],
    [{ treatment: 'TAXED', rates: ['60', '50'].map(percentage => ({ name: 'T', percentage })) }, /over 100 together/],
    [{ treatment: 'TAXED', rates: Array.from({ length: 21 }, () => ({ name: 'T', percentage: '1' })) }, /at most 20/],
    [
      { treatment: 'TAXED', rates: [{ name: 'VAT', percentage: '5' }], taxable_percentage: '101' },
      /taxable_percentage is over 100/,
    ],
    [{ treatment: 'NOT_TAXED', note: '' }, /note is not a text/],
    [{ treatment: 'NOT_TAXED', registration_country: 'Germany' }, /registration_country/],
  ])('%j is no answer', (json, message) => {
    expect(() => readEngineAnswer(json)).toThrow(NoTaxAnswer)
    expect(() => readEngineAnswer(json)).toThrow(message)
  })
})

describe('the tax by an answer', () => {
  const decide = (json: unknown, asked = question('NL', 'DE')) => {
    const { treatment, rates, notes, taxableShare, usedRegistration, invoiceNotes } = decisionOfAnswer(
      readEngineAnswer(json),
      asked,
    )
    return {
      treatment,
      rates: rates.map(rate => `${rate.name} ${plain(rate.percentage)}`),
      notes: [...notes, ...invoiceNotes].map(note => note.code),
      share: `${plain(taxableShare.numerator)}/${plain(taxableShare.denominator)}`,
      usedRegistration,
    }
  }
  const none = { rates: [], notes: [] as string[], share: '1/1', usedRegistration: null }
  const vat = { treatment: 'TAXED', rates: [{ name: 'VAT', percentage: '19' }] }

  test.each<[string, unknown, object]>([
    ['a rate', vat, { ...none, treatment: 'TAX_ENGINE', rates: ['VAT 19'] }],
    [
      'a part',
      { ...vat, taxable_percentage: '25' },
      { ...none, treatment: 'TAX_ENGINE', rates: ['VAT 19'], share: '25/100' },
    ],
    [
      'a registration',
      { ...vat, registration_country: 'DE' },
      { ...none, treatment: 'TAX_ENGINE', rates: ['VAT 19'], usedRegistration: 'DE' },
    ],
    [
      'a rate of zero',
      { treatment: 'TAXED', rates: [{ name: 'VAT', percentage: '0' }], taxable_percentage: '25' },
      { ...none, treatment: 'TAX_ENGINE', rates: ['VAT 0'] },
    ],
    [
      'a rate of zero beside another',
      { ...vat, rates: [...vat.rates, { name: 'PST', percentage: '0' }] },
      { ...none, treatment: 'TAX_ENGINE', rates: ['VAT 19'] },
    ],
    [
      'no tax',
      { treatment: 'NOT_TAXED', note: 'No nexus.' },
      { ...none, treatment: 'TAX_ENGINE', notes: ['NO_TAX', 'TAX_ENGINE'] },
    ],
    [
      'reverse charge',
      { treatment: 'REVERSE_CHARGE' },
      { ...none, treatment: 'REVERSE_CHARGE', notes: ['REVERSE_CHARGE'] },
    ],
    ['an export', { treatment: 'EXPORT' }, { ...none, treatment: 'EXPORT', notes: ['EXPORT'] }],
    ['an exempt buyer', { treatment: 'EXEMPT' }, { ...none, treatment: 'BUYER_EXEMPT', notes: ['TAX_EXEMPT'] }],
  ])('%s', (_, json, expected) => {
    expect(decide(json)).toEqual(expected)
  })

  test('an exempt customer keeps its own note', () => {
    const answer = readEngineAnswer({ treatment: 'EXEMPT' })
    const { notes } = decisionOfAnswer(answer, question('NL', 'DE'), 'Article 151.')
    expect(notes).toEqual([{ code: 'TAX_EXEMPT', text: 'Article 151.' }])
  })

  test('several authorities share the tax, which is rounded once', () => {
    const rates = [
      { name: 'State', percentage: '6.25' },
      { name: 'County', percentage: '1' },
      { name: 'City', percentage: '0.75' },
      // Two per cent of the half that this authority taxes.
      { name: 'District', percentage: '1' },
    ]
    const tax = decisionOfAnswer(readEngineAnswer({ treatment: 'TAXED', rates }), question('US', 'US'))
    const priced = computeAmounts({
      ...{ currency: 'USD', amountType: 'EXCLUDING_TAX', rounding: 'DEFAULT', tax, sign: 'INVOICE' },
      lines: ['10.10', '0.45'].map((quantity, place) => ({
        ...{ key: `line ${place}`, quantity: decimal(quantity), taxCategory: 'STANDARD' },
      })),
    })
    const [summary] = priced.summaries
    // 9 % of 10.55 is 0.9495. Each rounded by itself they would come to 0.66 + 0.11 + 0.08 + 0.11 = 0.96.
    expect(summary && plain(summary.taxAmount.quantity)).toBe('0.95')
    expect(summary?.rates.map(({ name, taxAmount }) => `${name} ${plain(taxAmount.quantity)}`)).toEqual([
      'State 0.66',
      'County 0.11',
      'City 0.08',
      'District 0.1',
    ])
  })

  test('two parties in the United Kingdom have their note on self-billing', () => {
    expect(decide(vat, question('GB', 'GB', 'SELF_BILLING')).notes).toEqual(['SELF_BILLING_UK_DOMESTIC'])
  })
})
