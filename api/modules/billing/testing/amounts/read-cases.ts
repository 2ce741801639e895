// Reads the cases of the tables beside it. A case is a block of lines:
//
//   # system: what it shows
//   > the rule that decides the figures
//   from 2026-01-11                                    settings; absent ones have their defaults
//   a 100 ahead exempt of P                            prices, each named by a letter: an amount a month, or usage
//   b 80 @ 2<=50,1                                     80 units in tiers
//   discount total 15.00 from 2026-01-05 if >= 100     clauses; a line in a result names one by its number
//   = a 100.00, b 130.00, 1 -15.00 -> 215.00 45.15 260.15
//
// The last lines are the invoices that charge something, in order: their lines, then net, tax and gross. With a `rate`, such as
// EUR USD 1.0832, they end with what is stated in the currency of the tax authority: `| 198.49 41.68 240.17 EUR`.
import { readFileSync } from 'node:fs'

const SETTINGS = [
  'from',
  'to',
  'every',
  'currency',
  'tax',
  'exempt',
  'province',
  'parties',
  'gross',
  'unrounded',
  'rate',
] as const
type Setting = (typeof SETTINGS)[number]
export const CLAUSES = ['markup', 'discount', 'coupon', 'minimum', 'wallet'] as const

export type CasePrice = {
  readonly name: string
  /** An amount for a month, or metered units. */
  readonly quantity: string
  /** The bands of a metered price, `2<=50,1`; null for an amount. */
  readonly bands: string | null
  readonly isAhead: boolean
  readonly isDeduction: boolean
  readonly taxCategory: 'STANDARD' | 'EXEMPT' | 'NO_TAX'
  /** `P` or `P/K`: its product, and the category of that. */
  readonly product: string
}

export type CaseClause = {
  readonly kind: (typeof CLAUSES)[number]
  /** Its place among the clauses of the case, from 1. */
  readonly number: number
  readonly words: readonly string[]
}

export type Case = {
  readonly title: string
  readonly rule: string
  readonly settings: ReadonlyMap<Setting, string>
  readonly prices: readonly CasePrice[]
  readonly clauses: readonly CaseClause[]
  readonly invoices: readonly string[]
}

export const readCases = (file: string): Case[] =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split(/\n\n+/)
    .map(readCase)

function readCase(block: string): Case {
  const [title = '', rule = '', ...rest] = block.split('\n')
  if (!title.startsWith('# ') || !rule.startsWith('> ')) throw new Error(`a case needs a title and a rule: ${block}`)
  const settings = new Map<Setting, string>()
  const prices: CasePrice[] = []
  const clauses: CaseClause[] = []
  const invoices: string[] = []
  for (const line of rest) {
    const [first = '', ...words] = line.split(' ')
    const setting = SETTINGS.find(each => each === first)
    const kind = CLAUSES.find(each => each === first)
    if (first === '=') invoices.push(words.join(' '))
    else if (setting) settings.set(setting, words.join(' '))
    else if (kind) clauses.push({ kind, number: clauses.length + 1, words })
    else if (/^[a-z]$/.test(first)) prices.push(priceOf(first, words))
    else throw new Error(`${title}: ${line}`)
  }
  return { title: title.slice(2), rule: rule.slice(2), settings, prices, clauses, invoices }
}

const priceOf = (name: string, words: readonly string[]): CasePrice => ({
  name,
  quantity: words[0] ?? '',
  bands: after(words, '@'),
  isAhead: words.includes('ahead'),
  isDeduction: words.includes('deduction'),
  taxCategory: words.includes('exempt') ? 'EXEMPT' : words.includes('untaxed') ? 'NO_TAX' : 'STANDARD',
  product: after(words, 'of') ?? 'P',
})

/** The word that follows this one; null where it is absent. */
export function after(words: readonly string[], word: string): string | null {
  const place = words.indexOf(word)
  return place < 0 ? null : (words[place + 1] ?? null)
}
