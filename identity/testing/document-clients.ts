// Clients whose id is the address of a document, at a server of the tests.
import type { LightMyRequestResponse } from 'fastify'
import { createRateLimit, createRateLimits } from '../http/rate-limits.ts'
import { openBrowser } from './browser.ts'
import { type DocumentServer, json, startDocumentServer } from './document-server.ts'
import { type IdentityRig, startIdentity } from './identity-rig.ts'
import { clientOf, REDIRECT_URI, type TestClient } from './oauth-client.ts'

type Published = {
  readonly path: string
  readonly clientId: string
  readonly document: Readonly<Record<string, unknown>>
  readonly client: TestClient
}

export type DocumentClients = {
  readonly rig: IdentityRig
  readonly server: DocumentServer
  readonly limits: ReturnType<typeof createRateLimits>
  /** A document of its own at a path of its own, and the client that names it. */
  publish(change?: Readonly<Record<string, unknown>>, headers?: Readonly<Record<string, string>>): Published
  authorize(clientId: string, more?: Record<string, string>): Promise<LightMyRequestResponse>
  /** How often a path was read. */
  readingsOf(path: string): number
  /** What is kept of a client. */
  storedOf(clientId: string): ReturnType<IdentityRig['sql']>
  /** The host of the server, as the pages show it. */
  host(): string
  close(): Promise<void>
}

/** Starts the server and an identity host that takes such clients. */
export async function startDocumentClients(): Promise<DocumentClients> {
  const many = createRateLimit(1_000_000, 60)
  const limits = { ...createRateLimits(), authorize: many, token: many, tokenRefused: many, documentRead: many }
  const server = await startDocumentServer()
  const rig = await startIdentity({ limits, clientDocuments: server.access })
  let documents = 0
  return {
    rig,
    server,
    limits,
    publish: (change = {}, headers = {}) => {
      documents += 1
      const path = `/clients/${documents}.json`
      const clientId = server.urlOf(path)
      const document = { client_id: clientId, client_name: 'My agent', redirect_uris: [REDIRECT_URI], ...change }
      server.serve(path, json(document, headers))
      return { path, clientId, document, client: clientOf(rig, clientId) }
    },
    authorize: (clientId, more = {}) => clientOf(rig, clientId).authorize(openBrowser(rig.app), more),
    readingsOf: path => server.requested.filter(each => each === path).length,
    storedOf: clientId => rig.sql('select * from oauth_clients where id = $1', [clientId]),
    host: () => new URL(server.urlOf('/')).host,
    close: async () => {
      await rig.close()
      await server.close()
    },
  }
}
