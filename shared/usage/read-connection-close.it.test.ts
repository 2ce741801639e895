// A ClickHouse that closes its connection with the answer, as it does after its number of questions and when it stops.
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openReadConnection } from './read-connection.ts'

const QUESTION = { sql: 'SELECT 1', params: {}, settings: {} }

test.each([64, 128, 192, 256, 512, 1_024, 4_096])(
  'an answer of %d KiB that ends its connection is whole',
  async kib => {
    const rows = kib * 128
    const server = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${rows * 8}\r\n\r\n`)
        socket.end('["abc"]\n'.repeat(rows))
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const connection = openReadConnection(`http://127.0.0.1:${port}/`, 'd', { connections: 1, timeoutMs: 5_000 })
    try {
      for (let each = 0; each < 3; each += 1) {
        expect(await connection.select(QUESTION, new AbortController().signal)).toHaveLength(rows)
      }
    } finally {
      await connection.close()
      server.close()
    }
  },
)
