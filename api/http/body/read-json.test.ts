import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from './read-json.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('a body of JSON', () => {
  test('without a key given twice is read as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = JSON.stringify(value)
        if (!/__proto__|constructor/.test(text)) expect(readJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })
  test('of 64 levels is read, and deeper is refused: what walks through it would run out of stack', () => {
    expect(readJson(nested(64))).toEqual(JSON.parse(nested(64)))
    expect(readJson(`{"a":"${'['.repeat(5_000)}\\"${'{'.repeat(5_000)}"}`)).toHaveProperty('a')
    for (const text of [nested(65), nested(400_000), `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, '['.repeat(65)])
      expect(() => readJson(text)).toThrow('The body nests deeper than 64 levels.')
  })
  test.each([
    ['{"a":1,"\\u0061":2}', 'A key is given twice'],
    ['{"__proto__":1}', '__proto__ is not accepted'],
    ['{"a":{"constructor":{"prototype":1}}}', 'constructor is not accepted'],
    ['{"a":', 'not valid JSON'],
    [']]]]', 'not valid JSON'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => readJson(text)).toThrow(message)
  })
})
