// A client as the outside writes them: registers, sends its user's browser, redeems, refreshes.
import { hash, randomBytes } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import { type Browser, openBrowser } from './browser.ts'
import type { IdentityRig } from './identity-rig.ts'

export const REDIRECT_URI = 'http://127.0.0.1:33418/callback'

export type TestClient = {
  readonly clientId: string
  readonly verifier: string
  /** Where a browser goes to ask: path and query at the identity host. */
  authorizePath(more?: Record<string, string>): string
  /** Opens an authorization request in a browser; the page or redirect it got. */
  authorize(browser: Browser, more?: Record<string, string>): Promise<LightMyRequestResponse>
  /** The whole way to a code: sign in, consent to `choices`. */
  code(
    choices: readonly string[],
    more?: Record<string, string>,
    user?: { readonly email: string; readonly password: string },
  ): Promise<string>
  redeem(code: string, more?: Record<string, string>): Promise<LightMyRequestResponse>
  refresh(token: string, more?: Record<string, string>): Promise<LightMyRequestResponse>
}

/** POSTs a form to a token endpoint. */
export const postForm = (
  rig: IdentityRig,
  url: string,
  fields: Record<string, string>,
): Promise<LightMyRequestResponse> =>
  rig.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  })

/** A call of the token endpoint by this client, as it is. */
export const callToken = (host: IdentityRig, client: TestClient, fields: Record<string, string>) =>
  postForm(host, '/v1/oauth2/token', { client_id: client.clientId, ...fields })

/** What redeems a code of this client's. */
export const codeFields = (client: TestClient, code: string) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: client.verifier,
  redirect_uri: REDIRECT_URI,
})

/** Registers a client. */
export async function registerClient(
  rig: IdentityRig,
  metadata: Record<string, unknown> = { client_name: 'Test client', redirect_uris: [REDIRECT_URI] },
): Promise<TestClient> {
  const answer = await rig.app.inject({ method: 'POST', url: '/v1/oauth2/register', payload: metadata })
  if (answer.statusCode !== 201) throw new Error(`registration: ${answer.statusCode} ${answer.body}`)
  return clientOf(rig, answer.json().client_id)
}

/** The client of this id, as it behaves. */
export function clientOf(rig: IdentityRig, clientId: string): TestClient {
  const verifier = randomBytes(32).toString('base64url')
  const authorizePath = (more: Record<string, string> = {}): string => {
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
      scope: 'service:read service:write',
      state: 'state-1',
      ...more,
    })
    return `/v1/oauth2/authorize?${query}`
  }
  const authorize: TestClient['authorize'] = (browser, more) => browser.get(authorizePath(more))
  const token = (fields: Record<string, string>) =>
    postForm(rig, '/v1/oauth2/token', { client_id: clientId, ...fields })
  return {
    clientId,
    verifier,
    authorizePath,
    authorize,
    code: async (choices, more, user) => {
      const browser = openBrowser(rig.app)
      await consentPage(rig, browser, await authorize(browser, more), user)
      const redirect = await browser.submit('/consent', { decision: 'approve' }, { platforms: choices })
      const code = new URL(String(redirect.headers.location)).searchParams.get('code')
      if (code === null) throw new Error(`no code: ${redirect.statusCode} ${redirect.headers.location}`)
      return code
    },
    redeem: (code, more = {}) =>
      token({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT_URI, ...more }),
    refresh: (refreshToken, more = {}) => token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...more }),
  }
}

/** Follows an authorization to its consent screen, signing in on the way. */
export async function consentPage(
  rig: IdentityRig,
  browser: Browser,
  authorized: LightMyRequestResponse,
  user: { readonly email: string; readonly password: string } = rig.user,
): Promise<LightMyRequestResponse> {
  let answer = await browser.get(String(authorized.headers.location))
  if (answer.statusCode === 303) {
    await browser.get(String(answer.headers.location))
    const signedIn = await browser.submit('/sign-in', user)
    answer = await browser.get(String(signedIn.headers.location))
  }
  return answer
}

/** A new request of a client with its consent page open in a browser of the user, and the hidden fields of its form. */
export async function openConsent(
  rig: IdentityRig,
  client: TestClient,
): Promise<{ readonly browser: Browser; readonly form: Readonly<Record<string, string>> }> {
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await client.authorize(browser))
  const fields = page.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  return { browser, form: Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value])) }
}

/** A consent form as anybody may send it: these fields to this host, with the cookies of a browser and these headers. */
export const postConsent = (
  rig: IdentityRig,
  browser: Browser,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = { 'sec-fetch-site': 'same-origin' },
): Promise<LightMyRequestResponse> =>
  rig.app.inject({
    method: 'POST',
    url: '/consent',
    headers: {
      cookie: [...browser.cookies].map(pair => pair.join('=')).join('; '),
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    payload: new URLSearchParams(form).toString(),
  })
