// Ends many reservations in one transaction: locks their wallets, ends leases that have run out, decides each operation in
// its turn, and posts everything at once.
import { and, eq, lte, or, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { createGrantBook } from '../../../../shared/billing/wallets/grant-book.ts'
import { SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, idsOf } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadLiveAccounts, spendable } from '../ledger/load-accounts.ts'
import { type NewEntry, postEntries } from '../ledger/post-entries.ts'
import { type Wallet, type WalletReservation, walletReservations, wallets, walletTypes } from '../table.ts'
import { unitOf, type WalletUnit } from '../unit.ts'
import { type Batch, decide, type EndOperation, endLease, type LockedWallet } from './decide.ts'

/** A reservation as it is answered. */
export type ShownReservation = Omit<WalletReservation, 'platform_id' | 'environment' | 'parts'>
export type Outcome = { readonly row: ShownReservation; readonly unit: WalletUnit } | { readonly refused: AppError }

/** The most leases of a wallet that one batch ends. */
const LEASES_MAX = 500

/**
 * Runs them in their order; returns the outcome of each, in the same order. `also`: more wallets whose leases may have
 * ended.
 */
export async function runBatch(
  uow: Uow,
  operations: readonly EndOperation[],
  also: readonly string[] = [],
): Promise<Outcome[]> {
  const held = await lockNamedWallets(uow, [...operations.map(({ wallet }) => wallet), ...also])
  const own = operations.map(operation => held.find(({ wallet }) => isNamed(wallet, operation.wallet)) ?? null)
  const ids = held.map(({ wallet }) => wallet.id)
  const [grants, rows] = await Promise.all([loadLiveAccounts(uow, ids), loadReservations(uow, ids, operations)])
  const { batch, entries, changed } = batchOf(uow, grants, rows)
  for (const row of rows) endLease(batch, row, SERVICE)
  const outcomes = operations.map((operation, index): Outcome => {
    const of = own[index]
    try {
      if (!of) throw walletNotFound(operation.wallet)
      return { row: decide(batch, of, operation), unit: of.unit }
    } catch (error) {
      if (error instanceof AppError) return { refused: error }
      throw error
    }
  })
  await Promise.all([saveReservations(uow, changed), postEntries(uow, entries)])
  return outcomes
}

const isNamed = ({ id, reference }: Wallet, name: string): boolean => id === name || reference === name

export const walletNotFound = (name: string) =>
  new AppError('RESOURCE_NOT_FOUND', `There is no WALLET ${JSON.stringify(name)}.`, { resourceType: 'WALLET' })

/** Locks the wallets with these ids and references, always in the same order. */
async function lockNamedWallets(uow: Uow, names: readonly string[]): Promise<LockedWallet[]> {
  const unique = [...new Set(names)]
  const rows = await uow.tx
    .select({ wallet: wallets, credit: walletTypes.credit, balance: walletTypes.balance })
    .from(wallets)
    .innerJoin(walletTypes, and(inThisTenant(uow, walletTypes), eq(walletTypes.id, wallets.wallet_type_id)))
    .where(
      and(inThisTenant(uow, wallets), or(anyOf(wallets.id, idsOf('wall', unique)), anyOf(wallets.reference, unique))),
    )
    .orderBy(wallets.id)
    .for('no key update', { of: wallets })
  return rows.map(({ wallet, ...type }) => ({ wallet, unit: unitOf(type) }))
}

/** The reservations that the operations name, and those whose lease has ended. */
async function loadReservations(
  uow: Uow,
  walletIds: readonly string[],
  operations: readonly EndOperation[],
): Promise<WalletReservation[]> {
  if (walletIds.length === 0) return []
  const r = walletReservations
  const of = and(inThisTenant(uow, r), anyOf(r.wallet_id, idsOf('wall', walletIds)))
  const names = [...new Set(operations.map(({ reservation }) => reservation))]
  const ended = uow.tx
    .select()
    .from(r)
    .where(and(of, eq(r.status, 'ACTIVE'), lte(r.lease_until, formatInstant(uow.now))))
    .limit(LEASES_MAX)
  if (names.length === 0) return await ended
  const named = uow.tx
    .select()
    .from(r)
    .where(and(of, anyOf(r.reference, names)))
  const byId = uow.tx
    .select()
    .from(r)
    .where(and(inThisTenant(uow, r), anyOf(r.id, idsOf('wres', names))))
  // One statement, and each part by its index.
  const found = await unionAll(ended, named, byId)
  // An id may be one of another wallet, which is not locked here and whose grants are not read.
  const own = found.filter(({ wallet_id }) => walletIds.includes(wallet_id))
  return [...new Map(own.map(row => [row.id, row])).values()]
}

function batchOf(uow: Uow, grants: Awaited<ReturnType<typeof loadLiveAccounts>>, rows: readonly WalletReservation[]) {
  const entries: NewEntry[] = []
  const changed = new Map<string, WalletReservation>()
  const known = new Map<string, WalletReservation>()
  const remember = (row: WalletReservation): void => {
    known.set(`${row.wallet_id} ${row.reference}`, row)
    known.set(`${row.wallet_id} ${row.id}`, row)
  }
  for (const row of rows) remember(row)
  const batch: Batch = {
    now: uow.now,
    book: createGrantBook(
      grants.map(each => ({
        ...spendable(each),
        walletId: each.wallet_id,
        isReverted: each.is_reverted,
        seatOf: each.seat_of,
      })),
    ),
    find: (walletId, name) => known.get(`${walletId} ${name}`) ?? null,
    keep: (row, moves, actor) => {
      remember(row)
      changed.set(row.id, row)
      const cause = {
        type: 'RESERVATION',
        id: row.id,
        reason: row.status === 'EXPIRED' ? 'LEASE_ENDED' : null,
      } as const
      entries.push(
        ...moves.map(moved => ({
          ...moved,
          grantId: idOf('wgra', moved.grantId),
          walletId: row.wallet_id,
          cause,
          actor,
        })),
      )
    },
  }
  return { batch, entries, changed }
}

async function saveReservations(uow: Uow, changed: ReadonlyMap<string, WalletReservation>): Promise<void> {
  if (changed.size === 0) return
  const rows = [...changed.values()].map(({ id, status, committed_quantity, event_reference }) => ({
    id,
    status,
    committed_quantity,
    event_reference,
  }))
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    update wallet_reservations r set status = n.status, committed_quantity = n.committed_quantity,
      event_reference = n.event_reference, updated_at = ${formatInstant(uow.now)}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as n(id text, status text, committed_quantity numeric, event_reference text)
    where r.platform_id = ${platformId} and r.environment = ${environment} and r.id = n.id`)
}
