import { expect, test } from 'vitest'
import { passwordFault } from './rules.ts'

const ada = { username: 'ada.lovelace@example.com', secondFactor: false }

test.each([
  'correct horse battery staple',
  'blauwe fiets in de regen',
  '雨の日の青い自転車に乗って行く',
  'o8#Vq!2mZr$Lw9x',
])('%s is taken, whatever characters it has or has not', password => {
  expect(passwordFault(password, ada)).toBe(null)
})

test.each([
  ['one too few', 'o8#Vq!2mZr$Lw9'],
  ['characters, not bytes, are counted', 'é'.repeat(14)],
  ['nor halves of a character', '🚲'.repeat(14)],
])('too short: %s', (_name, password) => {
  expect(passwordFault(password, ada)).toMatch(/^Use at least 15 characters/)
})

test.each([
  'passwordpassword',
  'aaaaaaaaaaaaaaaaaaaaaaaa',
  '123456789012345678',
  'qwertyuiopasdfgh',
  'iloveyouiloveyou',
  'p@ssw0rdp@ssw0rd',
  'ada.lovelace@example.com',
  'lovelacelovelace',
  'Millrace2026!!!!',
  `${'a'.repeat(250)}xyz`,
])('easy to guess: %s', password => {
  expect(passwordFault(password, ada)).toMatch(/^This one is easy to guess/)
})

test('with a second factor eight are enough, and the common ones are refused all the same', () => {
  const careful = { ...ada, secondFactor: true }
  expect(passwordFault('xk9#mQ2p', careful)).toBe(null)
  expect(passwordFault('xk9#mQ2p', ada)).not.toBe(null)
  expect(passwordFault('xk9#mQ2', careful)).toMatch(/^Use at least 8 characters/)
  expect(passwordFault('iloveyou', careful)).toMatch(/^This one is easy to guess/)
})

test('256 bytes are taken and 257 are not, never cut', () => {
  const long = Array.from({ length: 256 }, (_, index) => String.fromCharCode(33 + ((index * 37) % 90))).join('')
  expect(passwordFault(long, ada)).toBe(null)
  expect(passwordFault(`${long}x`, ada)).toBe('Use at most 256 bytes.')
})
