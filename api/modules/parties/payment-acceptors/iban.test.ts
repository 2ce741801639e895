import { expect, test } from 'vitest'
import { compactIban, isIban } from './iban.ts'

test.each([
  ['NL91 ABNA 0417 1643 00', true],
  ['de89 3704 0044 0532 0130 00', true],
  ['GB29NWBK60161331926819', true],
  ['MT84MALT011000012345MTLCAST001S', true],
  ['NL91ABNA0417164301', false],
  ['NL19ABNA0417164300', false],
  ['NL91', false],
  ['91NLABNA0417164300', false],
  ['', false],
])('%s: %s', (text, valid) => {
  expect(isIban(compactIban(text))).toBe(valid)
})
