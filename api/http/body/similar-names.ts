import { distance } from 'fastest-levenshtein'

const SHOWN_MAX = 3
const LETTERS_MIN = 3
const MISTAKES_MAX = 2

/**
 * The names that someone who wrote `name` may have meant: those spelled nearly the same; without one, up to three that have a word
 * in common, the most likely first.
 */
export function similarNames(name: string, accepted: readonly string[]): string[] {
  const words = new Set(wordsOf(name))
  const all = accepted
    .map(each => ({
      each,
      apart: distance(name.toLowerCase(), each),
      common: wordsOf(each).filter(word => words.has(word)).length,
    }))
    .sort((a, b) => b.common - a.common || a.apart - b.apart || (a.each < b.each ? -1 : 1))
  const misspelled = all.filter(({ each, apart }) => apart <= MISTAKES_MAX && apart * 2 < each.length)
  const related = all.filter(({ common }) => common > 0)
  return (misspelled.length > 0 ? misspelled : related).slice(0, SHOWN_MAX).map(({ each }) => each)
}

/** The words of a name in snake_case or camelCase, in lower case and without the s of a plural. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map(word => word.replace(/s$/, ''))
    .filter(word => word.length >= LETTERS_MIN)
