// Standard rates of consumption taxes, dated [from, to). Only what was in force from 2021 on is claimed: an earlier day
// has no rate. Sources: for the EU the European Commission's Taxes in Europe Database and "VAT rates applied in the
// Member States"; GB: HMRC VAT Notice 700 and gov.uk/vat-rates; CA: Canada Revenue Agency "GST/HST rates", Revenu Québec
// and the finance ministries of BC, SK and MB; AU: Australian Taxation Office "GST". Reduced rates are not modelled. A platform
// adds rates of its own, which come before these.
import { type Decimal, decimal } from '../../decimal.ts'
import type { LocalDate } from '../local-days.ts'

type DatedRate = { readonly from: string; readonly to?: string; readonly percentage: string }

const SINCE = '2021-01-01'
const unchanged = (percentage: string): readonly DatedRate[] => [{ from: SINCE, percentage }]
/** Successive rates: each applies from its day until the next one's. */
const successive = (...rates: readonly (readonly [from: string, percentage: string])[]): readonly DatedRate[] =>
  rates.map(([from, percentage], index) => {
    const to = rates[index + 1]?.[0]
    return to === undefined ? { from, percentage } : { from, to, percentage }
  })

const EU_STANDARD_RATES: Readonly<Record<string, readonly DatedRate[]>> = {
  AT: unchanged('20'),
  BE: unchanged('21'),
  BG: unchanged('20'),
  CY: unchanged('19'),
  CZ: unchanged('21'),
  DE: unchanged('19'), // the reduction to 16 % ended on 31 December 2020
  DK: unchanged('25'),
  EE: successive([SINCE, '20'], ['2024-01-01', '22'], ['2025-07-01', '24']),
  ES: unchanged('21'),
  FI: successive([SINCE, '24'], ['2024-09-01', '25.5']),
  FR: unchanged('20'),
  GR: unchanged('24'),
  HR: unchanged('25'),
  HU: unchanged('27'),
  IE: successive([SINCE, '21'], ['2021-03-01', '23']),
  IT: unchanged('22'),
  LT: unchanged('21'),
  LU: successive([SINCE, '17'], ['2023-01-01', '16'], ['2024-01-01', '17']),
  LV: unchanged('21'),
  MT: unchanged('18'),
  NL: unchanged('21'),
  PL: unchanged('23'),
  PT: unchanged('23'),
  RO: successive([SINCE, '19'], ['2025-08-01', '21']),
  SE: unchanged('25'),
  SI: unchanged('22'),
  SK: successive([SINCE, '20'], ['2025-01-01', '23']),
}

const OTHER_STANDARD_RATES: Readonly<Record<string, readonly DatedRate[]>> = {
  AU: unchanged('10'),
  GB: unchanged('20'),
}

/** The country codes of the European Union's members. */
export const isEuMember = (country: string): boolean => Object.hasOwn(EU_STANDARD_RATES, country)

const rateOn = (rates: readonly DatedRate[], on: LocalDate): Decimal | null => {
  const rate = rates.find(({ from, to }) => from <= on && (to === undefined || on < to))
  return rate ? decimal(rate.percentage) : null
}

/** A rate that a platform adds or sets in place of a stored one, in force on the days [valid_from, valid_to). */
export type PlatformTaxRate = {
  /** ISO 3166 alpha-2. */
  readonly country: string
  /** The code of a Canadian province; null for a rate of the whole country. */
  readonly state: string | null
  readonly name: string
  /** In per cent: "21" is 21 %. */
  readonly percentage: string
  /** ISO 8601 days. */
  readonly valid_from: string
  readonly valid_to: string | null
  readonly source: string
}

/** One tax on a day. */
export type RateInForce = { readonly name: string; readonly percentage: Decimal; readonly source: string }

/** The rate that holds on a day; of several, the one that began last, so that a rate for a time can interrupt another. */
function platformRateOn(rates: readonly PlatformTaxRate[], on: LocalDate): RateInForce | null {
  const [rate] = rates
    .filter(({ valid_from, valid_to }) => valid_from <= on && (valid_to === null || on < valid_to))
    .toSorted((a, b) => (a.valid_from < b.valid_from ? 1 : -1))
  return rate ? { name: rate.name, percentage: decimal(rate.percentage), source: rate.source } : null
}

/**
 * The standard rate of a country on a day: the platform's own, otherwise the stored one of an EU member, GB or AU. Null when none is
 * known.
 */
export function standardRate(
  country: string,
  on: LocalDate,
  platformRates: readonly PlatformTaxRate[] = [],
): RateInForce | null {
  const own = platformRates.filter(rate => rate.country === country && rate.state === null)
  const table = isEuMember(country) ? EU_STANDARD_RATES : OTHER_STANDARD_RATES
  const stored = Object.hasOwn(table, country) ? table[country] : undefined
  const percentage = stored ? rateOn(stored, on) : null
  return (
    platformRateOn(own, on) ??
    (percentage && { name: country === 'AU' ? 'GST' : 'VAT', percentage, source: sourceOfRates(country) })
  )
}

const SOURCES: Readonly<Record<string, string>> = {
  AU: 'Australian Taxation Office, "GST"',
  CA: 'Canada Revenue Agency, "GST/HST rates"; Revenu Québec and the finance ministries of BC, SK and MB',
  GB: 'HMRC, VAT Notice 700 and gov.uk/vat-rates',
}

/** The source of a country's stored rates. */
const sourceOfRates = (country: string): string =>
  isEuMember(country)
    ? 'European Commission, Taxes in Europe Database and "VAT rates applied in the Member States"'
    : (SOURCES[country] ?? '')

/** Tax id types which show that a Canadian seller collects a province's own tax. */
export type CanadianTaxIdType = 'CA_GST_HST' | 'CA_PST' | 'CA_PST_BC' | 'CA_PST_MB' | 'CA_PST_SK' | 'CA_QST'
type ProvinceTax = {
  readonly name: 'GST' | 'HST' | 'PST' | 'RST' | 'QST'
  /** Collected only by a seller that has one of these; if absent, every Canadian seller collects it. */
  readonly needs?: readonly CanadianTaxIdType[]
  readonly rates: readonly DatedRate[]
}

const GST: ProvinceTax = { name: 'GST', rates: unchanged('5') }
const hst = (rates: readonly DatedRate[]): readonly ProvinceTax[] => [{ name: 'HST', rates }]

const PROVINCE_TAXES: Readonly<Record<string, readonly ProvinceTax[]>> = {
  AB: [GST],
  BC: [GST, { name: 'PST', needs: ['CA_PST_BC', 'CA_PST'], rates: unchanged('7') }],
  MB: [GST, { name: 'RST', needs: ['CA_PST_MB', 'CA_PST'], rates: unchanged('7') }],
  NB: hst(unchanged('15')),
  NL: hst(unchanged('15')),
  NS: hst(successive([SINCE, '15'], ['2025-04-01', '14'])),
  NT: [GST],
  NU: [GST],
  ON: hst(unchanged('13')),
  PE: hst(unchanged('15')),
  QC: [GST, { name: 'QST', needs: ['CA_QST'], rates: unchanged('9.975') }],
  SK: [GST, { name: 'PST', needs: ['CA_PST_SK', 'CA_PST'], rates: unchanged('6') }],
  YT: [GST],
}

const PROVINCE_NAMES: Readonly<Record<string, string>> = {
  ALBERTA: 'AB',
  'BRITISH COLUMBIA': 'BC',
  MANITOBA: 'MB',
  'NEW BRUNSWICK': 'NB',
  'NEWFOUNDLAND AND LABRADOR': 'NL',
  'NOVA SCOTIA': 'NS',
  'NORTHWEST TERRITORIES': 'NT',
  NUNAVUT: 'NU',
  ONTARIO: 'ON',
  'PRINCE EDWARD ISLAND': 'PE',
  QUEBEC: 'QC',
  QUÉBEC: 'QC',
  SASKATCHEWAN: 'SK',
  YUKON: 'YT',
}

/**
 * The two-letter code of a Canadian province, given a code, an ISO 3166-2 code or a name; null when it is none of
 * these.
 */
export function canadianProvince(text: string | null): string | null {
  const upper = (text ?? '').trim().toUpperCase()
  const code = PROVINCE_NAMES[upper] ?? upper.replace(/^CA-/, '')
  return Object.hasOwn(PROVINCE_TAXES, code) ? code : null
}

/** The taxes that exist in a Canadian province; of the whole country (null) the GST. */
export const canadianTaxes = (province: string | null): string[] =>
  province === null ? ['GST'] : (PROVINCE_TAXES[province] ?? []).flatMap(({ name }) => (name === 'GST' ? [] : [name]))

/**
 * The taxes that a Canadian seller with these tax ids collects in a province: each at the platform's own rate, otherwise at the
 * stored one. Null when a rate is not known for the day.
 */
export function canadianRates(
  province: string,
  taxIdTypes: readonly string[],
  on: LocalDate,
  platformRates: readonly PlatformTaxRate[] = [],
): RateInForce[] | null {
  const taxes = (PROVINCE_TAXES[province] ?? []).filter(tax => tax.needs?.some(id => taxIdTypes.includes(id)) ?? true)
  const rates: RateInForce[] = []
  for (const { name, rates: stored } of taxes) {
    const state = name === 'GST' ? null : province
    const own = platformRates.filter(rate => rate.country === 'CA' && rate.name === name && rate.state === state)
    const percentage = rateOn(stored, on)
    const rate = platformRateOn(own, on) ?? (percentage && { name, percentage, source: sourceOfRates('CA') })
    if (rate === null) return null
    rates.push(rate)
  }
  return rates
}
