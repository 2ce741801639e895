import type { Session } from 'chdb'
import { expect, test } from 'vitest'
import type { Query } from './request.ts'
import { createSessions } from './sessions.ts'

const question = (changed: Partial<Query> = {}): Query => ({
  sql: 'SELECT {a:String}',
  data: Buffer.alloc(0),
  database: 'shop',
  format: 'JSON',
  settings: new Map([['max_threads', '1']]),
  parameters: new Map([['a', 'one']]),
  queryId: null,
  readOnly: false,
  gzipAnswer: false,
  ...changed,
})

function opening() {
  const closed: number[] = []
  let opened = 0
  const sessions = createSessions(() => {
    const number = opened
    opened += 1
    return { close: () => closed.push(number) } as unknown as Session
  })
  return { sessions, closed, opened: () => opened }
}

test('a question uses the session of one that was alike, whatever its bound values, once that has ended', () => {
  const { sessions, closed, opened } = opening()
  const first = sessions.lease(question())
  const meanwhile = sessions.lease(question())
  expect([first.isSet, meanwhile.isSet, opened()]).toEqual([false, false, 2])
  first.release(true)
  const next = sessions.lease(question({ sql: '\n select 2', parameters: new Map([['a', 'two']]) }))
  expect([next.session, next.isSet, opened()]).toEqual([first.session, true, 2])
  next.release(false)
  meanwhile.release(true)
  expect(closed).toEqual([0])
  sessions.close()
  expect(closed).toEqual([0, 1])
})

test.each([
  ['another database', { database: 'other' }],
  ['none', { database: null }],
  ['another setting', { settings: new Map([['max_threads', '2']]) }],
  ['no setting', { settings: new Map() }],
  ['other names of parameters', { parameters: new Map([['b', 'one']]) }],
  ['no parameter', { parameters: new Map() }],
])('a question of %s has a session of its own', (_what, changed) => {
  const { sessions } = opening()
  sessions.lease(question()).release(true)
  expect(sessions.lease(question(changed)).isSet).toBe(false)
})

test.each([
  ['several statements', { sql: 'SELECT 1; SET max_threads = 7' }],
  ['what changes something', { sql: 'INSERT INTO t SELECT 1' }],
  ['a setting', { sql: 'SET max_threads = 7' }],
  ['a temporary table', { sql: 'CREATE TEMPORARY TABLE t (a Int8)' }],
  ['data', { data: Buffer.from('1') }],
  ['what may change nothing', { readOnly: true }],
])('the session of %s is not used again', (_what, changed) => {
  const { sessions, closed } = opening()
  sessions.lease(question(changed)).release(true)
  expect(closed).toEqual([0])
})

test('no more than sixteen wait, and none is used more than a thousand times', () => {
  const { sessions, closed, opened } = opening()
  const leases = Array.from({ length: 20 }, () => sessions.lease(question()))
  for (const lease of leases) lease.release(true)
  expect(closed).toEqual([0, 1, 2, 3])
  // The one that was used last is used next.
  for (let use = 1; use < 1_000; use += 1) sessions.lease(question()).release(true)
  expect([closed, opened()]).toEqual([[0, 1, 2, 3, 19], 20])
})
