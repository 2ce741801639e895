// A TCP proxy in front of a server that a test takes away and brings back, as if it died, or makes hang, as if it were stopped in
// place.
import { connect, createServer, type Server, type Socket } from 'node:net'

export type ServerProxy = {
  /** As the server's, through the proxy. It stays the same when the server comes back. */
  readonly url: string
  /** Breaks every connection, and refuses new ones. */
  takeAway(): Promise<void>
  /** Keeps every connection, takes new ones, and passes nothing on. */
  hang(): void
  /** After either: new connections reach the server again; those that hung are broken. */
  bringBack(): Promise<void>
}

/** Passes connections on to the server at `serverUrl` until it is taken away or hangs. */
export async function startServerProxy(serverUrl: string): Promise<ServerProxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let hangs = false
  const watch = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', data => {
      if (!hangs) to.write(data)
    })
    from.on('close', () => to.destroy())
  }
  const listenAt = async (at: number): Promise<Server> => {
    const server = createServer(client => {
      watch(client)
      // Read and thrown away.
      if (hangs) return void client.resume()
      const upstream = connect(Number(target.port), target.hostname)
      watch(upstream)
      pass(client, upstream)
      pass(upstream, client)
    })
    await new Promise<void>(resolve => server.listen(at, '127.0.0.1', resolve))
    return server
  }
  let server: Server | null = await listenAt(0)
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  // PostgreSQL's may name a socket, which would lead past the proxy.
  url.searchParams.delete('host')
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    takeAway: async () => {
      const closed = new Promise(resolve => (server ? server.close(resolve) : resolve(null)))
      server = null
      breakAll()
      await closed
    },
    hang: () => {
      hangs = true
    },
    bringBack: async () => {
      if (hangs) breakAll()
      hangs = false
      server ??= await listenAt(port)
    },
  }
}
