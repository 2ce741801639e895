// What operators ask of a process, on a port of its own: is it alive, is it ready and if not why, what does it measure.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'

export type HealthServerOptions = {
  readonly port: number
  /** Loopback unless operators say otherwise: metrics and reasons are for them alone. */
  readonly host: string
  readonly registry: Registry
  /** Null when ready, otherwise why not. */
  readonly ready: () => Promise<string | null>
}
export type HealthServer = { readonly port: number; close(): Promise<void> }

/** Serves /health/live, /health/ready (503 with the reason when not ready) and /metrics. Port 0 takes a free one. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(options, request.url ?? '/', response).catch((error: unknown) => {
      send(response, 500, 'text/plain', error instanceof Error ? error.message : 'unknown error')
    })
  })
  await listen(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()))
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, { port, host }: HealthServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function answer({ ready, registry }: HealthServerOptions, url: string, response: ServerResponse): Promise<void> {
  switch (url.split('?')[0]) {
    case '/health/live':
      return sendJson(response, 200, { status: 'live' })
    case '/health/ready': {
      const reason = await ready()
      return reason === null
        ? sendJson(response, 200, { status: 'ready' })
        : sendJson(response, 503, { status: 'not_ready', reason })
    }
    case '/metrics':
      return send(response, 200, registry.contentType, await registry.metrics())
    default:
      return sendJson(response, 404, { status: 'not_found' })
  }
}

const sendJson = (response: ServerResponse, status: number, body: object): void =>
  send(response, status, 'application/json', JSON.stringify(body))

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  if (response.headersSent) return
  response.writeHead(status, { 'content-type': contentType })
  response.end(body)
}
