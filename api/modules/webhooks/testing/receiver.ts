// A tenant's endpoint for tests: records what is posted to it, and answers as a test says.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }
/** May answer later, or never. */
type Answering = (response: ServerResponse, received: Received) => void

export type Receiver = {
  readonly port: number
  urlOf(path: string): string
  /** What was posted, newest last. */
  readonly received: Received[]
  /** How it answers from now on; before the first call, 200 at once. */
  answer(answering: Answering): void
  close(): Promise<void>
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  response =>
    void response.writeHead(code, headers).end()

/** Starts a receiver on a port of its own. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let answering: Answering = status(200)
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { url: path = '', headers } = request
      const one = { path, headers, body: Buffer.concat(parts).toString() }
      received.push(one)
      answering(response, one)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    urlOf: path => `http://127.0.0.1:${port}${path}`,
    received,
    answer: next => {
      answering = next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
