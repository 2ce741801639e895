// docs/errors.md has one section a code, with the status that the code has.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERRORS } from '../../shared/errors.ts'

const page = readFileSync('docs/errors.md', 'utf8')
const sections = [...page.matchAll(/^## ([A-Z_]+)\n\n(\d{3})\. /gm)].map(([, code, status]) => [code, Number(status)])

test('every code has a section with its status, and every section is a code', () => {
  const codes = Object.entries(ERRORS).map(([code, { status }]) => [code, status])
  expect(sections.toSorted()).toEqual(codes.toSorted())
})
