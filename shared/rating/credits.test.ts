import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../decimal.ts'
import { type CreditsConfigInput, creditTypeOf, isInCredits, parseCreditsPrice, rateCredits } from './credits.ts'

const credits = (quantity: string, credit_type_id = 'ctyp_1') => ({ quantity, credit_type_id })
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

function costs(input: CreditsConfigInput, used: string): string {
  const reading = parseCreditsPrice(input)
  if (reading.kind === 'fault') throw new Error(reading.fault.message)
  const { credits: of } = rateCredits(reading.price, decimal(used))
  return `${plain(of.quantity)} ${of.creditTypeId}`
}

test.each<[CreditsConfigInput, string, string]>([
  [{ pricing_type: 'FLAT', bands: [{ credits: credits('1.5'), block_size: { number: '50' } }] }, '75', '2.25 ctyp_1'],
  [
    {
      pricing_type: 'TIERED',
      bands: [{ credits: credits('2'), tier_top_bound: { number: '10' } }, { credits: credits('1') }],
    },
    '15',
    '25 ctyp_1',
  ],
  [{ pricing_type: 'FLAT_TOP_UP', bands: [{ credits: credits('3'), block_size: { number: '10' } }] }, '11', '6 ctyp_1'],
])('%o of %s costs %s', (input, used, expected) => {
  expect(isInCredits(input)).toBe(true)
  expect(costs(input, used)).toBe(expected)
})

test.each<[CreditsConfigInput['bands'], boolean, string | null]>([
  [undefined, false, null],
  [null, false, null],
  [[{ amount: eur('1') }, { credits: null }], false, null],
  [[{ amount: eur('1') }, { credits: credits('1', 'ctyp_2') }], true, 'ctyp_2'],
  [[{ credits: credits('1', 'ctyp_1') }, { credits: credits('1', 'ctyp_2') }], true, 'ctyp_1'],
])('bands %o are in credits: %s, of %s', (bands, isIn, type) => {
  expect([isInCredits({ bands }), creditTypeOf({ bands })]).toEqual([isIn, type])
})

test('periods, and money of a band, that are given as null are not given', () => {
  const bands = [{ credits: credits('2'), amount: null, percentage: null }]
  expect(costs({ pricing_type: 'FLAT', bands, billing_period: null, pricing_period: null }, '3')).toBe('6 ctyp_1')
})

describe('a price in credits is refused by its field', () => {
  test.each<[string, CreditsConfigInput]>([
    ['bands', { pricing_type: 'FLAT', bands: [] }],
    ['bands.0.amount', { pricing_type: 'FLAT', bands: [{ credits: credits('1'), amount: eur('1') }] }],
    ['bands.0.minimum_amount', { pricing_type: 'FLAT', bands: [{ credits: credits('1'), minimum_amount: eur('1') }] }],
    ['bands.0.percentage', { pricing_type: 'FLAT', bands: [{ credits: credits('1'), percentage: '1' }] }],
    [
      'bands.1.credits',
      { pricing_type: 'TIERED', bands: [{ credits: credits('1'), tier_top_bound: { number: '1' } }, {}] },
    ],
    [
      'bands.1.credits.credit_type_id',
      {
        pricing_type: 'TIERED',
        bands: [{ credits: credits('1'), tier_top_bound: { number: '1' } }, { credits: credits('1', 'ctyp_2') }],
      },
    ],
    ['bands.0.credits.quantity', { pricing_type: 'FLAT', bands: [{ credits: credits('1e3') }] }],
    ['billing_period', { pricing_type: 'FLAT', bands: [{ credits: credits('1') }], billing_period: { type: 'MONTH' } }],
    ['pricing_period', { pricing_type: 'FLAT', bands: [{ credits: credits('1') }], pricing_period: { type: 'MONTH' } }],
    ['bands', { pricing_type: 'FLAT' }],
    ['bands.0.credits', { pricing_type: 'FLEXIBLE', bands: [{ credits: credits('1') }] }],
    ['bands.0.credits.quantity', { pricing_type: 'FLAT', bands: [{ credits: credits('1e3') }] }],
    ['pricing_type', { pricing_type: 'PASS_THROUGH', bands: [{ credits: credits('1') }] }],
  ])('%s in %o', (field, input) => {
    const reading = parseCreditsPrice(input)
    expect(reading.kind === 'fault' && reading.fault.field).toBe(field)
  })
})

test('what is not a fault of the price is thrown', () => {
  const unreadable: CreditsConfigInput = {
    pricing_type: 'FLAT',
    get bands(): never {
      throw new TypeError('not readable')
    },
  }
  expect(() => parseCreditsPrice(unreadable)).toThrow(TypeError)
})
