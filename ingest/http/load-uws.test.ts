// Which build of uWebSockets.js the gateway takes. A build before 20.41 leaves some requests unanswered, so it must never be taken.
import { expect, test } from 'vitest'
import { loadUws } from './load-uws.ts'

const old = { name: 'old', note: 'before 20.41', load: () => ({ App: () => ({}) }) }
const current = { name: 'current', note: 'since 20.41', load: () => ({ App: () => ({ filter: () => undefined }) }) }
const broken = {
  name: 'broken',
  note: 'for another system',
  load: () => {
    throw new Error("advice\nlibc.so.6: version `GLIBC_9.9' not found")
  },
}

test('an old build is passed over for the next one that loads', () => {
  expect(loadUws([old, broken, current]).name).toBe('current')
})

test('where nothing else loads the refusal says why each build was refused, and what to do', () => {
  expect(() => loadUws([old, broken])).toThrow(
    /old \(before 20\.41\): it is older than 20\.41.*\n.*broken \(for another system\): .*GLIBC_9\.9.*\n.*Debian 12/,
  )
})
