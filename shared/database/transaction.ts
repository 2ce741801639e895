// One transaction in as few round trips as it can have: its beginning travels with the first question, and when it only read nothing
// waits for its end. For that the connection must not wait for an answer before it sends more (`pipeline` of the pool).
import type { Socket } from 'node:net'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'

/** What the work of a transaction may do; it is begun and ended here alone. */
export type Transaction = Omit<NodePgDatabase, 'transaction'>

export const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

export type Start = {
  /** One statement or several, sent in one message. */
  readonly begin: string
  readonly readOnly?: true
}

const ignore = (): void => {}

/**
 * Runs `work` between `begin` and a commit, or a rollback when it fails. `onLost` learns of a connection that cannot even roll back;
 * its transaction is over with it.
 */
export async function runTransaction<T>(
  client: pg.PoolClient,
  { begin, readOnly }: Start,
  work: (tx: Transaction) => Promise<T>,
  onLost: (error: Error) => void,
): Promise<T> {
  sendTogether(client)
  const begun = client.query(begin)
  // If it fails, so does every question behind it, and the first fault is the one to tell.
  const fault = begun.then(
    () => null,
    (error: unknown) => ({ error }),
  )
  try {
    const result = await work(transactionOn(client))
    await begun
    if (readOnly) {
      sendTogether(client)
      client.query('commit').catch(ignore)
    } else await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(onLost)
    throw (await fault)?.error ?? error
  }
}

/** Keeps what this turn of the event loop sends on the connection, and sends it in one piece. */
function sendTogether(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.cork()
  setImmediate(() => stream.uncork())
}

const transactions = new WeakMap<pg.PoolClient, Transaction>()

function transactionOn(client: pg.PoolClient): Transaction {
  const known = transactions.get(client)
  if (known) return known
  const made = drizzle(client)
  transactions.set(client, made)
  return made
}
