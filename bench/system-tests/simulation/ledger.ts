// What the clients know: what they sent, and what they were told of it.
import type { Reading } from './plain-reading.ts'
import { idHashOf, type Tables } from './tables.ts'

export type Ledger = {
  /** `<id hash> <content hash>` of everything that ever left a client. */
  readonly sent: Set<string>
  /** The same of what was answered 201. */
  readonly acked: Set<string>
  /** Id hashes whose deletion was confirmed. */
  readonly deleted: Set<string>
  expectKept(tables: Tables, readings: readonly Reading[]): void
}

/** Throws `otherwise` unless it holds. */
export function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

export function createLedger(): Ledger {
  const ledger: Ledger = {
    sent: new Set(),
    acked: new Set(),
    deleted: new Set(),
    expectKept(tables, readings) {
      const kept = new Map<string, string[]>()
      for (const row of tables.events.values()) {
        const name = `${idHashOf(row)} ${row.fields[1]}`
        kept.set(idHashOf(row), [...(kept.get(idHashOf(row)) ?? []), name])
      }
      const repeats = [...tables.duplicates.values()].map(row => `${row[0]} ${row[1]}`)
      const present = new Set([...[...kept.values()].flat(), ...repeats])
      for (const name of present) expect(ledger.sent.has(name), `${name} was never sent`)
      for (const name of ledger.acked) {
        expect(present.has(name), `${name} was acknowledged and is not there`)
        const counted = kept.get(name.slice(0, 32)) ?? []
        expect(counted.length === 1, `${name} was acknowledged and its reference counts ${counted.length} times`)
      }
      for (const idHash of ledger.deleted) {
        const event = readings.map(({ events }) => events.get(idHash)).find(found => found !== undefined)
        expect(event?.deleted === true, `${idHash} was deleted, and that was confirmed, and it counts`)
      }
    },
  }
  return ledger
}
