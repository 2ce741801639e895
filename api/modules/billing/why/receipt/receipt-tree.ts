// The hash tree of a usage receipt: an entry for each event that an invoice counted. docs/why.md shows how to check
// one.
import { merkleTree } from '../../../../../shared/merkle-tree.ts'
import type { ReceiptEntry } from '../../../../usage/receipt-entries.ts'
import { type Counting, countingOf } from '../counted.ts'
import type { Basis } from '../reprice.ts'

export type ReceiptTree = {
  readonly root: string
  readonly numberOfEvents: number
  /** The position of the event to prove and the hashes from there to the root; null where the invoice did not count it. */
  readonly proof: { readonly content_hash: string; readonly index: number; readonly hashes: string[] } | null
}

/** Takes entries in the order of the hashes of their references, and leaves out events that the invoice did not count. */
export function receiptTree(basis: Basis): { add(entry: ReceiptEntry): void; end(): ReceiptTree } {
  const byMeter = countingsByMeter(basis)
  const tree = merkleTree()
  let provenContent: string | null = null
  return {
    add: ({ event, leaf, contentHash }) => {
      if (!byMeter.get(event.meterReference)?.some(counting => counting(event) === 'COUNTED')) return
      if (contentHash !== null) provenContent = contentHash
      tree.add(leaf, contentHash !== null)
    },
    end: () => {
      const { root, size, proof } = tree.end()
      const hashes = proof?.hashes.map(each => each.toString('hex')) ?? []
      return {
        root: root.toString('hex'),
        numberOfEvents: size,
        proof: proof && provenContent !== null ? { content_hash: provenContent, index: proof.index, hashes } : null,
      }
    },
  }
}

function countingsByMeter(basis: Basis): ReadonlyMap<string, readonly Counting[]> {
  const byMeter = new Map<string, Counting[]>()
  for (const charge of basis.charges) {
    const counting = countingOf(basis, charge)
    const reference = charge.calculation?.meter_reference
    if (counting && reference !== undefined) byMeter.set(reference, [...(byMeter.get(reference) ?? []), counting])
  }
  return byMeter
}
