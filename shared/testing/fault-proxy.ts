// An HTTP server in front of another that answers late, refuses, or loses answers, as a test says for each request.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `cut`: the request is carried out, and its answer is lost. `refuse`: it is not carried out. */
export type Fault = 'none' | 'refuse' | 'cut' | { readonly delayMs: number } | { readonly until: Promise<unknown> }

export type FaultProxy = {
  /** As the other's, credentials included. */
  readonly url: string
  /** What happened so far. */
  readonly counts: { passed: number; refused: number; cut: number; delayed: number }
  close(): Promise<void>
}

/** `faultOf` is called for every request, with its address. */
export async function startFaultProxy(target: string, faultOf: (path: string) => Fault): Promise<FaultProxy> {
  const to = new URL(target)
  const counts = { passed: 0, refused: 0, cut: 0, delayed: 0 }
  const server = createServer((incoming, response) => {
    const fault = faultOf(incoming.url ?? '/')
    if (fault === 'refuse') {
      counts.refused += 1
      incoming.resume()
      response.writeHead(500, { 'content-type': 'text/plain', connection: 'close' })
      response.end('Code: 241. DB::Exception: refused by a test. (MEMORY_LIMIT_EXCEEDED)')
      return
    }
    if (fault === 'cut') counts.cut += 1
    else if (fault === 'none') counts.passed += 1
    else counts.delayed += 1
    const pass = () => forward(to, incoming, response, fault === 'cut')
    if (typeof fault === 'object' && 'until' in fault) void fault.until.then(pass)
    else setTimeout(pass, typeof fault === 'object' ? fault.delayMs : 0)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    counts,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function forward(to: URL, incoming: IncomingMessage, response: ServerResponse, cut: boolean): void {
  const { method, headers, url } = incoming
  const outgoing = request({ host: to.hostname, port: to.port, path: url, method, headers }, answer => {
    if (!cut) {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
      return
    }
    answer.resume()
    answer.once('end', () => response.destroy())
  })
  outgoing.once('error', () => response.destroy())
  incoming.pipe(outgoing)
}
