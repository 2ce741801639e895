// Search over the documentation: by section, because a page is too long to be an answer.
import type { Page } from './read-pages.ts'
import { anchorOf } from './render-page.ts'

type Section = {
  readonly path: string
  readonly page: string
  readonly heading: string
  readonly anchor: string
  readonly text: string
}

/** One section that was found. */
export type Hit = Omit<Section, 'text'> & { readonly excerpt: string }

const HITS_MAX = 20
const WORDS_MAX = 10
const EXCERPT_CHARACTERS = 200
const [IN_TITLE, IN_HEADING] = [20, 10]
const COUNT_MAX = 5

/** The sections of the pages: what stands under each heading. */
export function sectionsOf(pages: readonly Page[]): Section[] {
  return pages.flatMap(({ path, title, markdown }) =>
    markdown.split(/^(?=#{1,3} )/m).map(part => {
      const [first = '', ...rest] = part.split('\n')
      const heading = first.replace(/^#+ /, '')
      return { path, page: title, heading, anchor: anchorOf(heading), text: rest.join('\n') }
    }),
  )
}

const timesIn = (text: string, word: string): number => Math.min(text.split(word).length - 1, COUNT_MAX)

function scoreOf({ page, heading, text }: Section, words: readonly string[]): number {
  const [inPage, inHeading, inText] = [page.toLowerCase(), heading.toLowerCase(), text.toLowerCase()]
  const scores = words.map(
    word =>
      (inPage.includes(word) ? IN_TITLE : 0) + (inHeading.includes(word) ? IN_HEADING : 0) + timesIn(inText, word),
  )
  // Every word counts, and a section that holds all of them comes before one that repeats a single one.
  const found = scores.filter(score => score > 0).length
  return scores.reduce((total, score) => total + score, 0) * found
}

function excerptOf(text: string, words: readonly string[]): string {
  const plain = text.replace(/```[a-z]*|[`*|]|\]\([^)]*\)|\[/g, ' ').replace(/\s+/g, ' ')
  const places = words.map(word => plain.toLowerCase().indexOf(word)).filter(place => place >= 0)
  const from = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - EXCERPT_CHARACTERS / 4)
  return plain.slice(from, from + EXCERPT_CHARACTERS).trim()
}

/** The sections that match best, best first. A section matches when it holds any of the words. */
export function searchSections(sections: readonly Section[], query: string): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX)
  return sections
    .map(section => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, HITS_MAX)
    .map(({ section: { text, ...rest } }) => ({ ...rest, excerpt: excerptOf(text, words) }))
}
