// The documentation reads once: short paragraphs, and none of the phrases that a native reader has to read twice.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const WORDS_MAX = 90
/** Long paragraphs that are still there. A number may fall and never rises; a page without one is not listed. */
const LONG_STILL: Readonly<Record<string, number>> = { benchmarks: 1 }
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
/** Pages that were gone over; the others follow. */
const READ = [
  'quick-start',
  'concepts',
  'api-guide',
  'identity',
  'agents',
  'operating',
  'event-to-invoice',
  'pricing-models',
  'first-calls',
  'errors',
  'glossary',
  'changelog',
]

const pages = readdirSync('docs')
  .filter(name => name.endsWith('.md'))
  .map(name => ({ name, text: readFileSync(join('docs', name), 'utf8') }))

/** Paragraphs and list items, without code, headings and tables. */
const paragraphsOf = (text: string): string[] =>
  text
    .replace(/```[\s\S]*?```/g, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map(paragraph => paragraph.trim())
    .filter(paragraph => !/^[#|]|^ {4}/.test(paragraph))

describe.each(pages)('docs/$name', ({ name, text }) => {
  test(`has no paragraph of more than ${WORDS_MAX} words beyond those that are listed`, () => {
    const long = paragraphsOf(text).filter(paragraph => paragraph.split(/\s+/).length > WORDS_MAX)
    const allowed = LONG_STILL[name.replace('.md', '')] ?? 0
    expect(long.length, long.slice(allowed).join('\n\n')).toBeLessThanOrEqual(allowed)
  })
})

test.each(READ)('docs/%s.md has no phrase that is read twice', page => {
  const text = readFileSync(`docs/${page}.md`, 'utf8')
  expect(PHRASES.flatMap(phrase => [...text.matchAll(new RegExp(phrase, 'gi'))].map(([found]) => found))).toEqual([])
})

test('a long paragraph is found, and a table is none', () => {
  const long = 'word '.repeat(WORDS_MAX + 1)
  expect(
    paragraphsOf(`# Title\n\n${long}\n\n| ${long} |`).filter(each => each.split(/\s+/).length > WORDS_MAX),
  ).toHaveLength(1)
})
