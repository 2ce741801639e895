// One transaction in as few messages as it can have: its beginning travels with the first question, and the end of one that only read
// travels with the beginning of the next. For that the connection must not wait for an answer before it sends more (`pipeline` of the
// pool).
import type { Socket } from 'node:net'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { noteCommit } from './connection/pool.ts'
import { drizzleOn } from './statements/drizzle-on.ts'
import { namedBy, withNameIfOften } from './statements/statement-names.ts'

/** What the work of a transaction may do; it is begun and ended here alone. */
export type Transaction = Omit<NodePgDatabase, 'transaction'>

export const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

export type Start = {
  /** One statement or several, sent in one message. */
  readonly begin: string
  readonly readOnly?: true
  /** Whether its statements are prepared under names. A plan that is kept does not know the values: for work that asks by keys. */
  readonly isNamed?: true
}

const ignore = (): void => {}

/**
 * Runs `work` between `begin` and a commit, or a rollback when it fails. `onLost` learns of a connection that cannot even roll back;
 * its transaction is over with it.
 */
export async function runTransaction<T>(
  client: pg.PoolClient,
  { begin, readOnly, isNamed }: Start,
  work: (tx: Transaction) => Promise<T>,
  onLost: (error: Error) => void,
): Promise<T> {
  sendTogether(client)
  const begun = client.query(`${takeEnd(client)}${begin}`)
  // If it fails, so does every question behind it, and the first fault is the one to tell.
  const fault = begun.then(
    () => null,
    (error: unknown) => ({ error }),
  )
  const tx = isNamed ? namingOn(client) : transactionOn(client)
  if (isNamed) states.set(tx, {})
  const ahead: Promise<unknown>[] = []
  sentAhead.set(tx, { client, ahead })
  try {
    const result = await work(tx)
    await begun
    if (readOnly) endLater(client)
    // Of a transaction in which a statement failed the commit is a rollback, and does not fail.
    else {
      noteCommit(client)
      await Promise.all([...ahead, client.query(COMMIT)])
    }
    return result
  } catch (error) {
    await client.query('rollback').catch(onLost)
    throw (await fault)?.error ?? (await firstFault(ahead)) ?? error
  } finally {
    sentAhead.delete(tx)
  }
}

const sentAhead = new WeakMap<Transaction, { readonly client: pg.PoolClient; readonly ahead: Promise<unknown>[] }>()

/**
 * Sends a statement and does not wait for its answer; the transaction fails with it. When nothing else is asked before the commit, both
 * travel together. `name`: it is prepared under it, once for each connection. Returns false, and sends nothing, in a transaction that
 * was not begun here.
 */
export function sendAhead(tx: Transaction, statement: Statement & { readonly name?: string }): boolean {
  const own = sentAhead.get(tx)
  if (!own) return false
  sendTogether(own.client)
  const sent = own.client.query({ ...statement, values: [...statement.values] })
  sent.catch(ignore) // Reported when the transaction ends.
  own.ahead.push(sent)
  return true
}

/** Why the first of those that failed did; what was asked after it failed because of it. */
async function firstFault(ahead: readonly Promise<unknown>[]): Promise<unknown> {
  const settled = await Promise.allSettled(ahead)
  return settled.find(each => each.status === 'rejected')?.reason
}

const COMMIT = 'commit'
/** Long enough for the next read of a busy connection, and too short for an old snapshot to keep anything from being cleaned up. */
const END_MS = 5
const unended = new WeakMap<pg.PoolClient, NodeJS.Timeout>()

/** Ends the read of this connection with its next transaction, or in a few milliseconds. It holds nothing that others wait for. */
function endLater(client: pg.PoolClient): void {
  const end = (): void => {
    unended.delete(client)
    client.query(COMMIT).catch(ignore)
  }
  unended.set(client, setTimeout(end, END_MS))
}

/** What has to be sent before anything else on the connection: the end of its last read, or nothing. */
export function takeEnd(client: pg.PoolClient): string {
  const timer = unended.get(client)
  if (!timer) return ''
  clearTimeout(timer)
  unended.delete(client)
  return `${COMMIT};`
}

export type Statement = { readonly text: string; readonly values: readonly unknown[] }

/**
 * Runs one statement in a transaction of its own and returns its rows. Beginning, statement and commit travel together, so that what it
 * locks does not wait for this process. When it fails the commit rolls back.
 */
export async function runStatement<Row extends pg.QueryResultRow>(
  client: pg.PoolClient,
  begin: string,
  { text, values }: Statement,
): Promise<Row[]> {
  const stream = streamOf(client)
  stream.cork()
  noteCommit(client)
  const sent = [
    client.query(`${takeEnd(client)}${begin}`),
    client.query<Row>({ text, values: [...values] }),
    client.query(COMMIT),
  ] as const
  stream.uncork()
  const [begun, answer, committed] = await Promise.allSettled(sent)
  // The first fault is the one to tell: those behind it follow from it.
  for (const each of [begun, answer, committed]) if (each.status === 'rejected') throw each.reason
  if (answer.status === 'rejected') throw answer.reason
  return answer.value.rows
}

/** Runs one statement, which commits by itself, and returns its rows. */
export async function runAlone<Row extends pg.QueryResultRow>(
  client: pg.PoolClient,
  { text, values }: Statement,
): Promise<Row[]> {
  const end = takeEnd(client)
  if (end !== '') {
    sendTogether(client)
    client.query(end).catch(ignore)
  }
  const { rows } = await client.query<Row>({ text, values: [...values] })
  return rows
}

/** Keeps what this turn of the event loop sends on the connection, and sends it in one piece. */
export function sendTogether(client: pg.PoolClient): void {
  const stream = streamOf(client)
  stream.cork()
  setImmediate(() => stream.uncork())
}

const streamOf = (client: pg.PoolClient): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

const transactions = new WeakMap<pg.PoolClient, Transaction>()

function transactionOn(client: pg.PoolClient): Transaction {
  const known = transactions.get(client)
  if (known) return known
  const made = drizzleOn(client)
  transactions.set(client, made)
  return made
}

const naming = new WeakMap<pg.PoolClient, Transaction>()

/** A transaction that prepares its statements under names, and notes which of them may have written something. */
function namingOn(client: pg.PoolClient): Transaction {
  const known = naming.get(client)
  if (known) return known
  const made: Transaction = namedBy(withNameIfOften, client, ({ text }) => {
    if (!IS_READ.test(text)) states.set(made, {})
  })
  naming.set(client, made)
  return made
}

/** Not one that only calls a function: some of ours write. */
const IS_READ = /^\s*select\b(?!\s+(\*\s+from\s+)?\w+\s*\()/i
const states = new WeakMap<Transaction, object>()

/**
 * A token that is replaced by each statement that may write, and at the start of each transaction. While it is the same, nothing that the
 * transaction read has been changed by itself. Events, which are sent ahead, do not replace it. Undefined for transactions without names.
 */
export const stateOf = (tx: Transaction): object | undefined => states.get(tx)
