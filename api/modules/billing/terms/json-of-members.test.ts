import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOfMembers, jsonOfMembers } from './json-of-members.ts'

test('gives the text of JSON.stringify, also for members serialized before', () => {
  const shared = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.string())
  fc.assert(
    fc.property(fc.dictionary(fc.string(), shared), fc.object(), (one, other) => {
      for (const each of [one, { ...other, ...one }, one]) expect(jsonOfMembers(each)).toBe(JSON.stringify(each))
    }),
  )
})

test('the hash is the same exactly when the text is, short or long', () => {
  const long = fc.string({ minLength: 3_990, maxLength: 4_010 }).map(text => [text])
  const member = fc.oneof(fc.jsonValue(), fc.constant(undefined), long)
  const of = fc.dictionary(fc.constantFrom('a', 'b', 'c'), member, { maxKeys: 3 })
  fc.assert(
    fc.property(of, of, fc.boolean(), (one, another, isCopy) => {
      const other = isCopy ? structuredClone(one) : another
      expect(hashOfMembers(one) === hashOfMembers(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
    }),
  )
})

test('a long member cannot stand for its own hash', () => {
  const long = ['x'.repeat(5_000)]
  const hashed = createHash('sha256').update(JSON.stringify(long)).digest('hex')
  expect(hashOfMembers({ a: long })).not.toBe(hashOfMembers({ a: hashed }))
})
