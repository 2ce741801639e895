// Numbers, money, dates and country names in the format of a locale. Quantities stay strings from end to end, so no
// digit is lost.
import type { LocalDate } from '../../../../../shared/billing/local-days.ts'
import { currencyExponent } from '../../../../../shared/money.ts'
import type { MoneyView } from '../../schema.ts'
import type { Locale } from './words.ts'

export type Formats = {
  /** `26450535.25` as `26.450.535,25` in German. */
  number(quantity: string): string
  /** With the code of the currency, and at least its number of decimals. */
  money(value: MoneyView): string
  date(date: LocalDate): string
  /** The first and last day of a time, as `1–31 January 2026`. */
  days(first: LocalDate, last: LocalDate): string
  /** The country's name in the reader's language; the code itself when it is unknown. */
  country(code: string): string
}

const OPTIONS = { numberingSystem: 'latn', useGrouping: 'always' } as const
const made = new Map<string, Formats>()
const FORMATS_MAX = 200

/** The formats of a locale, cached: creating one takes longer than writing an invoice. */
export function formatsOf(locale: Locale): Formats {
  const known = made.get(locale.tag)
  if (known) return known
  if (made.size >= FORMATS_MAX) made.clear()
  const formats = makeFormats(locale)
  made.set(locale.tag, formats)
  return formats
}

function makeFormats(locale: Locale): Formats {
  const numbers = new Map<string, Intl.NumberFormat>()
  const formatter = (places: number, currency?: string): Intl.NumberFormat => {
    const key = `${places} ${currency ?? ''}`
    const known = numbers.get(key)
    if (known) return known
    const money = currency === undefined ? {} : ({ style: 'currency', currency, currencyDisplay: 'code' } as const)
    const fractions = { minimumFractionDigits: places, maximumFractionDigits: places }
    const format = new Intl.NumberFormat(locale.tag, { ...OPTIONS, ...fractions, ...money } as Intl.NumberFormatOptions)
    numbers.set(key, format)
    return format
  }
  const dates = new Intl.DateTimeFormat(locale.tag, {
    dateStyle: 'long',
    timeZone: 'UTC',
    numberingSystem: 'latn',
    calendar: 'gregory',
  })
  const countries = new Intl.DisplayNames([wordsLanguage(locale)], { type: 'region', fallback: 'code' })
  return {
    number: quantity => plainText(formatter(placesOf(quantity)), quantity),
    money: ({ quantity, currency }) =>
      plainText(formatter(Math.max(placesOf(quantity), currencyExponent(currency)), currency), quantity),
    date: date => legible(dates.format(dayOf(date))),
    days: (first, last) => legible(dates.formatRange(dayOf(first), dayOf(last)).replaceAll('\u2009', ' ')),
    country: code => (/^[A-Z]{2}$/.test(code) ? (countries.of(code) ?? code) : code),
  }
}

const dayOf = (date: LocalDate): Date => new Date(`${date}T00:00:00Z`)

/** Country names in the language of the words: that of the locale where it has a table, otherwise English. */
const wordsLanguage = (locale: Locale): string => (locale.tag.startsWith(locale.language) ? locale.tag : 'en')

/** Decimals are passed as strings: a JavaScript number would lose digits. */
function plainText(format: Intl.NumberFormat, quantity: string): string {
  const [whole = '', fraction = ''] = quantity.split('.')
  if (fraction.length <= PLACES_MAX) return legible(format.format(quantity as unknown as number))
  const parts = format.formatToParts(`${whole}.${fraction.slice(0, PLACES_MAX)}` as unknown as number)
  return legible(parts.map(({ type, value }) => (type === 'fraction' ? fraction : value)).join(''))
}

/** Without direction marks, and with the ordinary no-break space in place of the narrow one, which few fonts have. */
const legible = (text: string): string => text.replace(/[\u200e\u200f\u061c]/g, '').replaceAll('\u202f', '\u00a0')

/** The part that Intl accepts; what follows it is written unchanged. */
const PLACES_MAX = 20
const placesOf = (quantity: string): number => Math.min(PLACES_MAX, quantity.split('.')[1]?.length ?? 0)
