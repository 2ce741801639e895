import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { httpManners } from '../manners.ts'
import { sendInParts } from './send-in-parts.ts'

const LARGE = Array.from({ length: 50_000 }, (_, place) => `${place === 0 ? '[' : ','}"é ${place}"`).concat(']')
const MIDDLE = [...LARGE.slice(0, 10_000), ']']
const SMALL = ['["', 'é', '"]']

const app = Fastify()
beforeAll(async () => {
  await httpManners(app)
  app.post('/large', (_request, reply) => sendInParts(reply.status(200), LARGE))
  app.post('/middle', (_request, reply) => sendInParts(reply.status(200), MIDDLE))
  app.post('/small', (_request, reply) => sendInParts(reply.status(200), SMALL))
})
afterAll(() => app.close())

const answerOf = (url: string, encoding: string) =>
  app.inject({ method: 'POST', url, headers: { 'accept-encoding': encoding } })

test.each([
  ['/large', LARGE],
  ['/small', SMALL],
])('%s is sent whole, with its length', async (url, pieces) => {
  const answer = await answerOf(url, 'identity')
  expect(answer.body === pieces.join('')).toBe(true)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(pieces.join(''))))
})

test('what is not large is compressed at once, so that its length is known', async () => {
  const { headers, rawPayload } = await answerOf('/middle', 'gzip')
  expect([headers['content-encoding'], headers['content-length']]).toEqual(['gzip', String(rawPayload.length)])
  expect(gunzipSync(rawPayload).toString() === MIDDLE.join('')).toBe(true)
})

test('what is large is compressed for who takes that', async () => {
  const { headers, rawPayload } = await answerOf('/large', 'gzip, br')
  expect([headers['content-encoding'], headers['content-length']]).toEqual(['gzip', undefined])
  expect(gunzipSync(rawPayload).toString() === LARGE.join('')).toBe(true)
})
