import { expect, test } from 'vitest'
import { REQUEST_ID_LENGTH, RequestId } from './request-id.ts'

test('an id is in the id alphabet, never given twice, and stays what it is when the pool it came from is used up', () => {
  const ids = Array.from({ length: 10_000 }, () => new RequestId())
  const texts = ids.map(String)
  for (const text of texts) expect(text).toMatch(/^reqr_[0-9a-f]{22}$/)
  expect(new Set(texts).size).toBe(texts.length)
  expect(ids.map(String)).toEqual(texts)
})

test('written to the end of bytes, it is the same text, and nothing before it changes', () => {
  const id = new RequestId()
  const bytes = Buffer.from(`head: ${'-'.repeat(REQUEST_ID_LENGTH)}`)
  id.putAtEnd(bytes)
  expect(bytes.toString()).toBe(`head: ${id}`)
})
