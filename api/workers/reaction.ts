// What follows from a change inside the service: a value, declared in the module that does what follows.
import type { EventType } from '../../shared/contracts/event-types.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { ChangeHead, OutboxRow } from './outbox-row.ts'

/** Runs in the transaction of the relay: what it queues is queued if and only if the change is relayed. */
type React<Change> = (tx: SystemTransaction, changes: readonly Change[]) => Promise<void>

export type Reaction = { readonly types: ReadonlySet<string> } & (
  | { readonly reads: 'CHANGES'; readonly react: React<OutboxRow> }
  | { readonly reads: 'HEADS'; readonly react: React<ChangeHead> }
)

/**
 * Declares a reaction: `react` gets the changes of `types` in a batch, in the order of their commits. A module lists it
 * among its `reactions`. It queues a job and does nothing that takes long or that can fail because of one tenant's data, since it
 * holds up the relay of every tenant.
 */
export const on = (types: readonly EventType[], react: React<OutboxRow>): Reaction => ({
  types: new Set(types),
  reads: 'CHANGES',
  react,
})

/** The same for one to which only matters what was changed: the resources, of many kilobytes each, are not read for it. */
export const onHeads = (types: readonly EventType[], react: React<ChangeHead>): Reaction => ({
  types: new Set(types),
  reads: 'HEADS',
  react,
})

/** Gives each of `reactions` its own changes of a batch; `bodies` has those of which one reads the resource, by id. */
export async function runReactions(
  tx: SystemTransaction,
  reactions: readonly Reaction[],
  { heads, bodies }: { readonly heads: readonly ChangeHead[]; readonly bodies: ReadonlyMap<string, OutboxRow> },
): Promise<void> {
  for (const reaction of reactions) {
    const own = heads.filter(({ type }) => reaction.types.has(type))
    if (own.length === 0) continue
    if (reaction.reads === 'HEADS') await reaction.react(tx, own)
    else
      await reaction.react(
        tx,
        own.flatMap(({ id }) => bodies.get(id) ?? []),
      )
  }
}
