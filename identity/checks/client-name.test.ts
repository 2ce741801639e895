// security section 8, row 9, and section 1.2, items 9 and 19.
import { expect, test } from 'vitest'
import { checkClientName, recognise } from './client-name.ts'

test.each([
  [undefined, 'Unnamed application'],
  ['Acme Agent', 'Acme Agent'],
  ['Cafe\u0301', 'Caf\u00e9'],
  ['<img onerror=x>', '<img onerror=x>'],
  ['名前', '名前'],
])('%j is shown as %j', (given, shown) => {
  expect(checkClientName(given)).toBe(shown)
})

test.each([
  [''],
  ['   '],
  [7],
  [null],
  [['x']],
  ['a'.repeat(101)],
  ['a\nb'],
  ['a\u202eb'],
  ['a\u200bb'],
  ['a\u00adb'],
  ['\u2066x'],
  ['\ue000'],
  ['a\u0000'],
  ['x'.repeat(10_240)],
])('%j is refused', given => {
  expect(() => checkClientName(given)).toThrow(expect.objectContaining({ error: 'invalid_client_metadata' }))
})

test.each([
  ['Claude', 'known'],
  [' claude code ', 'known'],
  ['CHATGPT', 'known'],
  ['Clаude', 'lookalike'], // Cyrillic а
  ['C1aude', 'lookalike'],
  ['Сlaude', 'lookalike'], // Cyrillic С
  ['Cláude', 'lookalike'],
  ['Claude.', 'lookalike'],
  ['Chat GPT', 'lookalike'],
  ['Acme Agent', 'unknown'],
  ['Claudette', 'unknown'],
])('%s is %s', (name, kind) => {
  expect(recognise(name).kind).toBe(kind)
})
