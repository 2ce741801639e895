import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { fraction } from '../fraction.ts'
import { type LocalDate, localDate } from '../local-days.ts'
import {
  decideTax,
  type TaxBuyer,
  type TaxDecided,
  type TaxDecision,
  type TaxInputs,
  type TaxSeller,
  taxAtRate,
  taxOfCategory,
} from './tax.ts'
import { canadianProvince, isEuMember, standardRate } from './tax-rates.ts'

const day = (text: string): LocalDate => localDate(text) as LocalDate
type Given = { seller?: Partial<TaxSeller>; buyer?: Partial<TaxBuyer> } & Partial<Omit<TaxInputs, 'seller' | 'buyer'>>
const question = (seller: string, buyer: string, given: Given = {}): TaxInputs => ({
  on: day('2026-03-31'),
  billingType: 'DEFAULT',
  salesTaxPercentage: null,
  ...given,
  seller: { country: seller, registeredIn: [], taxIdTypes: [], applyLocalVatForMissingTaxId: false, ...given.seller },
  buyer: {
    country: buyer,
    region: null,
    kind: 'ORGANIZATION',
    taxId: 'VALID',
    taxExempt: false,
    taxExemptNote: null,
    ...given.buyer,
  },
})
const percent = (decision: TaxDecision): string =>
  decision.kind === 'DECIDED'
    ? `${decision.treatment} ${decision.rates.map(rate => `${rate.name} ${plain(rate.percentage)}`).join(' ')}`.trim()
    : `INCOMPLETE ${decision.field}`
const individual = { kind: 'INDIVIDUAL', taxId: 'MISSING' } as const
const noId = { taxId: 'MISSING' } as const

const SWISS = {
  country: 'CH',
  state: null,
  name: 'VAT',
  percentage: '8.1',
  valid_from: '2024-01-01',
  valid_to: null,
  source: 'ESTV',
}

describe('the rule table of semantics 5.5', () => {
  const cases: readonly [string, TaxInputs, string][] = [
    ['EU, same country, business', question('BE', 'BE'), 'LOCAL_RATE VAT 21'],
    ['EU, same country, individual', question('BE', 'BE', { buyer: individual }), 'LOCAL_RATE VAT 21'],
    ['EU, other EU, business with id', question('BE', 'DE'), 'REVERSE_CHARGE'],
    [
      'EU, other EU, id that could not be checked',
      question('BE', 'DE', { buyer: { taxId: 'UNKNOWN' } }),
      'REVERSE_CHARGE',
    ],
    ['EU, other EU, business without id', question('BE', 'DE', { buyer: noId }), 'REVERSE_CHARGE'],
    [
      'EU, other EU, business without id, local VAT wanted',
      question('BE', 'DE', { buyer: noId, seller: { applyLocalVatForMissingTaxId: true } }),
      'SELLER_COUNTRY_RATE VAT 21',
    ],
    [
      'EU, other EU, refused id, local VAT wanted',
      question('BE', 'DE', { buyer: { taxId: 'NOT_VALID' }, seller: { applyLocalVatForMissingTaxId: true } }),
      'SELLER_COUNTRY_RATE VAT 21',
    ],
    ['EU, other EU, individual', question('BE', 'DE', { buyer: individual }), 'SELLER_COUNTRY_RATE VAT 21'],
    [
      'EU, other EU, individual where registered',
      question('BE', 'DE', { buyer: individual, seller: { registeredIn: ['DE'] } }),
      'BUYER_COUNTRY_RATE VAT 19',
    ],
    ['EU, outside', question('BE', 'CH'), 'EXPORT'],
    ['EU to GB', question('BE', 'GB'), 'EXPORT'],
    ['EU to US', question('BE', 'US'), 'EXPORT'],
    [
      'EU to US with a percentage',
      question('BE', 'US', { salesTaxPercentage: decimal('8.875') }),
      'SALES_TAX Sales tax 8.875',
    ],
    [
      'EU ignores a percentage elsewhere',
      question('BE', 'BE', { salesTaxPercentage: decimal('3') }),
      'LOCAL_RATE VAT 21',
    ],
    ['GB, same country', question('GB', 'GB'), 'LOCAL_RATE VAT 20'],
    ['GB, outside', question('GB', 'FR'), 'EXPORT'],
    [
      'GB, individual in the EU where registered',
      question('GB', 'FR', { buyer: individual, seller: { registeredIn: ['FR'] } }),
      'BUYER_COUNTRY_RATE VAT 20',
    ],
    ['US, same country, nothing given', question('US', 'US'), 'INCOMPLETE sales_tax_percentage'],
    ['US, same country', question('US', 'US', { salesTaxPercentage: decimal('7.25') }), 'SALES_TAX Sales tax 7.25'],
    ['US, same country, zero', question('US', 'US', { salesTaxPercentage: decimal('0') }), 'SALES_TAX'],
    ['US, outside', question('US', 'BE'), 'EXPORT'],
    ['AU, same country', question('AU', 'AU'), 'LOCAL_RATE GST 10'],
    ['AU, outside', question('AU', 'NZ'), 'EXPORT'],
    ['CA, Ontario', question('CA', 'CA', { buyer: { region: 'ON' } }), 'LOCAL_RATE HST 13'],
    ['CA, Nova Scotia', question('CA', 'CA', { buyer: { region: 'Nova Scotia' } }), 'LOCAL_RATE HST 14'],
    [
      'CA, Nova Scotia before April 2025',
      question('CA', 'CA', { buyer: { region: 'CA-NS' }, on: day('2025-03-31') }),
      'LOCAL_RATE HST 15',
    ],
    ['CA, Alberta', question('CA', 'CA', { buyer: { region: 'ab' } }), 'LOCAL_RATE GST 5'],
    ['CA, Quebec without a QST id', question('CA', 'CA', { buyer: { region: 'QC' } }), 'LOCAL_RATE GST 5'],
    [
      'CA, Quebec',
      question('CA', 'CA', { buyer: { region: 'QC' }, seller: { taxIdTypes: ['CA_GST_HST', 'CA_QST'] } }),
      'LOCAL_RATE GST 5 QST 9.975',
    ],
    [
      'CA, British Columbia',
      question('CA', 'CA', { buyer: { region: 'BC' }, seller: { taxIdTypes: ['CA_PST_BC'] } }),
      'LOCAL_RATE GST 5 PST 7',
    ],
    ['CA, no province', question('CA', 'CA'), 'INCOMPLETE registered_address.state'],
    ['CA, outside', question('CA', 'BE'), 'EXPORT'],
    ['a country without a rate', question('CH', 'CH'), 'INCOMPLETE invoice_date'],
    [
      'such a country with a rate of the platform',
      question('CH', 'CH', { platformRates: [SWISS] }),
      'LOCAL_RATE VAT 8.1',
    ],
    [
      'such a country without tax',
      question('CH', 'CH', { platformRates: [{ ...SWISS, percentage: '0' }] }),
      'LOCAL_RATE',
    ],
    [
      'an individual where registered, by the rate of the platform',
      question('BE', 'DE', {
        buyer: individual,
        seller: { registeredIn: ['DE'] },
        platformRates: [{ ...SWISS, country: 'DE', percentage: '18' }],
      }),
      'BUYER_COUNTRY_RATE VAT 18',
    ],
    [
      'such a country with a percentage',
      question('CH', 'CH', { salesTaxPercentage: decimal('8.1') }),
      'SALES_TAX Sales tax 8.1',
    ],
    ['such a country, outside', question('CH', 'BE'), 'EXPORT'],
    ['exempt organisation', question('BE', 'BE', { buyer: { taxExempt: true } }), 'BUYER_EXEMPT'],
    [
      'exemption is for organisations',
      question('BE', 'BE', { buyer: { ...individual, taxExempt: true } }),
      'LOCAL_RATE VAT 21',
    ],
    [
      'a registration counts for individuals alone',
      question('BE', 'DE', { seller: { registeredIn: ['DE'] } }),
      'REVERSE_CHARGE',
    ],
    [
      'a registration outside the EU and GB changes nothing',
      question('BE', 'CH', { buyer: individual, seller: { registeredIn: ['CH'] }, platformRates: [SWISS] }),
      'EXPORT',
    ],
    ...(['VALID', 'UNKNOWN'] as const).map((taxId): [string, TaxInputs, string] => [
      `local VAT for a missing id, ${taxId}`,
      question('BE', 'DE', { buyer: { taxId }, seller: { applyLocalVatForMissingTaxId: true } }),
      'REVERSE_CHARGE',
    ]),
    ['sales tax to the US', question('CH', 'US', { salesTaxPercentage: decimal('8') }), 'SALES_TAX Sales tax 8'],
    ['sales tax from the US', question('US', 'CH', { salesTaxPercentage: decimal('8') }), 'SALES_TAX Sales tax 8'],
    ['no sales tax beside the US', question('CH', 'AU', { salesTaxPercentage: decimal('8') }), 'EXPORT'],
    ['AU has its own rate', question('AU', 'AU', { salesTaxPercentage: decimal('8') }), 'LOCAL_RATE GST 10'],
    ['before the rates start', question('BE', 'BE', { on: day('2020-12-31') }), 'INCOMPLETE invoice_date'],
  ]
  test.each(cases)('%s', (_name, asked, expected) => expect(percent(decideTax(asked))).toBe(expected))
})

const decided = (asked: TaxInputs): TaxDecided => {
  const decision = decideTax(asked)
  if (decision.kind !== 'DECIDED') throw new Error(decision.message)
  return decision
}
const codes = (decision: TaxDecided): string[] => decision.notes.map(note => note.code)

describe('notes', () => {
  test('a reverse charge and an export say why there is no tax', () => {
    expect(codes(decided(question('BE', 'DE')))).toEqual(['REVERSE_CHARGE'])
    expect(codes(decided(question('BE', 'CH')))).toEqual(['EXPORT'])
    expect(codes(decided(question('BE', 'BE')))).toEqual([])
  })

  test('an exemption prints its own note', () => {
    const exempt = decided(question('BE', 'BE', { buyer: { taxExempt: true, taxExemptNote: 'Embassy' } }))
    expect(exempt.notes).toEqual([{ code: 'TAX_EXEMPT', text: 'Embassy' }])
  })

  test('self-billing within the United Kingdom, and nothing else, carries its note', () => {
    const notes = (seller: string, buyer: string, billingType: TaxInputs['billingType']) =>
      decided(question(seller, buyer, { billingType })).invoiceNotes.map(note => note.code)
    expect(notes('GB', 'GB', 'SELF_BILLING')).toEqual(['SELF_BILLING_UK_DOMESTIC'])
    expect(notes('GB', 'GB', 'DEFAULT')).toEqual([])
    expect(notes('BE', 'BE', 'SELF_BILLING')).toEqual([])
    expect(notes('GB', 'FR', 'SELF_BILLING')).toEqual([])
    expect(notes('FR', 'GB', 'SELF_BILLING')).toEqual([])
  })

  test('each source of the rates is named once, and none where no rate is', () => {
    expect(decided(question('BE', 'BE')).sources).toEqual([expect.stringMatching(/^European Commission/)])
    const asked = question('CA', 'CA', { buyer: { region: 'QC' }, seller: { taxIdTypes: ['CA_QST'] } })
    expect(decided(asked).sources).toEqual([expect.stringMatching(/^Canada Revenue Agency/)])
    expect(decided(question('BE', 'CH')).sources).toEqual([])
  })

  test('the registration used is the one of the buyer, and only then', () => {
    const asked = question('BE', 'DE', { buyer: individual, seller: { registeredIn: ['DE'] } })
    expect(decided(asked).usedRegistration).toBe('DE')
    expect(decided(question('BE', 'BE')).usedRegistration).toBeNull()
  })
})

describe('tax categories', () => {
  test('NO_TAX and EXEMPT are never taxed, and each note gives the reason', () => {
    const tax = decided(question('BE', 'BE'))
    const show = (category: 'STANDARD' | 'NO_TAX' | 'EXEMPT') => {
      const of = taxOfCategory(tax, category)
      return [plain(of.percentage), of.notes.map(note => note.code).join()]
    }
    for (const category of ['NO_TAX', 'EXEMPT'] as const)
      expect(taxOfCategory(tax, category)).toMatchObject({ rates: [], restNotes: [] })
    expect([show('STANDARD'), show('NO_TAX'), show('EXEMPT')]).toEqual([
      ['21', ''],
      ['0', 'NO_TAX'],
      ['0', 'EXEMPT'],
    ])
  })

  test('several rates are one percentage', () => {
    const asked = question('CA', 'CA', { buyer: { region: 'QC' }, seller: { taxIdTypes: ['CA_QST'] } })
    const of = taxOfCategory(decided(asked), 'STANDARD')
    expect([of.name, plain(of.percentage)]).toEqual(['GST + QST', '14.975'])
  })

  test('a partial exemption of nothing is no partial exemption', () => {
    const share = ({ taxableShare: { numerator, denominator } }: TaxDecided) => plain(numerator.div(denominator))
    expect(share(decided(question('BE', 'DE', { taxableShare: fraction(1, 2) })))).toBe('1')
    expect(share(decided(question('BE', 'BE', { taxableShare: fraction(1, 2) })))).toBe('0.5')
    expect(share(decided(question('BE', 'BE')))).toBe('1')
    expect(share(taxAtRate('VAT', '21', fraction(3, 4)))).toBe('0.75')
  })

  test('a percentage of 0 is no tax, and nobody published it', () => {
    const none = { rates: [], sources: [], notes: [], invoiceNotes: [] }
    expect(taxAtRate('VAT', '0.00')).toMatchObject(none)
    expect(taxAtRate('VAT', '21')).toMatchObject({ ...none, rates: [{ name: 'VAT' }] })
  })
})

describe('rates', () => {
  const dated: readonly [string, string, string | null][] = [
    ['EE', '2023-12-31', '20'],
    ['EE', '2024-01-01', '22'],
    ['EE', '2025-06-30', '22'],
    ['EE', '2025-07-01', '24'],
    ['FI', '2024-08-31', '24'],
    ['FI', '2024-09-01', '25.5'],
    ['IE', '2021-02-28', '21'],
    ['IE', '2021-03-01', '23'],
    ['LU', '2022-12-31', '17'],
    ['LU', '2023-06-01', '16'],
    ['LU', '2024-01-01', '17'],
    ['RO', '2025-07-31', '19'],
    ['RO', '2025-08-01', '21'],
    ['SK', '2024-12-31', '20'],
    ['SK', '2025-01-01', '23'],
    ['BE', '2020-12-31', null],
    ['CH', '2026-01-01', null],
    ['toString', '2026-01-01', null],
  ]
  test.each(dated)('%s on %s is %o', (country, on, expected) => {
    const rate = standardRate(country, day(on))
    expect(rate && plain(rate.percentage)).toBe(expected)
  })

  test('the EU has its 27 members, each with a rate of 15 % or more today', () => {
    const members = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ')
    expect(members).toHaveLength(27)
    for (const country of members) {
      expect(isEuMember(country)).toBe(true)
      expect(standardRate(country, day('2026-03-31'))?.percentage.gte('15')).toBe(true)
    }
    expect(['GB', 'CH', 'NO', 'EL', 'constructor'].map(isEuMember)).toEqual([false, false, false, false, false])
  })

  test('provinces are known by code, ISO code and name', () => {
    expect(['on', 'CA-ON', 'Ontario', ' Ontario ', 'Québec', 'OCA-N', 'XX', '', null].map(canadianProvince)).toEqual([
      'ON',
      'ON',
      'ON',
      'ON',
      'QC',
      null,
      null,
      null,
      null,
    ])
  })
})
