// The smallest question to a PostgreSQL server: whether it would speak TLS. It is answered with one byte, before anyone signs in, also
// by a server that has no connection left to give.
import { once } from 'node:events'
import { connect } from 'node:net'

/** SSLRequest (PostgreSQL's protocol, message formats): its length and the number it is known by. */
const QUESTION = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const PORT = 5432

/** Resolves when the server at `url` answers; rejects when it cannot be reached. The signal ends a question without an answer. */
export async function probePostgres(url: string, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(port === '' ? PORT : Number(port), hostname.replace(/^\[|\]$/g, ''))
  try {
    socket.write(QUESTION)
    await once(socket, 'data', { signal })
  } finally {
    socket.destroy()
  }
}
