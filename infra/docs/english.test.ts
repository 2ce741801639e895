// The documentation reads once: short paragraphs, and none of the phrases that a native reader has to read twice.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const WORDS_MAX = 90
const PHRASES = [
  /\basked for\b/i,
  /\bgoes on\b/i,
  /\bgo on\b/i,
  /\bsomebody\b/i,
  /\bnobody\b/i,
  /\bwhoever\b/i,
  /\bin earnest\b/i,
  /\bby turns\b/i,
  /\bfor want of\b/i,
  /\bwas told\b/i,
  /\bwere told\b/i,
  /\brefused by name\b/i,
]
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs').map(name => join('docs', name)),
  ...readdirSync('docs/benchmarks').map(name => join('docs/benchmarks', name)),
]
  .filter(name => name.endsWith('.md'))
  .map(name => ({ name, text: readFileSync(name, 'utf8') }))

/** Paragraphs and list items, without code, headings and tables. */
const paragraphsOf = (text: string): string[] =>
  text
    .replace(/```[\s\S]*?```/g, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map(paragraph => paragraph.trim())
    .filter(paragraph => !/^[#|]|^ {4}/.test(paragraph))

/** Phrases of the list, but in titles of tests, which are quoted as they are. */
const phrasesIn = (text: string): string[] => {
  const own = text.replace(/: "[^"\n]*"/g, '')
  return PHRASES.flatMap(phrase => [...own.matchAll(new RegExp(phrase, 'gi'))].map(([found]) => found))
}

describe.each(pages)('$name', ({ text }) => {
  test(`has no paragraph of more than ${WORDS_MAX} words`, () => {
    expect(paragraphsOf(text).filter(paragraph => paragraph.split(/\s+/).length > WORDS_MAX)).toEqual([])
  })

  test('has no phrase that is read twice', () => {
    expect(phrasesIn(text)).toEqual([])
  })
})

test('a phrase is found, and the title of a test is none', () => {
  expect(phrasesIn('It goes on. | `a.test.ts`: "events go on being accepted" |')).toEqual(['goes on'])
})

test('a long paragraph is found, and a table is none', () => {
  const long = 'word '.repeat(WORDS_MAX + 1)
  expect(
    paragraphsOf(`# Title\n\n${long}\n\n| ${long} |`).filter(each => each.split(/\s+/).length > WORDS_MAX),
  ).toHaveLength(1)
})
