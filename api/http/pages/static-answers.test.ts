import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { staticAnswers } from './static-answers.ts'

test('an answer is made once, at its first request, and compressed once for each encoding', async () => {
  const app = Fastify()
  const sent: unknown[] = []
  let made = 0
  app.addHook('onSend', async (_request, _reply, payload) => void sent.push(payload))
  staticAnswers(app, ['/page'], () => {
    made += 1
    return { '/page': { type: 'text/plain', body: 'x'.repeat(10_000) } }
  })
  await app.ready()
  expect(made).toBe(0)
  for (const taken of ['br', 'gzip', 'identity']) {
    for (const _again of [1, 2, 3])
      await app.inject({ method: 'GET', url: '/page', headers: { 'accept-encoding': taken } })
  }
  expect(made).toBe(1)
  expect(sent).toHaveLength(9)
  expect(new Set(sent).size).toBe(3)
  await app.close()
})
