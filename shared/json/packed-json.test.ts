import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packJson, unpackJson } from './packed-json.ts'

test('gives back the value of every JSON that it packs', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const json = JSON.stringify({ value, text: `${text}é`.repeat(2_000) })
      const packed = packJson(json)
      if (packed === null) throw new Error('it is long enough')
      expect(JSON.stringify(unpackJson(packed))).toBe(JSON.stringify(JSON.parse(json)))
    }),
  )
})

test('packs what is long, into less, and leaves the rest', () => {
  const lines = (count: number) => JSON.stringify(Array.from({ length: count }, (_, line) => ({ line, amount: '10' })))
  expect(packJson(lines(20))).toBeNull()
  expect(packJson(lines(1_000))?.length).toBeLessThan(lines(1_000).length / 2)
})

test('reads what was packed before', () => {
  // As this program wrote it on its first day. Whatever is stored must be read by every later one.
  const json = JSON.stringify({ text: 'millrace '.repeat(300) })
  const packed = 'A0sFAICqqqrq/3QV4MtRbjcBATkIgMhFgA8CICBwABe/UnSKPewA1viEA2MJRWfVmIfEOwIAxA8='
  expect(unpackJson(packed)).toEqual(JSON.parse(json))
})

test('refuses another text', () => {
  expect(() => unpackJson('bWlsbHJhY2U=')).toThrow()
})
