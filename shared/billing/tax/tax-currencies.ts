// The currency in which a country's tax is stated (for the EU Article 230 of Council Directive 2006/112/EC), dated where a member
// took the euro. Countries whose tax rates are not stored, and that a platform may add, are here where they have a currency of their own.
import type { LocalDate } from '../local-days.ts'

const EURO_MEMBERS = 'AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK'.split(' ')

const CURRENCIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(EURO_MEMBERS.map(country => [country, 'EUR'])),
  AU: 'AUD',
  CA: 'CAD',
  CH: 'CHF',
  CZ: 'CZK',
  DK: 'DKK',
  GB: 'GBP',
  HU: 'HUF',
  IN: 'INR',
  IS: 'ISK',
  JP: 'JPY',
  LI: 'CHF',
  MX: 'MXN',
  MY: 'MYR',
  NO: 'NOK',
  NZ: 'NZD',
  PL: 'PLN',
  RO: 'RON',
  SE: 'SEK',
  SG: 'SGD',
  TH: 'THB',
  TR: 'TRY',
  US: 'USD',
  ZA: 'ZAR',
}

/** What was stated in another currency until a day. */
const BEFORE: Readonly<Record<string, { readonly until: string; readonly currency: string }>> = {
  BG: { until: '2026-01-01', currency: 'BGN' },
  HR: { until: '2023-01-01', currency: 'HRK' },
}

/** The ISO 4217 code of the currency in which the tax of a country is stated on a day; null for a country that is not known. */
export function taxCurrency(country: string, on: LocalDate): string | null {
  const before = BEFORE[country]
  return before && on < before.until ? before.currency : (CURRENCIES[country] ?? null)
}

/** Every currency in which the tax of a country has been stated. */
export const taxCurrencies = (country: string): string[] =>
  [BEFORE[country]?.currency, CURRENCIES[country]].filter(currency => currency !== undefined)
