import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonOfMembers } from './json-of-members.ts'

test('gives the text of JSON.stringify, also for members serialized before', () => {
  const shared = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.string())
  fc.assert(
    fc.property(fc.dictionary(fc.string(), shared), fc.object(), (one, other) => {
      for (const each of [one, { ...other, ...one }, one]) expect(jsonOfMembers(each)).toBe(JSON.stringify(each))
    }),
  )
})
