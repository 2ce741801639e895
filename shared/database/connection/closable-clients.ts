// Connections to PostgreSQL that close whether the server answers or not: one that hangs never says that it has read the goodbye, and
// a connection half closed keeps a process that has nothing else to do.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** How long the server may take to answer the goodbye of all connections. */
const GOODBYE_MS = 1_000
const POLL_MS = 10

export type ClosableClients = {
  readonly Client: typeof pg.Client
  /** Cuts every connection; what waits for an answer on one gets an error. */
  cutAll(): void
  /** Waits for the goodbyes, and then cuts what is still open. `ended`: what the pool's own end gives. */
  closeAll(ended: Promise<void>): Promise<void>
}

/** A class of connections for one pool, and what closes them all. */
export function closableClients(): ClosableClients {
  const open = new Set<pg.Client>()
  class Client extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config)
      open.add(this)
      this.once('end', () => open.delete(this))
    }
  }
  /** Whether everything was closed in time. */
  const isClosed = async (ended: Promise<void>): Promise<boolean> => {
    let isEnded = false
    const note = (): void => {
      isEnded = true
    }
    ended.then(note, note)
    const deadline = performance.now() + GOODBYE_MS
    while (!(isEnded && open.size === 0) && performance.now() < deadline) await sleep(POLL_MS)
    return isEnded && open.size === 0
  }
  const cutAll = (): void => {
    for (const client of open) cut(client)
  }
  return {
    Client,
    cutAll,
    closeAll: async ended => {
      if (await isClosed(ended)) return
      cutAll()
      // What waited for an answer hears that there is none, and gives its connection back.
      await isClosed(ended)
    },
  }
}

function cut(client: pg.Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  stream.destroy()
}
