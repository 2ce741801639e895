// What every refusal carries beside its body, and which of them a person has to act on.
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../shared/errors.ts'
import { handleError } from './errors.ts'

let app: FastifyInstance
let thrown: Error
let levels: number[] = []
beforeAll(async () => {
  const stream = { write: (line: string) => void levels.push(JSON.parse(line).level) }
  app = Fastify({ logger: { level: 'warn', stream } })
  app.setErrorHandler(handleError)
  app.get('/', () => {
    throw thrown
  })
  await app.ready()
})
beforeEach(() => {
  levels = []
})
afterAll(() => app?.close())

const WARN = 40
const ERROR = 50
const away = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' })

test.each<[string, Error, number, string | undefined, number[]]>([
  ['a key that another request holds', new AppError('IDEMPOTENCY_KEY_IN_USE', 'Wait.'), 422, '1', []],
  ['a key that was used with another request', new AppError('IDEMPOTENCY_CHECK_FAILED', 'No.'), 409, undefined, []],
  ['a limit', new AppError('RATE_LIMIT_EXCEEDED', 'Wait.'), 429, '1', []],
  ['what is unavailable', new AppError('SERVICE_UNAVAILABLE', 'Wait.'), 503, '1', [WARN]],
  [
    'what says when it is back',
    new AppError('SERVICE_UNAVAILABLE', 'Wait.', { retryAfterSeconds: 7 }),
    503,
    '7',
    [WARN],
  ],
  ['a server that is away', away, 503, '2', [WARN]],
  ['a bug', new Error('at line 7 of the secret file'), 500, undefined, [ERROR]],
])('%s', async (_what, error, status, retryAfter, logged) => {
  thrown = error
  const answer = await app.inject('/')
  expect([answer.statusCode, answer.headers['retry-after'], levels]).toEqual([status, retryAfter, logged])
  const { code } = answer.json()
  expect(answer.headers['link']).toBe(`</docs/errors#${code.toLowerCase()}>; rel="help"`)
  if (!(error instanceof AppError)) expect(answer.body).not.toContain(error.message)
})
