import { distance } from 'fastest-levenshtein'

const SHOWN_MAX = 3
const LETTERS_MIN = 3
const MISTAKES_MAX = 2
/** Of the accepted names that have a word. */
const COMMON_MAX = 3

/**
 * The names that someone who wrote `name` may have meant, at most three, the most likely first. First come names spelled nearly the same. If
 * there is none, come names with all of its words, and the places in the body where a field has this very name (`elsewhere`). If there is
 * none of those either, come names that share a word. A word that many names have, such as pricing, counts only where the two names differ
 * in no more than one other word.
 */
export function similarNames(name: string, accepted: readonly string[], elsewhere: readonly string[] = []): string[] {
  const words = new Set(wordsOf(name))
  const shared = accepted.map(each => ({ each, words: wordsOf(each) }))
  const isTelling = (word: string): boolean => shared.filter(of => of.words.includes(word)).length <= COMMON_MAX
  const all = shared
    .map(of => {
      const common = of.words.filter(word => words.has(word))
      const isLonger = common.length === words.size && of.words.length <= words.size + 1
      const sameEnd = of.each.split('_').at(-1) === name.split('_').at(-1)
      return {
        each: of.each,
        apart: distance(name.toLowerCase(), of.each),
        common: common.length,
        isRelated: common.some(isTelling) || (common.length > 0 && isLonger && sameEnd),
      }
    })
    .sort((a, b) => b.common - a.common || a.apart - b.apart || (a.each < b.each ? -1 : 1))
  const misspelled = all.filter(({ each, apart }) => apart <= MISTAKES_MAX && apart * 2 < each.length)
  const related = all.filter(({ isRelated }) => isRelated)
  const named = ({ each }: (typeof all)[number]): string => each
  if (misspelled.length > 0) return misspelled.slice(0, SHOWN_MAX).map(named)
  if (elsewhere.length === 0) return related.slice(0, SHOWN_MAX).map(named)
  return [...related.filter(({ common }) => common === words.size).map(named), ...elsewhere].slice(0, SHOWN_MAX)
}

/** The words of a name in snake_case or camelCase, in lower case and without the s of a plural. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map(word => word.replace(/s$/, ''))
    .filter(word => word.length >= LETTERS_MIN)
