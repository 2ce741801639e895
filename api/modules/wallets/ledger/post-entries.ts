// The only way to write to the ledger of wallets. The database applies each entry to the accounts of its grant, and
// refuses an entry that an account cannot cover.
import { MOVES, type Move } from '../../../../shared/billing/wallets/ledger.ts'
import type { Actor, Uow } from '../../../../shared/database/database.ts'
import { type Decimal, plain } from '../../../../shared/decimal.ts'
import { type Id, newId } from '../../../../shared/ids.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { type WalletEntry, walletEntries } from '../table.ts'

export type Cause = {
  readonly type: WalletEntry['cause_type']
  readonly id: string | null
  /** Why, in words or as one of the reasons of the interface; null where the cause already tells. */
  readonly reason?: string | null
}

export type NewEntry = {
  readonly walletId: Id<'wall'>
  readonly grantId: Id<'wgra'>
  readonly move: Move
  /** Above zero. */
  readonly quantity: Decimal
  /** From when on balances count it; by default the time of the unit of work. */
  readonly effectiveAt?: Instant
  readonly cause: Cause
  /** Who moved it; by default the actor of the unit of work. */
  readonly actor?: Actor
}

/** Posts all entries at once. The caller holds the lock of the wallets (lock-wallets.ts). */
export async function postEntries(uow: Uow, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return
  const { now } = uow
  await insertMany(
    uow,
    walletEntries,
    entries.map(({ walletId, grantId, move, quantity, effectiveAt, cause, actor = uow.actor }) => ({
      id: newId('went'),
      created_at: formatInstant(now),
      wallet_id: walletId,
      grant_id: grantId,
      type: MOVES[move].type,
      debit_account: MOVES[move].from,
      credit_account: MOVES[move].to,
      quantity: plain(quantity),
      effective_at: formatInstant(effectiveAt ?? now),
      cause_type: cause.type,
      cause_id: cause.id,
      reason: cause.reason ?? null,
      actor_id: actor.id,
      request_id: actor.requestId,
    })),
  )
}
