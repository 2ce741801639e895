import Type from 'typebox'
import { expect, test } from 'vitest'
import { inOneGo } from '../../../shared/pausing-work.ts'
import { serializerCompiler } from './serialization.ts'
import { partsWriter } from './write-in-parts.ts'

const Line = Type.Object({ text: Type.String(), note: Type.Optional(Type.Union([Type.String(), Type.Null()])) })
const Page = Type.Object({
  before: Type.Optional(Type.String()),
  lines: Type.Array(Line),
  after: Type.Integer(),
  more: Type.Optional(Type.Array(Line)),
})
const Document = Type.Object({ first: Type.Optional(Page), pages: Type.Array(Page) })
const write = partsWriter(Document, new Set(['first', 'pages', 'lines', 'more']))

const line = { text: 'a "quoted" text,\n{}' }
const page = { lines: [line, { ...line, note: null }], after: 1 }
test.each([
  ['nothing in it', { pages: [] }],
  ['an empty list within', { pages: [{ lines: [], after: 0 }] }],
  ['optional members before, between and after', { pages: [{ before: 'b', ...page, more: [] }, page] }],
  ['one page twice', { first: page, pages: [page, { ...page, after: 2 }, page] }],
  ['members that no schema names', { pages: [{ ...page, other: 1 }], other: 2 }],
])('the text of %s is that of the serializer', (_what, document) => {
  expect(inOneGo(write(document)).join('')).toBe(serializerCompiler({ schema: Document })(document))
})

test.each([
  ['a list that is not there', { pages: [{ after: 1 }] }, '"lines" is required!'],
  ['a member that is not there', { pages: [{ lines: [] }] }, '"after" is required!'],
  ['no list', { pages: 1 }, 'a list is written in parts'],
])('%s is refused', (_what, document, message) => {
  expect(() => inOneGo(write(document))).toThrow(message)
})
