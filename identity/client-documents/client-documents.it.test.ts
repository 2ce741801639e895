// Clients whose id is the address of a document: the way to their tokens, what users are shown of them, and what becomes of them when
// the document changes. How a document is read: reading-documents.it.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runMaintenance } from '../maintenance.ts'
import { openBrowser } from '../testing/browser.ts'
import { type DocumentClients, startDocumentClients } from '../testing/document-clients.ts'
import { type DocumentServer, json } from '../testing/document-server.ts'
import type { IdentityRig } from '../testing/identity-rig.ts'
import { mailsOf } from '../testing/mails.ts'
import { clientOf, consentPage, postForm, REDIRECT_URI } from '../testing/oauth-client.ts'
import { firstChoice } from '../testing/oauth-rig.ts'

let clients: DocumentClients
let rig: IdentityRig
let server: DocumentServer
beforeAll(async () => {
  clients = await startDocumentClients()
  ;({ rig, server } = clients)
})
afterAll(() => clients?.close())

test('a client of a document goes the whole way: consent names its host, tokens name its address, one reading is enough', async () => {
  const { client, clientId, path } = clients.publish()
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await client.authorize(browser))
  for (const text of [
    'My agent',
    'name not verified',
    `<strong class="host">${clients.host()}</strong>`,
    REDIRECT_URI.slice(0, 22),
  ])
    expect(page.body).toContain(text)
  const code = await client.code([firstChoice(rig)])
  const tokens = (await client.redeem(code)).json()
  expect(JSON.parse(Buffer.from(tokens.access_token.split('.')[1], 'base64url').toString()).client_id).toBe(clientId)
  const refreshed = (await client.refresh(tokens.refresh_token)).json()
  expect(refreshed.token_type).toBe('Bearer')
  expect(clients.readingsOf(path)).toBe(1)
  const apps = await openBrowser(rig.app)
  await apps.get('/sign-in')
  await apps.submit('/sign-in', rig.user)
  const list = (await apps.get('/connected-apps')).body
  expect(list).toContain(`My agent of <span class="host">${clients.host()}</span>`)
  expect(list).toContain('Name not verified, address verified')
  const revoked = await postForm(rig, '/v1/oauth2/revoke', { client_id: clientId, token: refreshed.refresh_token })
  expect(revoked.statusCode).toBe(200)
  expect((await client.refresh(refreshed.refresh_token)).json().error).toBe('invalid_grant')
})

test('the metadata says whether it is taken; where it is not, such a client is unknown and nothing is read', async () => {
  const path = '/.well-known/oauth-authorization-server'
  expect((await rig.app.inject(path)).json().client_id_metadata_document_supported).toBe(true)
  const without = await rig.anotherHost({ clientDocuments: null })
  try {
    expect((await without.inject(path)).json().client_id_metadata_document_supported).toBe(false)
    const { client, clientId, path: document } = clients.publish()
    const refused = await without.inject(client.authorizePath())
    expect([refused.statusCode, refused.body.includes('This link does not work')]).toEqual([400, true])
    const token = await without.inject({
      method: 'POST',
      url: '/v1/oauth2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ client_id: clientId, grant_type: 'refresh_token', refresh_token: 'x' }).toString(),
    })
    expect([token.statusCode, token.json().error]).toEqual([401, 'invalid_client'])
    expect(clients.readingsOf(document)).toBe(0)
  } finally {
    await without.close()
  }
})

test('a document that takes its address back, between request, consent and token, ends what was begun', async () => {
  const other = ['https://app.test/elsewhere']
  const viewed = clients.publish()
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await viewed.client.authorize(browser))
  expect(page.statusCode).toBe(200)
  const redeeming = clients.publish()
  const code = await redeeming.client.code([firstChoice(rig)])
  await rig.advance(3_601)
  for (const { path, document } of [viewed, redeeming]) server.serve(path, json({ ...document, redirect_uris: other }))
  // Somebody else's request is what makes us read it again.
  expect((await clients.authorize(viewed.clientId, { redirect_uri: other[0] ?? '' })).statusCode).toBe(303)
  await rig.sql(`update oauth_requests set expires_at = identity_now() + interval '1 minute'`)
  const approved = await browser.submit('/consent', { decision: 'approve' }, { platforms: [firstChoice(rig)] })
  expect(approved.statusCode).toBe(403)
  await rig.sql(`update oauth_codes set expires_at = identity_now() + interval '1 minute'`)
  expect((await redeeming.client.redeem(code)).json().error).toBe('invalid_grant')
})

test('a document that is gone at the token: 401; one that cannot be read holds for a day, and then 503 until it can', async () => {
  const { path, client, document } = clients.publish()
  const { refresh_token: first } = (await client.redeem(await client.code([firstChoice(rig)]))).json()
  await rig.advance(3_601)
  server.serve(path, response => response.writeHead(410).end())
  const gone = await client.refresh(first)
  expect([gone.statusCode, gone.json()]).toEqual([
    401,
    { error: 'invalid_client', error_description: expect.stringContaining('answers 410') },
  ])
  server.serve(path, response => response.writeHead(500).end())
  const { refresh_token: second } = (await client.refresh(first)).json()
  expect(second).toEqual(expect.any(String))
  expect((await client.authorize(openBrowser(rig.app))).statusCode).toBe(503)
  await rig.advance(86_400)
  const away = await client.refresh(second)
  expect([away.statusCode, away.headers['retry-after'], away.json().error]).toEqual([
    503,
    '5',
    'temporarily_unavailable',
  ])
  server.serve(path, json(document))
  expect((await client.refresh(second)).statusCode).toBe(200)
})

test('a client that begins to prove itself by keys is refused from then on', async () => {
  const { path, client, document } = clients.publish()
  const { refresh_token } = (await client.redeem(await client.code([firstChoice(rig)]))).json()
  await rig.advance(3_601)
  server.serve(path, json({ ...document, token_endpoint_auth_method: 'private_key_jwt' }))
  expect((await client.refresh(refresh_token)).json().error).toBe('invalid_client')
})

test('the name is its own choice and the host is not: both are shown, with what each is worth', async () => {
  const pageOf = async (change: Record<string, unknown>, more: Record<string, string> = {}) => {
    const { client } = clients.publish(change)
    const browser = openBrowser(rig.app)
    return (await consentPage(rig, browser, await client.authorize(browser, more))).body
  }
  const known = await pageOf({ client_name: 'Claude' })
  expect(known).toContain(
    `<strong>Claude</strong> (name not verified) of <strong class="host">${clients.host()}</strong>`,
  )
  expect(known).toContain('Anyone can choose that name')
  expect(known).toContain('runs on this computer')
  expect(await pageOf({ client_name: 'Cl\u0430ude' })).toContain('is written to look like Claude')
  const markup = await pageOf({
    client_name: '<img src=x>',
    logo_uri: 'https://evil.test/x.png',
    client_uri: 'https://evil.test/',
  })
  expect(markup).toContain('&lt;img src=x&gt;')
  expect(markup).not.toContain('evil.test')
  const target = 'https://elsewhere.test/callback'
  const elsewhere = await pageOf({ redirect_uris: [target] }, { redirect_uri: target })
  expect(elsewhere).toContain('sends you on to another address than its own: <code>elsewhere.test</code>')
  expect(elsewhere).not.toContain('runs on this computer')
  const unlisted = await clients.authorize(clients.publish().clientId, { redirect_uri: target })
  expect([unlisted.statusCode, unlisted.headers.location]).toEqual([400, undefined])
})

test('a host in other letters is shown in its technical form, with a caution', async () => {
  const clientId = server.urlOf('/idn.json', 'xn--bcher-kva.test')
  server.serve('/idn.json', json({ client_id: clientId, client_name: 'Agent', redirect_uris: [REDIRECT_URI] }))
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await clientOf(rig, clientId).authorize(browser))
  expect(page.body).toContain('<strong class="host">xn--bcher-kva.test')
  expect(page.body).toContain('letters that are not Latin')
})

test('a stolen refresh token of such a client: the mail names its host', async () => {
  const { client } = clients.publish()
  const { refresh_token: stolen } = (await client.redeem(await client.code([firstChoice(rig)]))).json()
  await client.refresh(stolen)
  await rig.advance(61)
  expect((await client.refresh(stolen)).json().error).toBe('invalid_grant')
  const letters = await mailsOf(rig)
  expect(letters.at(-1)?.text).toContain('“My agent (app. test')
})

// The last: it moves the clock by days.
test('documents without a grant are forgotten after a day; those with one stay', async () => {
  const [unused, used] = [clients.publish(), clients.publish()]
  await unused.client.authorize(openBrowser(rig.app))
  await used.client.redeem(await used.client.code([firstChoice(rig)]))
  await rig.advance(86_300)
  await runMaintenance(rig.database, rig.keystore)
  expect([await clients.storedOf(unused.clientId), await clients.storedOf(used.clientId)]).toMatchObject([[{}], [{}]])
  await rig.advance(200)
  await runMaintenance(rig.database, rig.keystore)
  expect([await clients.storedOf(unused.clientId), await clients.storedOf(used.clientId)]).toMatchObject([[], [{}]])
})
