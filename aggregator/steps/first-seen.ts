// Records -> outcomes: who decides that an event is a repeat. Pure. An event counts iff it stands at the place that the
// index records for its reference, so reading the same messages again, however they are cut, decides the same.
import { assertNever } from '../../shared/errors.ts'
import type { AmendLine, Claim, DeadLine, DeadReason, DeleteLine, Outcome, Place } from '../outcome.ts'
import type { LogRecord } from './decode.ts'

export type FindClaim = (idHash: string) => Claim | undefined

/** Outcomes in the order of the records, and the claims to record before any of them is acted on. */
export function decideFirstSeen(
  records: readonly LogRecord[],
  find: FindClaim,
): { outcomes: Outcome[]; claims: Claim[] } {
  const claimed = new Map<string, Claim>()
  const outcomes: Outcome[] = []
  for (const record of records) outcomes.push(decide(record))
  return { outcomes, claims: [...claimed.values()] }

  function decide(record: LogRecord): Outcome {
    switch (record.kind) {
      case 'dead':
        return { kind: 'dead', record }
      case 'delete':
        // In the order of the log: a deletion that stands before the event deletes nothing. When messages are read again
        // the index already knows events that stand after the deletion.
        return isBefore(claimOf(record.idHash), record)
          ? { kind: 'delete', record }
          : { kind: 'dead', record: deadOf(record, 'DELETE_UNKNOWN') }
      case 'amend':
        // As a deletion: what stands before the event changes nothing.
        return isBefore(claimOf(record.idHash), record)
          ? { kind: 'amend', record }
          : { kind: 'dead', record: deadOf(record, 'AMEND_UNKNOWN') }
      case 'event': {
        const first = claimOf(record.idHash)
        if (first === undefined) {
          const { idHash, contentHash, seq, line } = record
          claimed.set(idHash, { idHash, contentHash, seq, line })
          return { kind: 'keep', record }
        }
        const isFirst = first.seq === record.seq && first.line === record.line
        return isFirst ? { kind: 'keep', record } : { kind: 'duplicate', record, first }
      }
      default:
        return assertNever(record)
    }
  }

  function claimOf(idHash: string): Claim | undefined {
    return claimed.get(idHash) ?? find(idHash)
  }
}

const deadOf = ({ seq, line, text }: DeleteLine | AmendLine, reason: DeadReason): DeadLine => ({
  kind: 'dead',
  seq,
  line,
  text,
  reason,
})

const isBefore = (claim: Claim | undefined, place: Place): boolean =>
  claim !== undefined && (claim.seq < place.seq || (claim.seq === place.seq && claim.line < place.line))
