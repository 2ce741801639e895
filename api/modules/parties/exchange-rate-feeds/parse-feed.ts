// What an address of reference rates must give: JSON such as {"base": "EUR", "date": "2026-03-31", "rates": {"USD": 1.0832}}. Pure.

import { isCurrency } from '../../../../shared/codes/iso-codes.ts'
import { type Decimal, decimal, isPlainDecimal, plain, roundHalfUp, ZERO } from '../../../../shared/decimal.ts'
import { formatInstant, type Instant, parseInstant } from '../../../../shared/time.ts'

export type PublishedRate = { readonly currency: string; readonly rate: string }
/** Rates of one base for one time. */
export type PublishedRates = {
  readonly base_currency: string
  /** When the rates begin to hold; a date holds from its first second in UTC. */
  readonly rate_timestamp: string
  readonly rates: readonly PublishedRate[]
}

/** The most currencies that an answer may have; ISO 4217 has fewer. */
const RATES_MAX = 400
/** A rate for a time further ahead is refused, as one by the API is. */
const AHEAD_MS = 7 * 86_400_000

/** What is wrong with an answer, for the user who gave the address. */
export class WrongFeed extends Error {}

/**
 * The rates of an answer, those of the base itself and of currencies that ISO 4217 does not have left out. Throws WrongFeed when the
 * answer has another form, a rate that is not above zero, or a date that is too far ahead. JSON numbers are exact to 15 digits; a rate
 * with more is given as text. Rates are rounded to 12 decimals, half up.
 */
export function parseFeed(text: string, now: Instant): PublishedRates {
  const answer = objectOf(jsonOf(text), 'The answer')
  const base = answer['base'] ?? answer['base_currency']
  if (typeof base !== 'string' || !isCurrency(base)) throw new WrongFeed('`base` must be a currency of ISO 4217.')
  const rate_timestamp = timeOf(answer['date'] ?? answer['rate_timestamp'], now)
  const given = Object.entries(objectOf(answer['rates'], '`rates`'))
  if (given.length > RATES_MAX) throw new WrongFeed(`\`rates\` has more than ${RATES_MAX} members.`)
  const rates = given
    .filter(([currency]) => currency !== base && isCurrency(currency))
    .map(([currency, value]) => ({ currency, rate: plain(rateOf(currency, value)) }))
  if (rates.length === 0) throw new WrongFeed('`rates` has no rate of another currency.')
  return { base_currency: base, rate_timestamp, rates }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new WrongFeed('The answer is not JSON.')
  }
}

function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new WrongFeed(`${name} must be an object.`)
  return { ...value }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

function timeOf(value: unknown, now: Instant): string {
  const text = typeof value === 'string' && DATE.test(value) ? `${value}T00:00:00Z` : value
  const time = typeof text === 'string' ? parseInstant(text) : null
  if (time === null) throw new WrongFeed('`date` must be a day, such as 2026-03-31, or a time with its zone.')
  if (time > now + AHEAD_MS) throw new WrongFeed('`date` is more than seven days ahead.')
  return formatInstant(time)
}

/** A number as JSON writes it. `decimal` takes it with its exponent. */
const NUMBER = /^-?\d{1,40}(?:\.\d{1,100})?(?:e[+-]?\d{1,3})?$/i
/** What a stored rate has. */
const PLACES = 12

function rateOf(currency: string, value: unknown): Decimal {
  const text = typeof value === 'number' ? String(value) : value
  const rate = typeof text === 'string' && NUMBER.test(text) ? roundHalfUp(decimal(text), PLACES) : null
  if (rate === null || !isPlainDecimal(plain(rate)))
    throw new WrongFeed(`The rate of ${currency} must be a decimal number.`)
  if (!rate.gt(ZERO)) throw new WrongFeed(`The rate of ${currency} must be above zero.`)
  return rate
}
