// The words of the project: exported names and names on the wire use the field's terms (docs/glossary.md), no coined ones.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { RESOURCES } from '../../api/modules/modules.ts'

/**
 * Words that were once used here in a sense of their own, for what the field has a term: a row that is held is locked, what is kept
 * is a snapshot, a cache or saved, a try is an attempt, what was touched has changed, the familiar is in a cache, a parcel is a message
 * in the queue of its partition, and powers are permissions.
 */
const COINED = new Set([
  ...['told', 'tell', 'tells', 'ask', 'asks', 'asked', 'asking', 'look', 'looked', 'unheard', 'tellable'],
  ...['hold', 'holds', 'held', 'kept', 'tries', 'touched', 'familiar', 'remembered', 'witness'],
  ...['parcel', 'parcels', 'lane', 'lanes', 'flying', 'power', 'powers'],
])
/** `looksLikeId` says what it says, and an invoice is on hold in every billing system. */
const IDIOMS = new Set(['looksLikeId', 'on_hold', 'init_invoice_on_hold'])

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
const isCoined = (name: string): boolean => !IDIOMS.has(name) && wordsOf(name).some(word => COINED.has(word))

const sources = execFileSync('git', ['ls-files', '*.ts'], { encoding: 'utf8' })
  .split('\n')
  .filter(
    file => /^(shared|ingest|aggregator|api|identity)\/.*\.ts$/.test(file) && !/\.test\.ts$|\/testing\//.test(file),
  )

describe('coined words', () => {
  test('are in no exported name', () => {
    const names = sources.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/^export (?:async )?(?:const|function|class|type) (\w+)/gm)].map(
        ([, name = '']) => ({ file, name }),
      ),
    )
    expect(names.length).toBeGreaterThan(1_000)
    expect(names.filter(({ name }) => isCoined(name))).toEqual([])
  })

  test('are in no field of a resource', () => {
    const names = RESOURCES.flatMap(({ objectType, fields }) => Object.keys(fields).map(name => ({ objectType, name })))
    expect(names.length).toBeGreaterThan(100)
    expect(names.filter(({ name }) => isCoined(name))).toEqual([])
  })
})

/** Phrases of comments and decisions that a native reader reads twice. */
const PHRASES = /\b(?:told|asked for|somebody|in earnest|for want of|gone on with)\b/i
/** The comments of a source, in lines; code, messages and columns of the database are none. */
const commentsOf = (source: string): string[] =>
  source.split('\n').flatMap(line => /^\s*(?:\/\/|\/?\*|--)(.*)|\s\/\/ (.*)/.exec(line)?.[0] ?? [])

describe('phrases that are read twice', () => {
  test('are in no comment', () => {
    const comments = sources.flatMap(file =>
      commentsOf(readFileSync(file, 'utf8')).map(comment => ({ file, comment: comment.trim() })),
    )
    expect(comments.length).toBeGreaterThan(5_000)
    expect(comments.filter(({ comment }) => PHRASES.test(comment))).toEqual([])
  })

  test('are in no decision', () => {
    const pages = execFileSync('git', ['ls-files', 'docs/decisions'], { encoding: 'utf8' }).trim().split('\n')
    expect(pages.length).toBeGreaterThan(20)
    expect(pages.filter(page => PHRASES.test(readFileSync(page, 'utf8')))).toEqual([])
  })

  test.each([
    ['// Somebody removed it.', true],
    ['  open() // Told when the transaction ends.', true],
    [' * What is asked for starts at once.', true],
    ['  readonly told?: string', false],
  ])('%s has one: %s', (line, found) => expect(commentsOf(line).some(comment => PHRASES.test(comment))).toBe(found))
})

test('the glossary has every resource that a tenant makes for billing, or the resource says itself what it is', () => {
  const glossary = readFileSync('docs/glossary.md', 'utf8').toLowerCase()
  const terms = RESOURCES.filter(({ section }) => section === undefined).map(({ objectType }) =>
    objectType.toLowerCase().replaceAll('_', ' '),
  )
  expect(
    terms.filter(term => !glossary.includes(`| ${term} |`)),
    'a row each in docs/glossary.md, or the `section` of the resource',
  ).toEqual([])
})

test.each([
  ['tellState', true],
  ['holdCustomer', true],
  ['loadKept', true],
  ['lockCustomer', false],
  ['STATE_TOLD', true],
  ['lookup', false],
  ['taskList', false],
])('whether %s has a coined word: %s', (name, coined) => expect(isCoined(name)).toBe(coined))
