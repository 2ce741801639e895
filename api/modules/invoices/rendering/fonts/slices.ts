// The fonts of documents: Noto Sans, in the slices of its packages. The character ranges that each package lists tell
// which slice has a character, so that a document reads only what it needs.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A font file: some hundred characters, in one weight or in all. */
export type Slice = {
  readonly key: string
  readonly path: string
  /** The weight that a variable font is set to; null when the file has only one weight. */
  readonly weight: number | null
}

export type Weight = 400 | 700
/** Which regional form (Chinese, Japanese or Korean) to use for the characters that they share. */
export type Han = 'sc' | 'jp' | 'kr'

type Range = { readonly from: number; readonly to: number; readonly subset: string }
type Family = {
  readonly name: string
  readonly folder: string
  readonly variable: boolean
  readonly ranges: readonly Range[]
}

const require = createRequire(import.meta.url)

/** A family with the subsets to use; every numbered one when none is named. */
function family(packageName: string, subsets: readonly string[] | null): Family {
  const folder = dirname(require.resolve(`${packageName}/package.json`))
  const listed = JSON.parse(readFileSync(join(folder, 'unicode.json'), 'utf8')) as Readonly<Record<string, string>>
  const name = packageName.slice(packageName.indexOf('/') + 1)
  const ranges = Object.entries(listed).flatMap(([key, text]) => {
    const numbered = /^\[(\d+)\]$/.exec(key)?.[1]
    const wanted = subsets === null ? numbered !== undefined : subsets.includes(key)
    return wanted ? rangesOf(text, numbered ?? key) : []
  })
  return { name, folder, variable: packageName.startsWith('@fontsource-variable/'), ranges }
}

/** `U+0600-06FF,U+20AC` as ranges. */
const rangesOf = (text: string, subset: string): Range[] =>
  text.split(',').map(range => {
    const [from = '', to = from] = range.trim().replace('U+', '').split('-')
    return { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16), subset }
  })

const PLAIN = ['latin', 'latin-ext', 'greek', 'cyrillic', 'vietnamese', 'greek-ext', 'cyrillic-ext']

type Families = { readonly alphabets: readonly Family[]; readonly han: Readonly<Record<Han, Family>> }
let families: Families | null = null

/** Read with the first document, because starting the process does not need it. */
function load(): Families {
  families ??= {
    alphabets: [
      family('@fontsource/noto-sans', PLAIN),
      family('@fontsource/noto-sans-arabic', ['arabic']),
      family('@fontsource/noto-sans-hebrew', ['hebrew']),
      family('@fontsource/noto-sans-thai', ['thai']),
      family('@fontsource/noto-sans-devanagari', ['devanagari']),
    ],
    han: {
      sc: family('@fontsource-variable/noto-sans-sc', null),
      jp: family('@fontsource-variable/noto-sans-jp', null),
      kr: family('@fontsource-variable/noto-sans-kr', null),
    },
  }
  return families
}

const HAN_ORDER: Readonly<Record<Han, readonly Han[]>> = {
  sc: ['sc', 'jp', 'kr'],
  jp: ['jp', 'sc', 'kr'],
  kr: ['kr', 'sc', 'jp'],
}

const found = new Map<string, readonly Slice[]>()
const FOUND_MAX = 20_000

/** The slices that may have a character, best first; only the font itself tells whether it has it. */
export function slicesFor(codePoint: number, weight: Weight, han: Han): readonly Slice[] {
  const key = `${codePoint} ${weight} ${han}`
  const known = found.get(key)
  if (known) return known
  if (found.size >= FOUND_MAX) found.clear()
  const slices = findSlices(codePoint, weight, han)
  found.set(key, slices)
  return slices
}

/** Searches thousands of ranges, so results are cached. */
function findSlices(codePoint: number, weight: Weight, han: Han): Slice[] {
  const { alphabets, han: hands } = load()
  return [...alphabets, ...HAN_ORDER[han].map(hand => hands[hand])].flatMap(of =>
    of.ranges
      .filter(({ from, to }) => from <= codePoint && codePoint <= to)
      .map(({ subset }) => sliceOf(of, subset, weight)),
  )
}

function sliceOf({ name, folder, variable }: Family, subset: string, weight: Weight): Slice {
  const file = `${name}-${subset}-${variable ? 'wght' : weight}-normal.woff2`
  return { key: `${file} ${weight}`, path: join(folder, 'files', file), weight: variable ? weight : null }
}

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u
const HANGUL = /\p{Script=Hangul}/u

/** Kana make a text Japanese and Hangul makes it Korean: the forms of shared characters differ. */
export const handOf = (text: string): Han => (KANA.test(text) ? 'jp' : HANGUL.test(text) ? 'kr' : 'sc')
