// Questions that look for a few rows by their keys, and inserts. To plan thirty of them, under row-level security, costs PostgreSQL several
// times what it costs to answer them: so each is prepared under a name, and a connection that has asked it before keeps its plan.
import type pg from 'pg'
import type { ReadUow } from '../database.ts'
import { sendTogether, type Transaction } from '../transaction.ts'
import { namedBy, withName } from './statement-names.ts'

const wrapped = new WeakMap<Transaction, Transaction>()

/**
 * The same unit of work, with its queries prepared under names. For questions with keys alone: a plan that is kept does not know the values. One whose
 * text depends on how many values there are is another question for each number of them, so this is for the reading of one thing.
 */
export function withNamedStatements<Work extends ReadUow>(uow: Work): Work {
  const known = wrapped.get(uow.tx)
  const tx = known ?? namingOn(uow.tx)
  if (!known) wrapped.set(uow.tx, tx)
  return { ...uow, tx }
}

function namingOn(tx: Transaction): Transaction {
  const { $client: client } = tx as Transaction & { readonly $client: pg.PoolClient }
  return namedBy(withName, client, () => sendTogether(client))
}
