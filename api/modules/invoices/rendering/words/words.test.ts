import { describe, expect, test } from 'vitest'
import { decideTax } from '../../../../../shared/billing/tax/tax.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { formatsOf } from './formats.ts'
import { fr } from './fr.ts'
import { nl } from './nl.ts'
import { clauseIn, localeOf, sentenceIn, wordsOf } from './words.ts'

describe('the language of a customer', () => {
  test.each([
    ['de-DE', 'de-DE', 'de'],
    ['de_AT', 'de-AT', 'de'],
    ['NL', 'nl', 'nl'],
    ['it-IT', 'it-IT', 'en'],
    ['no language', 'en', 'en'],
    ['', 'en', 'en'],
    [null, 'en', 'en'],
  ])('%s', (given, tag, language) => {
    expect(localeOf(given)).toEqual({ tag, language })
  })
})

test.each(Object.entries({ de, fr, nl, es }))('every text of %s is its own, with the same figures', (_, words) => {
  const shown = (value: unknown): string =>
    typeof value === 'function' ? String(value('«1»', '«2»')) : JSON.stringify(value)
  for (const [key, english] of Object.entries(en)) {
    const text = shown(words[key as keyof typeof words])
    expect(text).not.toBe('')
    for (const figure of ['«1»', '«2»'])
      expect([key, text.includes(figure)]).toEqual([key, shown(english).includes(figure)])
  }
})

test.each([
  ['en', '26450535.25', '26,450,535.25'],
  ['de', '26450535.25', '26.450.535,25'],
  ['fr', '26450535.25', '26\u00a0450\u00a0535,25'],
  ['es', '1234.5', '1.234,5'],
  ['en-IN', '26450535.25', '2,64,50,535.25'],
  ['en', '0.000000000000000000123', '0.000000000000000000123'],
  ['en', '98765432109876543210.1', '98,765,432,109,876,543,210.1'],
])('numbers in %s: %s is %s', (tag, quantity, shown) => {
  expect(formatsOf(localeOf(tag)).number(quantity)).toBe(shown)
})

test.each([
  ['en', '20', 'EUR', 'EUR\u00a020.00'],
  ['de', '-1249.5', 'EUR', '-1.249,50\u00a0EUR'],
  ['en', '20', 'JPY', 'JPY\u00a020'],
  ['en', '20', 'KWD', 'KWD\u00a020.000'],
  ['nl', '0.0812345', 'EUR', 'EUR\u00a00,0812345'],
])('money in %s: %s %s is %s', (tag, quantity, currency, shown) => {
  expect(formatsOf(localeOf(tag)).money({ quantity, currency })).toBe(shown)
})

test('what tax wrote is translated, what a tenant wrote is not', () => {
  const decided = decideTax({
    seller: { country: 'NL', registeredIn: [], taxIdTypes: [], applyLocalVatForMissingTaxId: false },
    buyer: { country: 'DE', region: null, kind: 'ORGANIZATION', taxId: 'VALID', taxExempt: false, taxExemptNote: null },
    on: '2026-01-01' as never,
    billingType: 'DEFAULT',
    salesTaxPercentage: null,
  })
  const [note] = decided.kind === 'DECIDED' ? decided.notes : []
  expect(sentenceIn(de, note?.text ?? '')).toBe(de.sentences.REVERSE_CHARGE)
  expect(sentenceIn(de, 'Pay soon.')).toBe('Pay soon.')
})

test.each([
  ['Discount', 'Korting'],
  ['Discount of 12.5 %', 'Korting van 12,5 %'],
  ['Discount on the total', 'Korting op het totaal'],
  ['Discount of 10 % on the total', 'Korting van 10 % op het totaal'],
  ['10 % of 1200 EUR', '10 % van EUR\u00a01.200,00'],
  ['Deducted from 180 EUR, for 15/31 of the time', 'In mindering op EUR\u00a0180,00, voor 15/31 van de tijd'],
  [
    'Deducted from 200 EUR, beyond the 20 EUR that were deducted ahead',
    'In mindering op EUR\u00a0200,00, boven de vooraf afgetrokken EUR\u00a020,00',
  ],
  [
    'Deducted from 200 EUR, for 15/31 of the time, beyond the 10 EUR that were deducted ahead',
    'In mindering op EUR\u00a0200,00, voor 15/31 van de tijd, boven de vooraf afgetrokken EUR\u00a010,00',
  ],
  ['Summer sale', 'Summer sale'],
])('the discount "%s" is "%s" in Dutch', (text, shown) => {
  const locale = localeOf('nl')
  const formats = formatsOf(locale)
  const money = (quantity: string, currency: string) => formats.money({ quantity, currency })
  expect(clauseIn(wordsOf(locale), { money, number: formats.number }, text)).toBe(shown)
})
