// The stored tax rates against a list that others keep, and the rates that a platform sets.
import fc from 'fast-check'
import salesTax from 'sales-tax/res/sales_tax_rates.json' with { type: 'json' }
import { describe, expect, test } from 'vitest'
import { decimal, decimalOfInteger, plain, sum } from '../../decimal.ts'
import { type LocalDate, localDate } from '../local-days.ts'
import { canadianRates, canadianTaxes, type PlatformTaxRate, standardRate } from './tax-rates.ts'

const day = (text: string): LocalDate => localDate(text) as LocalDate
const OF_CANADA = ['CA_GST_HST', 'CA_PST', 'CA_QST']

/** A rate as the npm package sales-tax lists it: `before` holds what applied until each instant. */
type Listed = { readonly rate: number; readonly before?: Readonly<Record<string, { readonly rate: number }>> }
type Country = Listed & { readonly states?: Readonly<Record<string, Listed>> }
const listed: Readonly<Record<string, Country>> = salesTax

/** In per cent. The list has floats of at most five decimals. */
function listedOn({ rate, before = {} }: Listed, on: string) {
  const [until] = Object.keys(before)
    .filter(end => end > `${on}T12:00:00Z`)
    .toSorted()
  const found = until === undefined ? rate : (before[until]?.rate ?? rate)
  return decimalOfInteger(Math.round(found * 100_000)).div(decimal('1000'))
}

/** The middle of each month: the list has two changes a day beside the law. */
const DAYS = Array.from({ length: 66 }, (_, month) => new Date(Date.UTC(2021, month, 15)).toISOString().slice(0, 10))

describe('the stored rates are those of the npm package sales-tax in every month since 2021', () => {
  test.each('AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK GB AU'.split(' '))(
    '%s',
    country => {
      const other = listed[country]
      if (!other) throw new Error(`the list has no ${country}`)
      for (const on of DAYS)
        expect([on, plain(standardRate(country, day(on))?.percentage ?? decimal('-1'))]).toEqual([
          on,
          plain(listedOn(other, on)),
        ])
    },
  )

  test.each('AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '))('CA, %s', province => {
    const { states = {}, ...federal } = listed['CA'] ?? { rate: 0 }
    const other = states[province] ?? { rate: 0 }
    for (const on of DAYS) {
      const total = sum((canadianRates(province, OF_CANADA, day(on)) ?? []).map(({ percentage }) => percentage))
      expect([on, plain(total)]).toEqual([on, plain(listedOn(federal, on).plus(listedOn(other, on)))])
    }
  })
})

const rate = (percentage: string, valid_from: string, more: Partial<PlatformTaxRate> = {}): PlatformTaxRate => ({
  country: 'DE',
  state: null,
  name: 'VAT',
  percentage,
  valid_from,
  valid_to: null,
  source: 'A new law',
  ...more,
})

describe('rates of the platform', () => {
  const shown = (country: string, on: string, own: readonly PlatformTaxRate[]) => {
    const found = standardRate(country, day(on), own)
    return found && `${found.name} ${plain(found.percentage)} ${found.source}`
  }

  test('come before the stored ones from their first day to the day before their last, and can add a country', () => {
    const own = [
      rate('20', '2026-01-01'),
      rate('16', '2026-07-01', { valid_to: '2027-01-01' }),
      rate('8.1', '2024-01-01', { country: 'CH', source: 'ESTV' }),
    ]
    expect(shown('DE', '2025-12-31', own)).toMatch(/^VAT 19 European Commission/)
    expect(shown('DE', '2026-01-01', own)).toBe('VAT 20 A new law')
    expect(shown('DE', '2026-07-01', own)).toBe('VAT 16 A new law')
    expect(shown('DE', '2026-12-31', own)).toBe('VAT 16 A new law')
    expect(shown('DE', '2027-01-01', own)).toBe('VAT 20 A new law')
    expect(shown('CH', '2024-01-01', own)).toBe('VAT 8.1 ESTV')
    expect(shown('CH', '2023-12-31', own)).toBeNull()
    expect(shown('FR', '2026-07-01', own)).toMatch(/^VAT 20 European Commission/)
  })

  test('of a part of a country are not those of the country', () => {
    expect(shown('DE', '2026-03-01', [rate('5', '2026-01-01', { state: 'BY' })])).toMatch(/^VAT 19 /)
    expect(shown('AU', '2026-03-01', [])).toBe('GST 10 Australian Taxation Office, "GST"')
  })

  test('of Canada are by country, name and province, and none is known before the stored ones', () => {
    const own = [
      rate('10', '2026-01-01', { country: 'AU', name: 'GST' }),
      rate('9', '2026-01-01', { country: 'CA', state: 'BC', name: 'HST' }),
      rate('8', '2026-01-01', { country: 'AU', state: 'BC', name: 'PST' }),
    ]
    const rates = canadianRates('BC', OF_CANADA, day('2026-03-01'), own)
    expect(rates?.map(({ name, percentage }) => `${name} ${plain(percentage)}`)).toEqual(['GST 5', 'PST 7'])
    expect(canadianRates('BC', OF_CANADA, day('2020-12-31'))).toBeNull()
  })

  test('of Canada set one tax of one province, and the GST of all', () => {
    const own = [
      rate('4', '2026-01-01', { country: 'CA', name: 'GST' }),
      rate('8', '2026-01-01', { country: 'CA', state: 'BC', name: 'PST' }),
    ]
    const rates = (province: string) =>
      canadianRates(province, OF_CANADA, day('2026-03-01'), own)?.map(
        ({ name, percentage }) => `${name} ${plain(percentage)}`,
      )
    expect(rates('BC')).toEqual(['GST 4', 'PST 8'])
    expect(rates('SK')).toEqual(['GST 4', 'PST 6'])
    expect(rates('ON')).toEqual(['HST 13'])
    expect([canadianTaxes(null), canadianTaxes('BC'), canadianTaxes('AB'), canadianTaxes('ON')]).toEqual([
      ['GST'],
      ['PST'],
      [],
      ['HST'],
    ])
  })

  test('of those that hold on a day the one that began last applies, in whatever order they are read', () => {
    const dates = fc
      .integer({ min: 0, max: 60 })
      .map(n => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10))
    const rates = fc.uniqueArray(fc.record({ from: dates, days: fc.option(fc.integer({ min: 1, max: 40 })) }), {
      selector: ({ from }) => from,
      maxLength: 8,
    })
    fc.assert(
      fc.property(rates, dates, (given, on) => {
        const own = given.map(({ from, days }, place) =>
          rate(String(place + 1), from, {
            valid_to: days === null ? null : new Date(Date.parse(from) + days * 86_400_000).toISOString().slice(0, 10),
          }),
        )
        const holding = own.filter(({ valid_from, valid_to }) => valid_from <= on && (!valid_to || on < valid_to))
        const last = holding.toSorted((a, b) => a.valid_from.localeCompare(b.valid_from)).at(-1)
        const expected = last?.percentage ?? '19'
        for (const order of [own, own.toReversed()])
          expect(plain(standardRate('DE', day(on), order)?.percentage ?? decimal('-1'))).toBe(expected)
      }),
    )
  })
})
