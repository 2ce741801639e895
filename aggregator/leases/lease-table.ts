// Who works which partition: one small table that every aggregator reads and replaces as a whole. Pure. Nobody needs to be
// right about it for usage to be right (a partition worked twice does the same twice); it decides who does the work.

export type Member = {
  /** Grows with every renewal: a process that sees it stand still knows that the member is silent, on any clock. */
  readonly beat: number
  /** Partitions whose index the member has on its disk: cheap for it to take. */
  readonly indexed: readonly number[]
}
export type LeaseTable = {
  /** Renewals ever made: a member that was called silent and comes back never shows a beat that was seen before. */
  readonly turns?: number
  readonly members: Readonly<Record<string, Member>>
  /** By partition. */
  readonly owners: Readonly<Record<number, string>>
}
export type Renewal = {
  readonly id: string
  readonly partitions: number
  readonly indexed: readonly number[]
  /** Members that gave no sign of life for as long as a lease lasts. */
  readonly silent: ReadonlySet<string>
}

export const EMPTY_TABLE: LeaseTable = { members: {}, owners: {} }

/**
 * The table after one member renewed its lease: silent members are gone, and every partition has an owner, each member
 * `partitions / members` of them or one more. No more partitions move than that takes.
 */
export function renewed(table: LeaseTable, { id, partitions, indexed, silent }: Renewal): LeaseTable {
  const others = Object.entries(table.members).filter(([other]) => other !== id && !silent.has(other))
  const turns = (table.turns ?? 0) + 1
  const members = Object.fromEntries([...others, [id, { beat: turns, indexed }]])
  return { turns, members, owners: share(members, table.owners, partitions) }
}

/** The table after a member gave back what it had; the others have it at once. */
export function without(table: LeaseTable, id: string, partitions: number): LeaseTable {
  const members = Object.fromEntries(Object.entries(table.members).filter(([other]) => other !== id))
  return { ...table, members, owners: share(members, table.owners, partitions) }
}

export const ownedBy = (table: LeaseTable, id: string): number[] =>
  Object.entries(table.owners)
    .filter(([, owner]) => owner === id)
    .map(([partition]) => Number(partition))

function share(
  members: LeaseTable['members'],
  before: LeaseTable['owners'],
  partitions: number,
): Record<number, string> {
  const held = new Map<string, Set<number>>(Object.keys(members).map(id => [id, new Set()]))
  const free: number[] = []
  for (let partition = 0; partition < partitions; partition += 1) {
    const own = held.get(before[partition] ?? '')
    if (own) own.add(partition)
    else free.push(partition)
  }
  const wanted = shares(held, partitions)
  for (const { own, due } of wanted) {
    for (const partition of givenUp(own, own.size - due, id =>
      wanted.some(each => each.own.size < each.due && has(each.id, id)),
    )) {
      own.delete(partition)
      free.push(partition)
    }
  }
  // A member that has an index of a free partition comes first, then one that has less than its share.
  for (const indexedOnly of [true, false]) {
    for (const { id, own, due } of wanted) {
      const taken = free.filter(partition => !indexedOnly || has(id, partition)).slice(0, Math.max(0, due - own.size))
      for (const partition of taken) {
        own.add(partition)
        free.splice(free.indexOf(partition), 1)
      }
    }
  }
  const owners: Record<number, string> = {}
  for (const { id, own } of wanted) for (const partition of own) owners[partition] = id
  return owners

  function has(id: string, partition: number): boolean {
    return members[id]?.indexed.includes(partition) ?? false
  }
}

type Share = { readonly id: string; readonly own: Set<number>; readonly due: number }

/** What each member is due; those that have most now get the one more, so that nothing moves without need. */
function shares(held: ReadonlyMap<string, Set<number>>, partitions: number): Share[] {
  const each = Math.floor(partitions / Math.max(1, held.size))
  const more = partitions - each * held.size
  return [...held]
    .toSorted(([a, ofA], [b, ofB]) => ofB.size - ofA.size || (a < b ? -1 : 1))
    .map(([id, own], place) => ({ id, own, due: place < more ? each + 1 : each }))
}

/** The partitions a member gives up: those another member has an index for first. */
const givenUp = (own: ReadonlySet<number>, count: number, wantedElsewhere: (partition: number) => boolean): number[] =>
  [...own]
    .toSorted((a, b) => Number(wantedElsewhere(b)) - Number(wantedElsewhere(a)) || b - a)
    .slice(0, Math.max(0, count))

export type LeaseObserver = {
  /** The members whose beat stood still for `ttlMs` while this process was looking. */
  silentMembers(table: LeaseTable, nowMs: number): Set<string>
  /** Nothing could be seen for a while, so nobody may be called silent for it. */
  forget(): void
}

/** Watches beats on this process's own monotonic clock, so that no two clocks need to agree. */
export function createLeaseObserver(ttlMs: number): LeaseObserver {
  let seen = new Map<string, { readonly beat: number; readonly sinceMs: number }>()
  return {
    silentMembers(table, nowMs) {
      const next = new Map<string, { readonly beat: number; readonly sinceMs: number }>()
      for (const [id, { beat }] of Object.entries(table.members)) {
        const known = seen.get(id)
        next.set(id, known?.beat === beat ? known : { beat, sinceMs: nowMs })
      }
      seen = next
      return new Set([...seen].filter(([, { sinceMs }]) => nowMs - sinceMs >= ttlMs).map(([id]) => id))
    },
    forget() {
      seen = new Map()
    },
  }
}
