// Codes and tokens as clients use them, lose them and have them stolen, and the keys that sign them (contract: Identity host; security
// 1.2 and section 8, rows 1 to 11).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPayloads } from '../api/testing/event-payloads.ts'
import { createPlatform, createUser } from '../shared/access/create-platform.ts'
import { openBrowser } from './testing/browser.ts'
import type { IdentityRig } from './testing/identity-rig.ts'
import { consentPage, postForm, registerClient } from './testing/oauth-client.ts'
import { firstChoice, paramsOf, startOAuthIdentity } from './testing/oauth-rig.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startOAuthIdentity()
})
afterAll(() => rig?.close())

const choice = () => firstChoice(rig)

test('a code redeems once under fifty parallel exchanges, and the replay ends the grant', async () => {
  const client = await registerClient(rig)
  const code = await client.code([choice()])
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.redeem(code)))
  expect(answers.filter(answer => answer.statusCode === 200)).toHaveLength(1)
  expect(new Set(answers.filter(answer => answer.statusCode !== 200).map(answer => answer.json().error))).toEqual(
    new Set(['invalid_grant']),
  )
  const won = answers.find(answer => answer.statusCode === 200)?.json()
  expect((await client.refresh(won.refresh_token)).json().error).toBe('invalid_grant')
})

test('a code is bound to its client, its address and its verifier, and lives 60 seconds', async () => {
  const [client, thief] = [await registerClient(rig), await registerClient(rig)]
  const code = await client.code([choice()])
  const errors = [
    await thief.redeem(code, { code_verifier: client.verifier }),
    await client.redeem(code, { redirect_uri: 'http://127.0.0.1:1/callback' }),
    await client.redeem(code, { code_verifier: 'a'.repeat(43) }),
    await client.redeem(code, { code_verifier: 'a'.repeat(42) }),
  ].map(answer => answer.json().error)
  expect(new Set(errors)).toEqual(new Set(['invalid_grant']))
  expect((await client.redeem(code)).statusCode).toBe(200)
  const guessed = await client.code([choice()])
  for (let guess = 0; guess < 3; guess += 1) await client.redeem(guessed, { code_verifier: 'b'.repeat(43) })
  expect((await client.redeem(guessed)).json().error).toBe('invalid_grant')
  const slow = await client.code([choice()])
  await rig.advance(61)
  expect((await client.redeem(slow)).json().error).toBe('invalid_grant')
})

test('fifty parallel refreshes give one successor; a stolen token found later ends the family', async () => {
  const client = await registerClient(rig)
  const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.refresh(refresh_token)))
  const successors = new Set(answers.map(answer => answer.json().refresh_token))
  expect([...successors]).toHaveLength(1)
  const [successor = ''] = [...successors]
  const next = (await client.refresh(successor)).json().refresh_token
  expect((await client.refresh(refresh_token)).json().error).toBe('invalid_grant')
  expect((await client.refresh(next)).json().error).toBe('invalid_grant')
  const [grant] = await rig.sql('select id, revoke_reason from oauth_grants where client_id = $1', [client.clientId])
  expect(grant).toMatchObject({ revoke_reason: 'REFRESH_TOKEN_REUSED' })
  const notices = await rig.sql(
    `select type, platform_id, environment from outbox where data->>'client_id' = $1 order by seq`,
    [client.clientId],
  )
  expect(notices).toEqual(
    ['OAUTH_GRANT.CREATED', 'OAUTH_GRANT.REVOKED'].map(type => ({
      type,
      platform_id: rig.platforms[0].id,
      environment: 'LIVE',
    })),
  )
  await expectPayloads(rig, grant?.['id'], ['OAUTH_GRANT.CREATED', 'OAUTH_GRANT.REVOKED'])
})

test('a lost answer is given again for a minute and then is theft', async () => {
  const client = await registerClient(rig)
  const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
  const first = (await client.refresh(refresh_token)).json().refresh_token
  await rig.advance(55)
  expect((await client.refresh(refresh_token)).json().refresh_token).toBe(first)
  await rig.advance(10)
  expect((await client.refresh(refresh_token)).json().error).toBe('invalid_grant')
  expect((await client.refresh(first)).json().error).toBe('invalid_grant')
})

test('a refresh cannot outlive a revocation, however the two meet', async () => {
  for (let round = 0; round < 20; round += 1) {
    const client = await registerClient(rig)
    const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
    const revoke = postForm(rig, '/v1/oauth2/revoke', { client_id: client.clientId, token: refresh_token })
    const [revoked, refreshed] = await Promise.all([revoke, client.refresh(refresh_token)])
    expect(revoked.statusCode).toBe(200)
    const left = refreshed.statusCode === 200 ? refreshed.json().refresh_token : refresh_token
    expect((await client.refresh(left)).json().error).toBe('invalid_grant')
  }
})

test('a refresh follows the user: lost platforms fall away, the last one ends the grant', async () => {
  const platform = await createPlatform(rig.databaseUrl, 'Followed')
  const user = await createUser(rig.databaseUrl, 'grace@example.com', [platform.id])
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  await consentPage(rig, browser, await client.authorize(browser), user)
  const platforms = ['LIVE', 'TEST'].map(environment => `${platform.id}:${environment}`)
  const redirect = await browser.submit('/consent', { decision: 'approve' }, { platforms })
  const first = (await client.redeem(paramsOf(redirect.headers.location).get('code') ?? '')).json()
  await rig.sql(`delete from user_memberships where platform_id = $1 and environment = 'LIVE'`, [platform.id])
  const second = (await client.refresh(first.refresh_token)).json()
  const claims = JSON.parse(Buffer.from(second.access_token.split('.')[1], 'base64url').toString())
  expect(claims.platforms).toEqual([{ id: platform.id, environment: 'TEST' }])
  await rig.sql('delete from user_memberships where platform_id = $1', [platform.id])
  expect((await client.refresh(second.refresh_token)).json().error).toBe('invalid_grant')
  const [grant] = await rig.sql('select revoke_reason from oauth_grants where client_id = $1', [client.clientId])
  expect(grant).toEqual({ revoke_reason: 'NO_PLATFORM_LEFT' })
})

test('revocation: either token ends the grant, only for its own client, and an unknown one is no fault', async () => {
  const [client, other] = [await registerClient(rig), await registerClient(rig)]
  const tokens = (await client.redeem(await client.code([choice()]))).json()
  const revoke = (clientId: string, token: string) => postForm(rig, '/v1/oauth2/revoke', { client_id: clientId, token })
  for (const token of ['unknown', tokens.access_token, tokens.refresh_token])
    expect((await revoke(other.clientId, token)).statusCode).toBe(200)
  const next = (await client.refresh(tokens.refresh_token)).json()
  expect(next.refresh_token).toBeDefined()
  const [head, , signature] = next.access_token.split('.')
  const gid = JSON.parse(Buffer.from(next.access_token.split('.')[1], 'base64url').toString()).gid
  const forged = [head, Buffer.from(JSON.stringify({ gid })).toString('base64url'), signature].join('.')
  await revoke(client.clientId, forged)
  const after = (await client.refresh(next.refresh_token)).json()
  expect(after.refresh_token).toBeDefined()
  expect((await revoke(client.clientId, after.access_token)).statusCode).toBe(200)
  expect((await client.refresh(after.refresh_token)).json().error).toBe('invalid_grant')
})

test('the token endpoint names each fault as its specification does', async () => {
  const client = await registerClient(rig)
  const call = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await rig.app.inject({
      method: 'POST',
      url: '/v1/oauth2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(fields).toString(),
    })
    return [answer.statusCode, answer.json().error]
  }
  const id = { client_id: client.clientId }
  expect(await call({})).toEqual([400, 'invalid_request'])
  expect(await call({ client_id: 'clnt_unknown', grant_type: 'refresh_token' })).toEqual([401, 'invalid_client'])
  expect(await call(id, { authorization: 'Basic eDp5' })).toEqual([401, 'invalid_client'])
  expect(await call({ ...id, grant_type: 'password' })).toEqual([400, 'unsupported_grant_type'])
  expect(await call({ ...id, grant_type: 'authorization_code' })).toEqual([400, 'invalid_request'])
  const refreshCall = { ...id, grant_type: 'refresh_token', refresh_token: 'x' }
  expect(await call(refreshCall)).toEqual([400, 'invalid_grant'])
  expect(await call({ ...refreshCall, resource: 'https://evil.example' })).toEqual([400, 'invalid_target'])
  const json = await rig.app.inject({ method: 'POST', url: '/v1/oauth2/token', payload: id })
  expect(json.statusCode).toBe(415)
})

test('a new signing key is published before it signs, and the old one stays until nothing signed with it lives', async () => {
  const kids = async () =>
    (await rig.app.inject('/.well-known/jwks.json')).json().keys.map((key: { kid: string }) => key.kid)
  const [old] = await kids()
  await rig.advance(91 * 86_400)
  await Promise.all([rig.keystore.rotate(), rig.keystore.rotate()])
  expect(await kids()).toHaveLength(2)
  expect((await rig.keystore.signingKey()).kid).toBe(old)
  await rig.advance(601)
  const signing = (await rig.keystore.signingKey()).kid
  expect(signing).not.toBe(old)
  await rig.keystore.rotate()
  expect(await kids()).toContain(old)
  await rig.advance(86_400)
  await rig.keystore.rotate()
  expect(await kids()).toEqual([signing])
})
