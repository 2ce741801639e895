// Worked cases of a line that is credited in several parts: each note rounds its own tax, and together they give back the line to the
// last unit. Every figure is computed by hand: the tax of a part is that of what is left, in proportion, rounded half up.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { amountOf, type Basis, creditShares, isWithin, minusShares, type Share } from './credit-amounts.ts'

/** What it shows; the line as `base+tax` by summary; the credits asked for; and what each credits. */
type Case = readonly [string, Basis, string, readonly string[], readonly string[], readonly (readonly string[])[]]
const NET = 'EXCLUDING_TAX'
const GROSS = 'INCLUDING_TAX'
const CASES: readonly Case[] = [
  [
    'three thirds of 21 %',
    NET,
    'EUR',
    ['100+21'],
    ['33.33', '33.33', '33.34'],
    [['33.33+7'], ['33.33+7'], ['33.34+7']],
  ],
  [
    'ten tenths whose tax has no tenth: 47 cents',
    ...([NET, 'EUR', ['10+0.47'], Array.from({ length: 10 }, () => '1')] as const),
    ['0.05', '0.05', '0.05', '0.05', '0.05', '0.04', '0.05', '0.04', '0.05', '0.04'].map(tax => [`1+${tax}`]),
  ],
  [
    'with tax: two halves of 50 and the rest of 119 at 19 %',
    ...([GROSS, 'EUR', ['100+19'], ['50', '50', '19']] as const),
    [['42.02+7.98'], ['42.01+7.99'], ['15.97+3.03']],
  ],
  [
    'with tax: a cent of 9.99 at 19 % first',
    ...([GROSS, 'EUR', ['8.39+1.6'], ['0.01', '9.98']] as const),
    [['0.01+0'], ['8.38+1.6']],
  ],
  ['yen have no parts', NET, 'JPY', ['1000+100'], ['333', '333', '334'], [['333+33'], ['333+33'], ['334+34']]],
  ['with tax in yen', GROSS, 'JPY', ['1000+80'], ['500', '580'], [['463+37'], ['537+43']]],
  ['one yen at a time of a line without tax', NET, 'JPY', ['3+0'], ['1', '1', '1'], [['1+0'], ['1+0'], ['1+0']]],
  [
    'dinars have three places',
    ...([NET, 'KWD', ['10+0.5'], ['3.333', '3.333', '3.334']] as const),
    [['3.333+0.167'], ['3.333+0.166'], ['3.334+0.167']],
  ],
  [
    'GST and QST together: 14.975 % of 99.99',
    ...([NET, 'CAD', ['99.99+14.97'], ['49.99', '50']] as const),
    [['49.99+7.48'], ['50+7.49']],
  ],
  [
    'a part that is exempt to 40 %',
    ...([NET, 'EUR', ['60+12.6', '40+0'], ['33.33', '66.67']] as const),
    [
      ['20+4.2', '13.33+0'],
      ['40+8.4', '26.67+0'],
    ],
  ],
  [
    'a deduction in three parts',
    ...([NET, 'EUR', ['-20+-4.2'], ['-6.66', '-6.67', '-6.67']] as const),
    [['-6.66+-1.4'], ['-6.67+-1.4'], ['-6.67+-1.4']],
  ],
  [
    'five cents with one cent of tax: it goes with the part at which half of it is reached',
    ...([NET, 'EUR', ['0.05+0.01'], ['0.01', '0.01', '0.01', '0.01', '0.01']] as const),
    [['0.01+0'], ['0.01+0'], ['0.01+0'], ['0.01+0.01'], ['0.01+0']],
  ],
  ['nearly all of it, and the last cent', NET, 'EUR', ['100+21'], ['99.99', '0.01'], [['99.99+21'], ['0.01+0']]],
  [
    'the tax of a refund that was rounded up before is what is left',
    ...([NET, 'EUR', ['0.15+0.03'], ['0.05', '0.05', '0.05']] as const),
    [['0.05+0.01'], ['0.05+0.01'], ['0.05+0.01']],
  ],
  ['5 % GST of 19.99, half at a time', NET, 'CAD', ['19.99+1'], ['10', '9.99'], [['10+0.5'], ['9.99+0.5']]],
  ['20 % in pounds in sevenths', NET, 'GBP', ['7+1.4'], ['1', '2', '4'], [['1+0.2'], ['2+0.4'], ['4+0.8']]],
]

/** Those in the forms of other systems, as a separate program works them out: a title, the line, and what each credit takes. */
const OTHERS = readFileSync(new URL('./credits-of-other-systems.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n\n')
  .map((block): Case => {
    const [title = '', of = '', ...credits] = block.split('\n')
    const [basis, currency = '', ...line] = of.split(' ')
    const parts = credits.map(credit => credit.split(' -> '))
    return [
      title.slice(2),
      basis === 'gross' ? GROSS : NET,
      currency,
      line,
      parts.map(([wanted = '']) => wanted),
      parts.map(([, taken = '']) => taken.split(' ')),
    ]
  })

const shareOf = (text: string): Share => {
  const [base = '', tax = ''] = text.split('+')
  return { base: decimal(base), tax: decimal(tax) }
}
const textOf = ({ base, tax }: Share): string => `${plain(base)}+${plain(tax)}`

describe('a line that is credited in parts', () => {
  test.each([...CASES, ...OTHERS])('%s', (_, basis, currency, line, wanted, expected) => {
    let left: readonly Share[] = line.map(shareOf)
    const credits = wanted.map(text => {
      expect(isWithin(decimal(text), amountOf(left, basis))).toBe(true)
      const credit = creditShares(left, decimal(text), { basis, currency })
      left = minusShares(left, credit)
      return credit
    })
    expect(credits.map(each => each.map(textOf))).toEqual(expected)
    // Nothing is left, and nothing more can be credited.
    expect(left.map(textOf)).toEqual(line.map(() => '0+0'))
    expect(isWithin(decimal('0.01'), amountOf(left, basis))).toBe(false)
    const taxes = (shares: readonly Share[]) => plain(sum(shares.map(each => each.tax)))
    expect(taxes(credits.flat())).toBe(taxes(line.map(shareOf)))
  })
})
