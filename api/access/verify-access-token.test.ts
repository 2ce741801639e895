// What is remembered of a token that was verified, and for how long (security 1.2, items 32 and 35).
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTVerifyGetKey, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { createTokenVerifier } from './verify-access-token.ts'

const ISSUER = 'http://identity.example'
const AUDIENCE = 'http://api.example'
const START_MS = Date.UTC(2026, 0, 1)

async function rig() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwks = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] })
  const state = { nowMs: START_MS, verified: 0 }
  const keys: JWTVerifyGetKey = (header, token) => {
    state.verified += 1
    return jwks(header, token)
  }
  const verify = createTokenVerifier({ keys, issuer: ISSUER, audience: AUDIENCE, nowMs: () => state.nowMs })
  const token = (seconds: number, claims: Record<string, unknown> = {}) =>
    new SignJWT({
      iss: ISSUER,
      aud: AUDIENCE,
      sub: 'user_1',
      jti: 'one',
      iat: START_MS / 1_000,
      exp: START_MS / 1_000 + seconds,
      client_id: 'clnt_1',
      scope: 'service:read',
      gid: 'gran_1',
      platforms: [{ id: 'plat_1', environment: 'LIVE' }],
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })
      .sign(privateKey)
  return { state, verify, token }
}

test('a token is verified once a minute, however often it is used', async () => {
  const { state, verify, token } = await rig()
  const mine = await token(600)
  for (let call = 0; call < 5; call += 1) expect(await verify(mine)).toMatchObject({ userId: 'user_1' })
  expect(state.verified).toBe(1)
  state.nowMs += 59_999
  await verify(mine)
  expect(state.verified).toBe(1)
  state.nowMs += 1
  await verify(mine)
  expect(state.verified).toBe(2)
})

test('nothing is remembered past the end of a token, nor of one that was refused', async () => {
  const { state, verify, token } = await rig()
  const short = await token(30)
  expect(await verify(short)).not.toBeNull()
  state.nowMs += 30_000
  expect(await verify(short)).not.toBeNull() // clocks may be five seconds apart
  state.nowMs += 5_000
  expect(await verify(short)).toBeNull()
  const foreign = await token(600, { aud: 'http://other.example' })
  const before = state.verified
  for (let call = 0; call < 3; call += 1) expect(await verify(foreign)).toBeNull()
  expect(state.verified - before).toBe(3)
})

test('tokens that differ in one character are different tokens', async () => {
  const { verify, token } = await rig()
  const mine = await token(600)
  expect(await verify(mine)).not.toBeNull()
  const last = mine.at(-3) === 'A' ? 'B' : 'A'
  expect(await verify(`${mine.slice(0, -3)}${last}${mine.slice(-2)}`)).toBeNull()
})
