// The loop that keeps this aggregator's place in the lease table and says which partitions are its own.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../shared/process/logger.ts'
import { createSignal } from '../log/rounds.ts'
import type { LeaseStore } from './lease-store.ts'
import { createLeaseObserver, type LeaseTable, ownedBy, renewed, without } from './lease-table.ts'

export type LeaseDeps = {
  readonly store: LeaseStore
  readonly logger: Logger
  /** Names this aggregator for as long as its index folder lives. */
  readonly id: string
  readonly partitions: number
  /** Partitions it has an index of. */
  readonly indexed: () => readonly number[]
  /** Called after every turn with the partitions that are its own. */
  readonly onHeld: (partitions: ReadonlySet<number>) => void
  /** A monotonic clock in milliseconds. */
  readonly monotonic: () => number
}

/** Without a sign of life for this long a member's partitions go to others; a crash moves them within this and one turn. */
const LEASE_MS = 6_000
const TURN_MS = 1_500
/** Tries to replace the table in one turn: another aggregator may be quicker each time. */
const TRIES_MAX = 8
const TRY_AGAIN_MS = 20
/** How long a process that stops waits for a broker to take its leases back. */
const GIVE_BACK_MS = 2_000

/**
 * Renews until `stop`, then gives everything back. A process that could not renew for as long as a lease lasts holds
 * nothing: others have taken its partitions by then, and it must not go on beside them.
 */
export async function keepLeases(deps: LeaseDeps, stop: AbortSignal): Promise<void> {
  const signal = createSignal()
  const unsubscribe = deps.store.onAnnounce(signal.notify)
  stop.addEventListener('abort', signal.notify, { once: true })
  const observer = createLeaseObserver(LEASE_MS)
  let renewedAt = deps.monotonic()
  let lookedAt = renewedAt
  try {
    while (!stop.aborted) {
      const startedAt = deps.monotonic()
      // This process slept, and perhaps all the machine with everybody on it: nobody was watched meanwhile.
      if (startedAt - lookedAt > LEASE_MS) observer.forget()
      lookedAt = startedAt
      try {
        deps.onHeld(new Set(ownedBy(await takeTurn(deps, table => renew(deps, table, observer)), deps.id)))
        renewedAt = startedAt
      } catch (error) {
        deps.logger.warn({ err: error }, 'the partition leases could not be renewed; trying again')
        observer.forget()
      }
      if (deps.monotonic() - renewedAt > LEASE_MS) deps.onHeld(new Set())
      const turn = new AbortController()
      await Promise.race([sleep(TURN_MS, undefined, { signal: turn.signal }).catch(() => undefined), signal.wait()])
      turn.abort()
    }
  } finally {
    unsubscribe()
    // Not a failure: what is not given back goes to others when it has been silent long enough.
    const given = takeTurn(deps, table => without(table, deps.id, deps.partitions)).catch(error =>
      deps.logger.warn({ err: error }, 'the partition leases could not be given back; others take them when they end'),
    )
    await Promise.race([given, sleep(GIVE_BACK_MS, undefined, { ref: false })])
  }
}

function renew(deps: LeaseDeps, table: LeaseTable, observer: ReturnType<typeof createLeaseObserver>): LeaseTable {
  const silent = observer.silentMembers(table, deps.monotonic())
  return renewed(table, { id: deps.id, partitions: deps.partitions, indexed: deps.indexed(), silent })
}

/** Replaces the table by what `change` makes of it. Resolves with the table that holds then. */
async function takeTurn(
  { store }: Pick<LeaseDeps, 'store'>,
  change: (table: LeaseTable) => LeaseTable,
): Promise<LeaseTable> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const { table, revision } = await store.read()
    const next = change(table)
    if (await store.replace(next, revision)) {
      if (!sameOwners(table, next)) store.announce()
      return next
    }
    await sleep(TRY_AGAIN_MS * (1 + Math.random() * attempt))
  }
  throw new Error(`the lease table was replaced by others ${TRIES_MAX} times in a row`)
}

const sameOwners = (a: LeaseTable, b: LeaseTable): boolean => JSON.stringify(a.owners) === JSON.stringify(b.owners)
