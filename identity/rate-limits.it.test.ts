// The limits by address (security 1.2, item 10).
import { expect, test } from 'vitest'
import { startIdentity } from './testing/identity-rig.ts'
import { postForm, REDIRECT_URI } from './testing/oauth-client.ts'

test('registrations, authorizations and refused token calls are bounded by address', async () => {
  const rig = await startIdentity()
  try {
    const count = async (times: number, call: () => Promise<{ statusCode: number }>) => {
      const statuses = []
      for (let time = 0; time < times; time += 1) statuses.push((await call()).statusCode)
      return statuses.indexOf(429)
    }
    const payload = { redirect_uris: [REDIRECT_URI] }
    expect(await count(21, () => rig.app.inject({ method: 'POST', url: '/v1/oauth2/register', payload }))).toBe(20)
    expect(await count(101, () => rig.app.inject('/v1/oauth2/authorize'))).toBe(100)
    expect(await count(51, () => postForm(rig, '/v1/oauth2/token', { client_id: 'x' }))).toBe(50)
    const refused = await postForm(rig, '/v1/oauth2/token', { client_id: 'x' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  } finally {
    await rig.close()
  }
})

test('behind a proxy that is named the address it tells is counted, and nobody else is believed', async () => {
  const count = async (trustedProxies: readonly string[], forwarded: (index: number) => string) => {
    const rig = await startIdentity({ trustedProxies })
    try {
      const statuses = []
      for (let index = 0; index < 21; index += 1) {
        const headers = { 'x-forwarded-for': forwarded(index) }
        const payload = { redirect_uris: [REDIRECT_URI] }
        statuses.push(
          (await rig.app.inject({ method: 'POST', url: '/v1/oauth2/register', payload, headers })).statusCode,
        )
      }
      return statuses.indexOf(429)
    } finally {
      await rig.close()
    }
  }
  const everyoneElse = (index: number) => `203.0.113.${index}`
  expect(await count([], everyoneElse)).toBe(20)
  expect(await count(['127.0.0.1'], everyoneElse)).toBe(-1)
  // What a caller puts in front of its own address is not the proxy's word.
  expect(await count(['127.0.0.0/8'], index => `198.51.100.${index}, 203.0.113.9`)).toBe(20)
})
