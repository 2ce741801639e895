// Decides the ends of reservations, one after the other, over locked wallets. Pure: takes rows, and returns rows and
// entries. The database decides what is reserved (reserve-many.ts).
import type { GrantBook, Moved } from '../../../../shared/billing/wallets/grant-book.ts'
import type { GrantPart } from '../../../../shared/billing/wallets/spending-order.ts'
import type { Actor } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import type { Wallet, WalletReservation } from '../table.ts'
import type { WalletUnit } from '../unit.ts'
import type { Given } from './schema.ts'

type Of = { readonly actor: Actor; readonly wallet: string }
/** `wallet` is an id or a reference; `id` is the id that the new reservation gets. */
export type ReserveOperation = Of & {
  readonly kind: 'RESERVE'
  readonly id: string
  readonly reference: string
  readonly given: Given
  /** The customer who uses it; null when no customer is named. */
  readonly customerId: string | null
  readonly leaseMs: number
}
/** `wallet` and `reservation` are ids or references. */
export type EndOperation =
  | (Of & {
      readonly kind: 'COMMIT'
      readonly reservation: string
      readonly given: Given
      readonly eventReference: string | null
    })
  | (Of & { readonly kind: 'RELEASE'; readonly reservation: string })

export type LockedWallet = { readonly wallet: Wallet; readonly unit: WalletUnit }

/** The state of a batch: reservations by wallet and by reference, after the operations decided so far. */
export type Batch = {
  readonly now: Instant
  readonly book: GrantBook
  /** A reservation of the wallet, by id or reference. */
  find(walletId: string, idOrReference: string): WalletReservation | null
  /** Records the current state of a reservation, with the entries that belong to it. */
  keep(row: WalletReservation, moves: readonly Moved[], actor: Actor): void
}

/** Decides one operation. Throws an AppError that refuses it; nothing has changed then. */
export const decide = (batch: Batch, held: LockedWallet, operation: EndOperation): WalletReservation =>
  operation.kind === 'COMMIT' ? commit(batch, held, operation) : release(batch, held, operation)

const partsOf = ({ parts }: WalletReservation): GrantPart[] =>
  parts.map(({ grant_id, quantity }) => ({ grantId: grant_id, quantity: decimal(quantity) }))

function commit(
  batch: Batch,
  { wallet, unit }: LockedWallet,
  of: Extract<EndOperation, { kind: 'COMMIT' }>,
): WalletReservation {
  const before = existing(batch, wallet, of.reservation)
  const whole = of.given.amount == null && of.given.credits == null
  const { field, quantity } = whole
    ? { field: 'amount', quantity: decimal(before.quantity) }
    : quantityOf(unit, of.given, 'commit')
  if (before.status === 'COMMITTED') {
    const same = decimal(before.committed_quantity ?? '0').eq(quantity) && before.event_reference === of.eventReference
    if (same) return before
    throw ended(before, 'It was already committed with other values.')
  }
  if (before.status !== 'ACTIVE') throw ended(before, 'Reserve again, under another reference.')
  if (quantity.gt(decimal(before.quantity))) {
    const message = `The reservation holds ${plain(decimal(before.quantity))}; commit that or less.`
    throw new AppError('INVALID_FIELD', message, { field: `${field}.quantity`, resourceId: before.id })
  }
  const row: WalletReservation = {
    ...before,
    status: 'COMMITTED',
    committed_quantity: plain(quantity),
    event_reference: of.eventReference,
    updated_at: formatInstant(batch.now),
  }
  batch.keep(row, batch.book.settle(partsOf(before), quantity), of.actor)
  return row
}

function release(
  batch: Batch,
  { wallet }: LockedWallet,
  of: Extract<EndOperation, { kind: 'RELEASE' }>,
): WalletReservation {
  const before = existing(batch, wallet, of.reservation)
  if (before.status === 'COMMITTED') throw ended(before, 'What is spent cannot be released.')
  return before.status === 'ACTIVE' ? endOf(batch, before, 'RELEASED', of.actor) : before
}

/** Ends the reservation if its lease has ended: what it held is open again. */
export function endLease(batch: Batch, row: WalletReservation, service: Actor): void {
  if (row.status === 'ACTIVE' && at(row.lease_until) <= batch.now) endOf(batch, row, 'EXPIRED', service)
}

function endOf(
  batch: Batch,
  before: WalletReservation,
  status: 'RELEASED' | 'EXPIRED',
  actor: Actor,
): WalletReservation {
  const row: WalletReservation = { ...before, status, updated_at: formatInstant(batch.now) }
  batch.keep(row, batch.book.settle(partsOf(before), ZERO), actor)
  return row
}

function existing(batch: Batch, wallet: Wallet, idOrReference: string): WalletReservation {
  const row = batch.find(wallet.id, idOrReference)
  if (row) return row
  const message = `The wallet has no WALLET_RESERVATION ${JSON.stringify(idOrReference)}.`
  throw new AppError('RESOURCE_NOT_FOUND', message, { resourceType: 'WALLET_RESERVATION' })
}

const ended = ({ id, status, lease_until }: WalletReservation, what: string): AppError => {
  const how = status === 'EXPIRED' ? `EXPIRED: its lease ended at ${lease_until}` : status
  return new AppError('COULD_NOT_UPDATE_RESOURCE', `The reservation is ${how}. ${what}`, {
    field: 'status',
    resourceId: id,
    resourceType: 'WALLET_RESERVATION',
  })
}

/** The quantity that a body gives in the unit of the wallet, above zero, and its field. Throws MISSING_FIELD or INVALID_FIELD. */
export function quantityOf(
  unit: WalletUnit,
  given: Given,
  verb: 'reserve' | 'commit',
): { field: string; quantity: Decimal } {
  const [own, other] = unit.kind === 'CREDITS' ? (['credits', 'amount'] as const) : (['amount', 'credits'] as const)
  if (given[other] != null)
    throw new AppError('INVALID_FIELD', `The wallet holds ${own === 'credits' ? 'credits' : 'money'}; give ${own}.`, {
      field: other,
    })
  const value = given[own]
  if (value == null) throw new AppError('MISSING_FIELD', `Give the quantity to ${verb} in ${own}.`, { field: own })
  if (unit.kind === 'AMOUNT' && 'currency' in value && value.currency !== unit.currency)
    throw new AppError('INVALID_FIELD', `The wallet holds ${unit.currency ?? 'no currency yet'}.`, {
      field: `${own}.currency`,
    })
  if (unit.kind === 'CREDITS' && 'credit_type_id' in value && value.credit_type_id !== unit.creditTypeId)
    throw new AppError('INVALID_FIELD', `The wallet holds credits of the type ${unit.creditTypeId}.`, {
      field: `${own}.credit_type_id`,
    })
  const quantity = decimal(value.quantity)
  if (quantity.lte(ZERO))
    throw new AppError('INVALID_FIELD', `The quantity to ${verb} must be above zero.`, { field: `${own}.quantity` })
  return { field: own, quantity }
}
