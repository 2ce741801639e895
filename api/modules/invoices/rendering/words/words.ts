// The fixed words of an invoice document, and which language a customer reads. One table per language, so that a translator reads one file.
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { nl } from './nl.ts'
import type { Sentence, Words } from './table.ts'

const WORDS = { en, de, fr, nl, es } satisfies Record<string, Words>
type Language = keyof typeof WORDS

const isLanguage = (text: string): text is Language => Object.hasOwn(WORDS, text)

export type Locale = {
  /** The locale of dates and numbers, such as `de-CH`. */
  readonly tag: string
  /** The language of the fixed words. */
  readonly language: Language
}

/** The language and number format of a customer. English words for a language without a table; `en` without a usable locale. */
export function localeOf(given: string | null | undefined): Locale {
  const tag = canonical(given ?? '')
  const language = tag.split('-')[0] ?? ''
  return { tag, language: isLanguage(language) ? language : 'en' }
}

function canonical(given: string): string {
  try {
    const [tag] = Intl.getCanonicalLocales(given.replaceAll('_', '-'))
    if (tag !== undefined && Intl.NumberFormat.supportedLocalesOf(tag).length > 0) return tag
  } catch {
    // Not a valid language tag: the document still has to be written.
  }
  return 'en'
}

/** The fixed words in a language. */
export const wordsOf = ({ language }: Locale): Words => WORDS[language]

const ENGLISH = new Map(Object.entries(en.sentences).map(([code, text]) => [text, code as Sentence]))

/** A sentence that the tax code wrote on the invoice, in the reader's language; text from a tenant does not change. */
export function sentenceIn(words: Words, text: string): string {
  const code = ENGLISH.get(text)
  return code === undefined ? text : words.sentences[code]
}

/** Whether the tax code wrote this sentence. */
export const isSentence = (sentence: Sentence, text: string): boolean => ENGLISH.get(text) === sentence

type Figures = { money(quantity: string, currency: string): string; number(quantity: string): string }

const NUMBER = String.raw`(-?[\d.]+)`
const MONEY = `${NUMBER} ([A-Z]{3})`
const PART = String.raw`(?:, for (\d+/\d+) of the time)?`
const DISCOUNT = new RegExp(`^Discount(?: of ${NUMBER} %)?( on the total)?$`)
const PERCENTAGE_OF = new RegExp(`^${NUMBER} % of ${MONEY}${PART}$`)
const DEDUCTED = new RegExp(`^Deducted from ${MONEY}${PART}(?:, beyond the ${MONEY} that were deducted ahead)?$`)

const MARKUP = new RegExp(`^Markup(?: of ${NUMBER} %)?$`)
const ON_TOP = new RegExp(`^On top of ${MONEY}${PART}$`)
const COMMITTED = new RegExp(`^Up to what is committed, beyond the ${MONEY} that were charged$`)

/** The name or explanation of a markup or a minimum; null for any other text. */
function surchargeIn(words: Words, { money, number }: Figures, text: string): string | null {
  if (text === 'Minimum') return words.minimum
  if (text === 'Minimum on the total') return words.minimumOnTotal
  const name = MARKUP.exec(text)
  if (name) return name[1] === undefined ? words.markup : words.markupOf(number(name[1]))
  const committed = COMMITTED.exec(text)
  if (committed) return words.beyondCharged(money(committed[1] ?? '', committed[2] ?? ''))
  const fixed = ON_TOP.exec(text)
  if (!fixed) return null
  const [, quantity = '', currency = '', part] = fixed
  return words.onTopOf(money(quantity, currency)) + partOf(words, part)
}

/** The name or explanation of a clause line in the reader's language; any other text does not change. */
export function clauseIn(words: Words, figures: Figures, text: string): string {
  const { money, number } = figures
  const surcharge = surchargeIn(words, figures, text)
  if (surcharge !== null) return surcharge
  const name = DISCOUNT.exec(text)
  if (name) {
    const [, percentage, total] = name
    if (percentage === undefined) return total ? words.discountOnTotal : words.discount
    return total ? words.discountOfOnTotal(number(percentage)) : words.discountOf(number(percentage))
  }
  const share = PERCENTAGE_OF.exec(text)
  if (share) {
    const [, percentage = '', quantity = '', currency = '', part] = share
    return words.percentageOf(number(percentage), money(quantity, currency)) + partOf(words, part)
  }
  const fixed = DEDUCTED.exec(text)
  if (!fixed) return text
  const [, quantity = '', currency = '', part, ahead, aheadCurrency = ''] = fixed
  const before = ahead === undefined ? '' : `, ${words.beyondDeducted(money(ahead, aheadCurrency))}`
  return words.deductedFrom(money(quantity, currency)) + partOf(words, part) + before
}

const partOf = (words: Words, part: string | undefined): string => (part ? `, ${words.forPartOfTime(part)}` : '')
