// Two identity hosts that share one database, and everything that may meet itself there (security 1.5, atomicity; section 8,
// row 5): what happens once at one host happens once at all.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRateLimit, createRateLimits } from './http/rate-limits.ts'
import type { IdentityRig } from './testing/identity-rig.ts'
import { callToken, codeFields, openConsent, postConsent, postForm, registerClient } from './testing/oauth-client.ts'
import { startTwoHosts } from './testing/two-hosts.ts'

/** How often two things race. Each round is some tens of milliseconds. */
const ROUNDS = 15

let rig: IdentityRig
let twin: IdentityRig
const many = createRateLimit(1_000_000, 60)
const limits = { ...createRateLimits(), register: many, authorize: many, token: many, tokenRefused: many }
beforeAll(async () => {
  ;[rig, twin] = await startTwoHosts({ limits })
})
afterAll(() => rig?.close())

const choice = () => `${rig.platforms[0].id}:LIVE`

/** The same call to both hosts, in turns. */
const onBoth = <T>(times: number, call: (host: IdentityRig) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => call(index % 2 === 0 ? rig : twin)))

test('fifty parallel exchanges at two hosts: one code, one answer', async () => {
  for (let round = 0; round < 3; round += 1) {
    const client = await registerClient(rig)
    const code = await client.code([choice()])
    const answers = await onBoth(50, host => callToken(host, client, codeFields(client, code)))
    expect(answers.filter(answer => answer.statusCode === 200)).toHaveLength(1)
    const [grant] = await rig.sql('select revoke_reason from oauth_grants where client_id = $1', [client.clientId])
    expect(grant).toEqual({ revoke_reason: 'CODE_REUSED' })
  }
})

test('fifty parallel refreshes at two hosts: one successor, and both hosts give it out', async () => {
  for (let round = 0; round < 3; round += 1) {
    const client = await registerClient(rig)
    const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
    const answers = await onBoth(50, host => callToken(host, client, { grant_type: 'refresh_token', refresh_token }))
    expect(answers.map(answer => answer.statusCode)).toEqual(answers.map(() => 200))
    expect(new Set(answers.map(answer => answer.json().refresh_token)).size).toBe(1)
  }
})

test('approved at one host and denied at the other at once: one of the two holds', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const client = await registerClient(rig)
    const { browser, form } = await openConsent(rig, client)
    const [approved, denied] = await Promise.all([
      postConsent(rig, browser, { ...form, decision: 'approve', platforms: choice() }),
      postConsent(twin, browser, { ...form, decision: 'deny' }),
    ])
    expect([approved.statusCode, denied.statusCode].toSorted()).toEqual([303, 403])
    const [{ count } = {}] = await rig.sql('select count(*)::int from oauth_grants where client_id = $1', [
      client.clientId,
    ])
    expect(count).toBe(approved.statusCode === 303 ? 1 : 0)
  }
})

test('revoked at one host while refreshed at the other: nothing lives on', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const client = await registerClient(rig)
    const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
    const [, refreshed] = await Promise.all([
      postForm(rig, '/v1/oauth2/revoke', { client_id: client.clientId, token: refresh_token }),
      callToken(twin, client, { grant_type: 'refresh_token', refresh_token }),
    ])
    const left = refreshed.statusCode === 200 ? refreshed.json().refresh_token : refresh_token
    const after = await callToken(twin, client, { grant_type: 'refresh_token', refresh_token: left })
    expect(after.json().error).toBe('invalid_grant')
  }
})

test('approved twice at once, at two hosts: one code', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const client = await registerClient(rig)
    const { browser, form } = await openConsent(rig, client)
    const answers = await onBoth(6, host =>
      postConsent(host, browser, { ...form, decision: 'approve', platforms: choice() }),
    )
    expect(answers.filter(answer => answer.statusCode === 303)).toHaveLength(1)
  }
})

test('twenty refreshes at two hosts while the user ends it: none of what they gave out lives on', async () => {
  for (let round = 0; round < 3; round += 1) {
    const client = await registerClient(rig)
    const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
    const [answers] = await Promise.all([
      onBoth(20, host => callToken(host, client, { grant_type: 'refresh_token', refresh_token })),
      postForm(twin, '/v1/oauth2/revoke', { client_id: client.clientId, token: refresh_token }),
    ])
    for (const answer of answers) {
      const left = answer.statusCode === 200 ? answer.json().refresh_token : refresh_token
      expect((await client.refresh(left)).json().error).toBe('invalid_grant')
    }
  }
})
