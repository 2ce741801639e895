// The hash tree of a usage receipt: an entry for each event that an invoice counted. docs/why.md shows how to check
// one.
import { hash } from 'node:crypto'
import { leafHash, proofOf, rootOf } from '../../../../../shared/merkle-tree.ts'
import type { CountedEvent } from '../../../../usage/counted-events.ts'
import { countingOf } from '../counted.ts'
import type { Basis } from '../reprice.ts'

type Entry = Pick<CountedEvent, 'reference' | 'contentHash'>

/** An entry for an event: the 8-byte hash of its content, and its reference. */
export const leafOf = ({ reference, contentHash }: Entry): Buffer =>
  leafHash(Buffer.concat([Buffer.from(contentHash, 'hex'), Buffer.from(reference)]))

export type ReceiptTree = {
  readonly root: string
  readonly numberOfEvents: number
  /** The position of an event and the hashes from there to the root; null for an event that is not in the tree. */
  proof(reference: string): { content_hash: string; index: number; hashes: string[] } | null
}

/** The tree over these events, in any order: entries are sorted by the hashes of their references. */
export function receiptTree(events: readonly Entry[]): ReceiptTree {
  const placed = events
    .map(event => ({ event, at: hash('sha256', event.reference, 'hex') }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ event }) => event)
  const leaves = placed.map(leafOf)
  return {
    root: rootOf(leaves).toString('hex'),
    numberOfEvents: leaves.length,
    proof: reference => {
      const index = placed.findIndex(event => event.reference === reference)
      const [event] = index < 0 ? [] : [placed[index]]
      if (!event) return null
      const hashes = proofOf(leaves, index).map(each => each.toString('hex'))
      return { content_hash: event.contentHash, index, hashes }
    },
  }
}

/** The events among these that an invoice counted, each once. */
export function countedByInvoice(basis: Basis, events: readonly CountedEvent[]): CountedEvent[] {
  const countings = basis.charges.flatMap(charge => countingOf(basis, charge) ?? [])
  return events.filter(event => countings.some(counting => counting(event) === 'COUNTED'))
}
