// A call that is not answered in time is refused once, and what it then comes to is neither sent nor logged as a second answer.
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { AppError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/process/logger.ts'
import { createServer } from './create-server.ts'

const ANSWER_MS = 50

test.each<[string, () => unknown, string[]]>([
  ['ends', () => ({ done: true }), []],
  [
    'is refused',
    () => {
      throw new AppError('INVALID_OPERATION', 'No.')
    },
    [],
  ],
  [
    'fails',
    () => {
      throw new Error('a fault')
    },
    ['a call that took too long failed'],
  ],
])('a call that %s after its 503', async (_how, end, expected) => {
  const said: string[] = []
  const stream = { write: (line: string) => void said.push(JSON.parse(line).msg) }
  const app = await createServer(pino({ level: 'warn' }, stream) as unknown as Logger, { answerMs: ANSWER_MS })
  let isOver = false
  app.get('/', { config: { permission: 'public' } }, async () => {
    await sleep(20 * ANSWER_MS)
    isOver = true
    return end()
  })
  const answer = await app.inject('/')
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5'])
  await expect.poll(() => isOver).toBe(true)
  await sleep(50)
  expect(said.filter(line => line !== 'the request failed')).toEqual(expected)
  await app.close()
})

// Events have no Idempotency-Key: their reference is the key.
test.each([
  ['an ingestion', { limitedByEvents: true as const }, 'each counts once'],
  ['another change', {}, 'Idempotency-Key'],
])('%s that takes too long says how it is sent again', async (_what, config, expected) => {
  const quiet = pino({ level: 'silent' }) as unknown as Logger
  const app = await createServer(quiet, { answerMs: ANSWER_MS })
  app.post('/', { config: { permission: 'public', ...config } }, () => sleep(20 * ANSWER_MS))
  const answer = await app.inject({ method: 'POST', url: '/', payload: {} })
  expect([answer.statusCode, answer.json().message]).toEqual([503, expect.stringContaining(expected)])
  await app.close()
})
