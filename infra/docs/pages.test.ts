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
