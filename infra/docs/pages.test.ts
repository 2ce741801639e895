// The pages a reader follows lead somewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'api/resource/README.md',
  'api/modules/README.md',
  ...readdirSync('docs', { recursive: true }).map(name => join('docs', String(name))),
].filter(name => name.endsWith('.md'))

test.each(pages)('every link of %s leads to a file', page => {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]+)[^)]*\)/g)].map(match => match[1] ?? '')
  expect(links.filter(link => !existsSync(join(dirname(page), link)))).toEqual([])
})

test('every file that docs/event-to-invoice.md names exists', () => {
  const text = readFileSync('docs/event-to-invoice.md', 'utf8')
  const names = [...text.matchAll(/`([a-z]+\/[\w./-]+)`/g)].map(match => match[1] ?? '')
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter(name => !existsSync(name))).toEqual([])
})

test('a price goes downhill from its configuration to its line: no file of the way uses one that stands below it', () => {
  const text = readFileSync('docs/event-to-invoice.md', 'utf8')
  const [, section = ''] = text.split('## One price, from configuration to line')
  const way = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+\.ts)`/gm)].map(([, name = '']) => name)
  expect(way.length).toBeGreaterThan(15)
  const climbs = way.flatMap((name, place) => {
    const imports = readFileSync(name, 'utf8').matchAll(/^import (?!type )[^']*'(\.[^']+)'/gm)
    const used = [...imports].map(([, path = '']) => join(dirname(name), path))
    return way.slice(place + 1).flatMap(below => (used.includes(below) ? [`${name} uses ${below}`] : []))
  })
  expect(climbs).toEqual([])
})

test.each(['docs/fault-tests.md', 'docs/security-checklist.md'])(
  'every file that %s names exists, and holds the test it quotes',
  page => {
    const text = readFileSync(page, 'utf8')
    const names = [...text.matchAll(/`([a-z]+\/[\w./-]+)`/g)].map(match => match[1] ?? '')
    expect(names.filter(name => !existsSync(name))).toEqual([])
    const quoted = [...text.matchAll(/`([a-z]+\/[\w./-]+)`: "([^"]+)"/g)].map(([, name = '', test = '']) => ({
      name,
      test,
    }))
    expect(quoted.length).toBeGreaterThan(20)
    expect(quoted.filter(({ name, test }) => !readFileSync(name, 'utf8').includes(test))).toEqual([])
  },
)

/** The tests of a row of docs/contract-tests.md: each a file in backticks, most with the beginning of a title. */
const citationsIn = (cell: string) =>
  cell.split(/; (?=`)/).map(citation => {
    const [, name = '', title = ''] = /^`([a-z]+\/[\w./-]+)`(?:: "([^"]+)")?$/.exec(citation) ?? []
    return { citation, name, title }
  })

/** Whether a file has a string that begins with a text: the title of a test, or of a row of examples. */
const hasTitle = (source: string, title: string): boolean =>
  ["'", '"', '`'].some(quote => source.includes(`${quote}${title}`))

/** What leads nowhere in the tables of a page. */
function brokenCitations(text: string): string[] {
  const cells = [...text.matchAll(/^\| .+ \| (.+) \|$/gm)].map(([, cell = '']) => cell).filter(cell => cell !== 'test')
  return cells
    .flatMap(citationsIn)
    .filter(({ name, title }) => !existsSync(name) || !hasTitle(readFileSync(name, 'utf8'), title))
    .map(({ citation }) => citation)
}

test('every test that docs/contract-tests.md names exists, by its file and the beginning of its title', () => {
  const text = readFileSync('docs/contract-tests.md', 'utf8')
  expect([...text.matchAll(/`: "/g)].length).toBeGreaterThan(200)
  expect(brokenCitations(text)).toEqual([])
})

test.each([
  ['a file that is not there', '`infra/docs/no.test.ts`'],
  ['a title that no test has', '`infra/docs/english.test.ts`: "no such title"'],
  ['the middle of a title', '`infra/docs/english.test.ts`: "phrase that is read"'],
  ['a cell that names no test', 'see `infra/docs/english.test.ts`'],
])('%s is found', (_, citation) => {
  const good = '`infra/docs/english.test.ts`: "has no phrase"'
  expect(brokenCitations(`| rule | test |\n|---|---|\n| one | ${good} |\n| two | ${citation} |`)).toEqual([citation])
})

test('docs/security-checklist.md leaves out no rule, no attack and no requirement', () => {
  const text = readFileSync('docs/security-checklist.md', 'utf8')
  const numbersIn = (title: string): string[] => {
    const [, section = ''] = text.split(`## ${title}\n`)
    const rows = section.split('\n## ')[0]?.matchAll(/^\| ([\d.]+) /gm) ?? []
    return [...rows].map(([, number = '']) => number)
  }
  const upTo = (last: number, prefix = ''): string[] =>
    Array.from({ length: last }, (_, index) => `${prefix}${index + 1}`)
  expect(numbersIn('The rules')).toEqual(upTo(38))
  expect(numbersIn('The attacks')).toEqual(upTo(17))
  expect(numbersIn('OWASP ASVS 5.0, V10.4')).toEqual(upTo(16, '10.4.'))
})
