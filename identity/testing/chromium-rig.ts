// The identity host on a real port, a real Chromium before it, and somebody else's server that applications live on.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from '../../shared/testing/chromium.ts'
import { type IdentityRig, startIdentity } from './identity-rig.ts'
import { registerClient, type TestClient } from './oauth-client.ts'

export type ChromiumRig = {
  readonly identity: IdentityRig
  /** By name, not by number: passkeys belong to names. */
  readonly identityUrl: string
  readonly elsewhere: Elsewhere
  /** A page in a browser of its own, with no cookies yet. */
  newPage(options?: BrowserContextOptions): Promise<Page>
  /** A registered client whose answers go elsewhere, and the address at which its user's browser starts. */
  newClient(
    name?: string,
  ): Promise<{ readonly client: TestClient; readonly redirectUri: string; readonly start: string }>
  close(): Promise<void>
}

/** A server that is not ours: takes the answers of applications, and frames what it is told to. */
export type Elsewhere = {
  readonly port: number
  /** Addresses that were opened at `/callback`, the newest last. */
  readonly callbacks: readonly URL[]
}

const listen = (server: Server, port = 0): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

/** Starts all three. The identity host's port is taken before its address is built into it. */
export async function startChromiumRig(): Promise<ChromiumRig> {
  const holder = createServer()
  const port = await listen(holder)
  await new Promise(resolve => holder.close(resolve))
  const identityUrl = `http://localhost:${port}`
  const identity = await startIdentity({ identityUrl })
  await identity.app.listen({ port, host: '127.0.0.1' })
  const callbacks: URL[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://elsewhere')
    if (url.pathname === '/callback') callbacks.push(url)
    const framed = url.searchParams.get('frame')
    response.setHeader('content-type', 'text/html')
    response.end(framed === null ? '<h1>Back in the application</h1>' : `<iframe src="${framed}"></iframe>`)
  })
  const elsewhere = { port: await listen(server), callbacks }
  const chromium: Browser = await launchChromium()
  return {
    identity,
    identityUrl,
    elsewhere,
    newPage: async options => {
      const context = await chromium.newContext({ baseURL: identityUrl, ...options })
      context.setDefaultTimeout(15_000)
      return await context.newPage()
    },
    newClient: async (name = 'Test client') => {
      const redirectUri = `http://127.0.0.1:${elsewhere.port}/callback`
      const client = await registerClient(identity, { client_name: name, redirect_uris: [redirectUri] })
      return { client, redirectUri, start: client.authorizePath({ redirect_uri: redirectUri }) }
    },
    close: async () => {
      await chromium.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      identity.app.server.closeAllConnections()
      await identity.close()
    },
  }
}

/** Fills the sign-in form of the page and sends it. */
export async function signInOn(page: Page, user: { readonly email: string; readonly password: string }): Promise<void> {
  await page.getByLabel('E-mail').fill(user.email)
  await page.getByLabel('Password').fill(user.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
