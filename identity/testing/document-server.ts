// A server on the net that documents of clients are read from, over TLS: with a certificate of the tests, valid for *.test.
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, BlockList } from 'node:net'
import { createOutboundRequest } from '../../shared/outbound/outbound-request.ts'
import { CERTIFICATE, KEY } from '../../shared/testing/certificate.ts'
import type { DocumentAccess } from '../client-documents/fetch-document.ts'

export type Answer = (response: ServerResponse, headers: NodeJS.Dict<string | string[]>) => void

export type DocumentServer = {
  /** The address of a document at this server. */
  urlOf(path: string, host?: string): string
  /** What is answered at a path from now on. */
  serve(path: string, answer: Answer): void
  /** Paths that were requested, the newest last. */
  readonly requested: readonly string[]
  /** Connections that were made, whatever became of them. */
  connections(): number
  /** Reaches this server under every name, and trusts its certificate. */
  readonly access: DocumentAccess
  close(): Promise<void>
}

const TIMES = { connectMs: 5_000, headMs: 5_000, silenceMs: 5_000 }

/** Starts it on a port of its own. */
export async function startDocumentServer(): Promise<DocumentServer> {
  const answers = new Map<string, Answer>()
  const requested: string[] = []
  let connections = 0
  const server: Server = createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    const path = request.url ?? ''
    requested.push(path)
    const answer = answers.get(path)
    if (answer) answer(response, request.headers)
    else response.writeHead(404).end()
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ports = { 'https:': [port], 'http:': [] }
  const networks = new BlockList()
  networks.addSubnet('127.0.0.0', 8)
  const request = createOutboundRequest({ ports, hosts: new Set(), networks }, TIMES, {
    ca: CERTIFICATE,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  return {
    urlOf: (path, host = 'app.test') => `https://${host}:${port}${path}`,
    serve: (path, answer) => void answers.set(path, answer),
    requested,
    connections: () => connections,
    access: { request, policy: { ports, hosts: new Set() } },
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** Answers with a document. */
export const json =
  (document: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  response =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))
