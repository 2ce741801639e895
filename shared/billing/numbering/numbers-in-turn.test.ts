// Documents numbered one after the other, in the forms that other billing systems have: Lago (per organization or per customer, by year and month),
// Stripe (per customer prefix, sequential), Kill Bill (plain counters), Chargebee and Xero (first numbers and steps) and financial years.
// A number is taken only at FINAL, so a document that is made VOID before takes none. Every number is written by hand.
import { expect, test } from 'vitest'
import { type LocalDate, localDate } from '../local-days.ts'
import {
  DEFAULT_NUMBER_CONFIGURATIONS,
  documentNumber,
  type NumberConfiguration,
  type NumberSeries,
  nextCounter,
  numberConfigurationFault,
  renderPrefix,
} from './numbering.ts'

/** A document: its date, and who issues it to whom. A `series` other than STANDARD has its own configuration. */
type Document = {
  readonly on: string
  readonly entity?: string
  readonly customer?: string
  readonly series?: NumberSeries
}
type Row = readonly [string, Partial<NumberConfiguration>, readonly (string | Document)[], readonly string[]]

const never = { type: 'NEVER', month: 'JANUARY' } as const
const monthly = { type: 'MONTH', month: 'JANUARY' } as const
const yearFrom = (month: 'APRIL' | 'JULY' | 'OCTOBER') => ({ type: 'YEAR', month }) as const
const of = (on: string, more: Omit<Document, 'on'>): Document => ({ on, ...more })
const CUSTOMER = '{{customer.custom_fields[code]}}'
const ENTITY = '{{billing_entity.custom_fields[code]}}'

const ROWS: readonly Row[] = [
  [
    'one after the other, without a gap',
    {},
    ['2026-01-01', '2026-01-01', '2026-12-31'],
    ['INV-2026-00001', 'INV-2026-00002', 'INV-2026-00003'],
  ],
  [
    'a new year starts again',
    {},
    ['2026-12-31', '2027-01-01', '2027-01-02'],
    ['INV-2026-00001', 'INV-2027-00001', 'INV-2027-00002'],
  ],
  [
    'a late document of the old year goes on in its own year',
    {},
    ['2026-12-31', '2027-01-01', '2026-12-31', '2027-01-01'],
    ['INV-2026-00001', 'INV-2027-00001', 'INV-2026-00002', 'INV-2027-00002'],
  ],
  [
    'Lago per organization: year and month, counted within the month',
    { prefix: 'ACM', dynamicPrefix: ['YEAR', 'MONTH'], resetPeriod: monthly, minimumNumberOfDigits: 3 },
    ['2026-01-31', '2026-01-31', '2026-02-01', '2026-12-01', '2027-01-01'],
    ['ACM-2026-01-001', 'ACM-2026-01-002', 'ACM-2026-02-001', 'ACM-2026-12-001', 'ACM-2027-01-001'],
  ],
  [
    'year and month in the number: each prefix counts for itself, also without a reset',
    { dynamicPrefix: ['YEAR', 'MONTH'], resetPeriod: never },
    ['2026-01-31', '2026-02-01', '2026-02-02', '2026-01-31'],
    ['INV-2026-01-00001', 'INV-2026-02-00001', 'INV-2026-02-00002', 'INV-2026-01-00002'],
  ],
  [
    'Lago per customer: each customer counts for itself',
    { prefix: CUSTOMER, dynamicPrefix: [], resetPeriod: never, minimumNumberOfDigits: 3 },
    [of('2026-01-01', { customer: 'A1' }), of('2026-01-02', { customer: 'B2' }), of('2027-01-01', { customer: 'A1' })],
    ['A1-001', 'B2-001', 'A1-002'],
  ],
  [
    'Stripe: a prefix of the customer and four digits',
    { prefix: CUSTOMER, dynamicPrefix: [], resetPeriod: never, minimumNumberOfDigits: 4 },
    [of('2026-01-01', { customer: '9A3F' }), of('2026-01-01', { customer: '9A3F' })],
    ['9A3F-0001', '9A3F-0002'],
  ],
  [
    'Kill Bill: a plain counter for the whole platform',
    { prefix: '', dynamicPrefix: [], separator: '', resetPeriod: never, minimumNumberOfDigits: 1 },
    ['2026-01-01', '2027-01-01', '2026-06-01'],
    ['1', '2', '3'],
  ],
  [
    'Xero: a first number that continues another system',
    { dynamicPrefix: [], resetPeriod: never, firstNumber: 4711, minimumNumberOfDigits: 4 },
    ['2026-01-01', '2026-01-02'],
    ['INV-4711', 'INV-4712'],
  ],
  [
    'steps of ten from a hundred',
    { dynamicPrefix: ['YEAR'], firstNumber: 100, incrementBy: 10 },
    ['2026-01-01', '2026-01-02', '2027-01-01'],
    ['INV-2026-00100', 'INV-2026-00110', 'INV-2027-00100'],
  ],
  [
    'each billing entity counts for itself',
    { dynamicPrefix: ['BILLING_ENTITY', 'YEAR'] },
    [of('2026-01-01', { entity: 'nl' }), of('2026-01-01', { entity: 'de' }), of('2026-02-01', { entity: 'nl' })],
    ['INV-nl-2026-00001', 'INV-de-2026-00001', 'INV-nl-2026-00002'],
  ],
  [
    'billing entities without a part of their own share one counter',
    {},
    [of('2026-01-01', { entity: 'nl' }), of('2026-01-01', { entity: 'de' })],
    ['INV-2026-00001', 'INV-2026-00002'],
  ],
  [
    'a custom field of the billing entity in the prefix',
    { prefix: `${ENTITY}/INV`, separator: '/' },
    [of('2026-01-01', { entity: 'nl' }), of('2026-01-01', { entity: 'de' })],
    ['NL/INV/2026/00001', 'DE/INV/2026/00001'],
  ],
  [
    'a financial year from April: the year in which it began',
    { resetPeriod: yearFrom('APRIL') },
    ['2026-03-31', '2026-04-01', '2027-03-31', '2027-04-01'],
    ['INV-2025-00001', 'INV-2026-00001', 'INV-2026-00002', 'INV-2027-00001'],
  ],
  [
    'a financial year from July',
    { resetPeriod: yearFrom('JULY') },
    ['2026-06-30', '2026-07-01', '2026-12-31', '2027-01-01'],
    ['INV-2025-00001', 'INV-2026-00001', 'INV-2026-00002', 'INV-2026-00003'],
  ],
  [
    'a financial year from October',
    { resetPeriod: yearFrom('OCTOBER') },
    ['2026-09-30', '2026-10-01'],
    ['INV-2025-00001', 'INV-2026-00001'],
  ],
  [
    'credit notes have a series of their own',
    {},
    ['2026-01-01', of('2026-01-02', { series: 'CREDIT' }), '2026-01-03', of('2026-01-04', { series: 'CREDIT' })],
    ['INV-2026-00001', 'CRE-2026-00001', 'INV-2026-00002', 'CRE-2026-00002'],
  ],
  [
    'invoices in the name of a supplier have two series of their own',
    {},
    [of('2026-01-01', { series: 'SELF_BILLING' }), '2026-01-01', of('2026-01-02', { series: 'SELF_BILLING_CREDIT' })],
    ['SBI-2026-00001', 'INV-2026-00001', 'SBC-2026-00001'],
  ],
  [
    'a counter that outgrows its digits',
    { dynamicPrefix: [], resetPeriod: never, firstNumber: 99, minimumNumberOfDigits: 2 },
    ['2026-01-01', '2026-01-01'],
    ['INV-99', 'INV-100'],
  ],
  [
    'a counter that starts at zero',
    { dynamicPrefix: [], resetPeriod: never, firstNumber: 0, minimumNumberOfDigits: 3 },
    ['2026-01-01', '2026-01-01'],
    ['INV-000', 'INV-001'],
  ],
]

test.each(ROWS)('%s', (_title, given, documents, expected) => {
  const counters = new Map<string, bigint>()
  const numbers = documents.map(document => {
    const {
      on,
      entity = 'main',
      customer = 'C',
      series = 'STANDARD',
    } = typeof document === 'string' ? of(document, {}) : document
    const configuration =
      series === 'STANDARD'
        ? { ...DEFAULT_NUMBER_CONFIGURATIONS.STANDARD, ...given }
        : DEFAULT_NUMBER_CONFIGURATIONS[series]
    expect(numberConfigurationFault(configuration)).toBeNull()
    const prefix = renderPrefix(configuration, series, {
      date: localDate(on) as LocalDate,
      billingEntity: entity,
      variable: ({ owner }) => (owner === 'customer' ? customer : entity.toUpperCase()),
    })
    if (prefix.kind === 'missing') throw new Error('every field has a value')
    const counter = nextCounter(configuration, counters.get(prefix.counterKey) ?? null)
    counters.set(prefix.counterKey, counter)
    return documentNumber(configuration, prefix.text, counter)
  })
  expect(numbers).toEqual(expected)
  expect(new Set(numbers).size).toBe(numbers.length)
})
