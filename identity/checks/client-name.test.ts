// security section 8, row 9, and section 1.2, items 9 and 19.
import { expect, test } from 'vitest'
import { checkClientName, matchKnownClient } from './client-name.ts'

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
  ['Millrace'],
  ['Millrace Support'],
  ['MILLRACE-login'],
  ['MyMillraceHelper'],
  ['Mіllrace'], // Cyrillic і
  ['Ⅿillrace'], // the Roman numeral
  ['rnillrace'],
  ['Mi11race'],
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
  ['Ꮯlaude', 'lookalike'], // Cherokee
  ['ⲥlaude', 'lookalike'], // Coptic
  ['ꓚlaude', 'lookalike'], // Lisu
  ['cʟaude', 'lookalike'], // a small capital
  ['Claudǝ', 'lookalike'], // turned
  ['ᏟhatGРT', 'lookalike'], // Cherokee and Cyrillic
  ['Ϲ1aude', 'lookalike'], // a Greek letter that NFKD takes apart
  ['Clаude Desktop', 'lookalike'], // Cyrillic, among other words
  ['Ꮯlaude Support', 'lookalike'],
  ['Claude Desktop', 'contains'],
  ['Claude AI', 'contains'],
  ['Anthropic Claude', 'contains'],
  ['ClaudeDesktop', 'contains'],
  ['Acme Agent', 'unknown'],
  ['Claudette', 'unknown'],
  ['Zedd', 'unknown'],
  ['Агент Иванова', 'unknown'],
  ['Πράκτορας', 'unknown'],
])('%s is %s', (name, kind) => {
  expect(matchKnownClient(name).kind).toBe(kind)
})
