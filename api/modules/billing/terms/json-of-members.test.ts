import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonOfMembers } from './json-of-members.ts'

test('it is the text of JSON.stringify, also of members that were put into text before', () => {
  const shared = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.string())
  fc.assert(
    fc.property(fc.dictionary(fc.string(), shared), fc.object(), (one, other) => {
      for (const each of [one, { ...other, ...one }, one]) expect(jsonOfMembers(each)).toBe(JSON.stringify(each))
    }),
  )
})
