// What follows from a change inside the service: a value, declared in the module that does what follows.
import type { EventType } from '../../shared/contracts/event-types.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { OutboxRow } from './outbox-row.ts'

/** Runs in the transaction of the relay: what it queues is queued if and only if the change is relayed. */
type React = (tx: SystemTransaction, rows: readonly OutboxRow[]) => Promise<void>

export type Reaction = { readonly types: ReadonlySet<string>; readonly react: React }

/**
 * Declares a reaction: `react` gets the changes of `types` in a batch, in the order of their commits. A module lists it
 * among its `reactions`. It queues a job and does nothing that takes long or that can fail because of one tenant's data, since it
 * holds up the relay of every tenant.
 */
export const on = (types: readonly EventType[], react: React): Reaction => ({ types: new Set(types), react })

/** Gives each of `reactions` its own changes of a batch. */
export async function runReactions(
  tx: SystemTransaction,
  reactions: readonly Reaction[],
  rows: readonly OutboxRow[],
): Promise<void> {
  for (const { types, react } of reactions) {
    const own = rows.filter(row => types.has(row.type))
    if (own.length > 0) await react(tx, own)
  }
}
