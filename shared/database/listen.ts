// Hears what other processes changed, as soon as they committed it.
import type pg from 'pg'
import type { Logger } from '../process/logger.ts'
import { type Database, poolOf } from './connection/pool.ts'
import { takeEnd } from './transaction.ts'

const LISTEN_RETRY_MS = 1_000

/** Listens to a notification channel on a connection of its own; calls `onMessage` and, after every (re)connect, `onConnect`. */
export function listen(
  database: Database,
  channel: 'millrace_changes',
  handlers: { onMessage: (payload: string) => void; onConnect: () => void; logger: Logger },
): { close(): Promise<void> } {
  const pool = poolOf(database)
  let closed = false
  let client: pg.PoolClient | null = null
  const connect = async (): Promise<void> => {
    while (!closed) {
      try {
        client = await pool.connect()
        // Closed meanwhile: no one will end it.
        if (closed) return client.release(true)
        const lost = new Promise<void>(resolve => {
          client?.once('error', () => resolve())
          client?.once('end', () => resolve())
        })
        client.on('notification', message => handlers.onMessage(message.payload ?? ''))
        // Inside the read that the connection made last, it would act only once that has ended.
        await client.query(`${takeEnd(client)}listen ${channel}`)
        handlers.onConnect()
        await lost
        client.release(true)
      } catch (error) {
        if (!closed) handlers.logger.warn({ err: error }, 'listening for changes failed; trying again')
      }
      client = null
      if (!closed) await new Promise(resolve => setTimeout(resolve, LISTEN_RETRY_MS))
    }
  }
  void connect()
  return {
    close: async () => {
      closed = true
      client?.emit('end')
    },
  }
}
