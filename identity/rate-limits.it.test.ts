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
