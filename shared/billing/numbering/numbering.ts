// Document numbers: prefix, dynamic parts and a zero-padded counter (semantics 5.2). Pure: the caller supplies the
// value of the counter, taken under a lock and only at FINAL, so that no number is skipped.

import { dateParts, type LocalDate } from '../local-days.ts'
import { type PrefixPart, type PrefixVariable, parsePrefix } from './number-prefix.ts'

export const NUMBER_SERIES = ['STANDARD', 'CREDIT', 'SELF_BILLING', 'SELF_BILLING_CREDIT'] as const
export type NumberSeries = (typeof NUMBER_SERIES)[number]
export const DYNAMIC_PREFIXES = ['YEAR', 'MONTH', 'BILLING_ENTITY'] as const
export type DynamicPrefix = (typeof DYNAMIC_PREFIXES)[number]
export const RESET_TYPES = ['NEVER', 'MONTH', 'YEAR'] as const
export const RESET_MONTHS = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const
export type ResetPeriod = {
  readonly type: (typeof RESET_TYPES)[number]
  /** The first month of a YEAR window. */
  readonly month: (typeof RESET_MONTHS)[number]
}

/** `DocumentNumberConfiguration`. */
export type NumberConfiguration = {
  readonly prefix: string
  readonly dynamicPrefix: readonly DynamicPrefix[]
  readonly separator: string
  readonly firstNumber: number
  readonly incrementBy: number
  readonly minimumNumberOfDigits: number
  readonly resetPeriod: ResetPeriod
}

const YEARLY: ResetPeriod = { type: 'YEAR', month: 'JANUARY' }
const series = (prefix: string): NumberConfiguration => ({
  prefix,
  dynamicPrefix: ['YEAR'],
  separator: '-',
  firstNumber: 1,
  incrementBy: 1,
  minimumNumberOfDigits: 5,
  resetPeriod: YEARLY,
})

/** The default numbering of a platform. The prefixes differ, so numbers of two series never collide. */
export const DEFAULT_NUMBER_CONFIGURATIONS: Readonly<Record<NumberSeries, NumberConfiguration>> = {
  STANDARD: series('INV'),
  CREDIT: series('CRE'),
  SELF_BILLING: series('SBI'),
  SELF_BILLING_CREDIT: series('SBC'),
}

export type NumberFault = { readonly field: string; readonly message: string }

const isCount = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least

const DIGITS_MAX = 20
/** A separator has only punctuation: with digits or letters two different numbers could read the same. */
const SEPARATOR = /^[-/._ #:]{0,3}$/

function uniquenessFault(configuration: NumberConfiguration, parts: readonly PrefixPart[]): NumberFault | null {
  const { dynamicPrefix, resetPeriod, separator } = configuration
  const has = (part: DynamicPrefix): boolean => dynamicPrefix.includes(part)
  if (resetPeriod.type === 'YEAR' && !has('YEAR')) {
    return { field: 'dynamic_prefix', message: 'A counter that restarts each year needs YEAR, or numbers repeat.' }
  }
  if (resetPeriod.type === 'MONTH' && !(has('YEAR') && has('MONTH'))) {
    return {
      field: 'dynamic_prefix',
      message: 'A counter that restarts each month needs YEAR and MONTH, or numbers repeat.',
    }
  }
  const varies = dynamicPrefix.length > 0 || parts.some(part => typeof part !== 'string')
  if (separator === '' && varies) {
    return { field: 'separator', message: 'A prefix that varies needs a separator, or two numbers can read alike.' }
  }
  return null
}

/** What is wrong with a configuration, or null. A valid configuration gives every counter value a number of its own. */
export function numberConfigurationFault(configuration: NumberConfiguration): NumberFault | null {
  const prefix = parsePrefix(configuration.prefix)
  if (prefix.kind === 'fault') return { field: 'prefix', message: prefix.message }
  if (!SEPARATOR.test(configuration.separator)) {
    return { field: 'separator', message: 'A separator is up to three of - / . _ # : and space.' }
  }
  if (!isCount(configuration.firstNumber, 0)) return { field: 'first_number', message: 'first_number is 0 or more.' }
  if (!isCount(configuration.incrementBy, 1)) return { field: 'increment_by', message: 'increment_by is 1 or more.' }
  const digits = configuration.minimumNumberOfDigits
  if (!isCount(digits, 1) || digits > DIGITS_MAX) {
    return { field: 'minimum_number_of_digits', message: `minimum_number_of_digits is 1 to ${DIGITS_MAX}.` }
  }
  return uniquenessFault(configuration, prefix.parts)
}

export type NumberContext = {
  /** The day of the document in its zone. */
  readonly date: LocalDate
  /** The reference of the billing entity, for BILLING_ENTITY. */
  readonly billingEntity: string
  /** The text of a custom field, or null when the owner has none. */
  readonly variable: (of: PrefixVariable) => string | null
}

/** YEAR on a document: the year in which the window of its counter started. */
function yearOf({ type, month }: ResetPeriod, date: LocalDate): number {
  const at = dateParts(date)
  const beforeStart = type === 'YEAR' && at.month <= RESET_MONTHS.indexOf(month)
  return beforeStart ? at.year - 1 : at.year
}

const pad = (value: number | bigint, digits: number): string => value.toString().padStart(digits, '0')

export type RenderedPrefix =
  | {
      readonly kind: 'ok'
      readonly text: string
      /** The counter these documents share, within one environment. */
      readonly counterKey: string
    }
  /** The custom field that the prefix names has no value; the document cannot be numbered until it has one. */
  | { readonly kind: 'missing'; readonly variable: PrefixVariable }

/**
 * The prefix of a document and the key of its counter: one counter per series and rendered prefix. A reset needs no key
 * of its own, because a configuration that resets must show the window in the prefix. So equal prefixes always share a
 * counter and no number can repeat. YEAR is the year in which the window started: a financial year from April keeps one
 * YEAR. Throws RangeError for a prefix that `numberConfigurationFault` refuses.
 */
export function renderPrefix(
  configuration: NumberConfiguration,
  numberSeries: NumberSeries,
  context: NumberContext,
): RenderedPrefix {
  const prefix = parsePrefix(configuration.prefix)
  if (prefix.kind === 'fault') throw new RangeError(prefix.message)
  let fixed = ''
  for (const part of prefix.parts) {
    const text = typeof part === 'string' ? part : context.variable(part)?.trim()
    if (!text && typeof part !== 'string') return { kind: 'missing', variable: part }
    fixed += text ?? ''
  }
  const dynamic: Readonly<Record<DynamicPrefix, string>> = {
    YEAR: pad(yearOf(configuration.resetPeriod, context.date), 4),
    MONTH: pad(dateParts(context.date).month, 2),
    BILLING_ENTITY: context.billingEntity,
  }
  const shown = [fixed, ...configuration.dynamicPrefix.map(part => dynamic[part])]
  const text = shown.filter(part => part !== '').join(configuration.separator)
  return { kind: 'ok', text, counterKey: JSON.stringify([numberSeries, text]) }
}

/** The value after `last` (null: none yet). A counter jumps to a raised first number and never goes back. */
export function nextCounter({ firstNumber, incrementBy }: NumberConfiguration, last: bigint | null): bigint {
  const first = BigInt(firstNumber)
  if (last === null) return first
  const next = last + BigInt(incrementBy)
  return next > first ? next : first
}

/** The number itself: prefix, separator, counter of at least the configured digits. */
export const documentNumber = (
  { separator, minimumNumberOfDigits }: NumberConfiguration,
  prefix: string,
  counter: bigint,
): string => `${prefix === '' ? '' : prefix + separator}${pad(counter, minimumNumberOfDigits)}`
