// Reserves for many uses in one statement of the database, which decides them in their order and writes what is granted
// (migration 20261123T0070).
import { and, inArray, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, idsOf } from '../../../../shared/ids.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { walletReservations } from '../table.ts'
import type { WalletUnit } from '../unit.ts'
import { quantityOf, type ReserveOperation } from './decide.ts'
import { noWallet, type Outcome, runBatch, type ShownReservation } from './run-batch.ts'
import type { Given } from './schema.ts'

/** A row of `reserve_in_wallets`. */
type Decided = {
  readonly outcome: 'RESERVED' | 'KNOWN' | 'SHORT' | 'STATUS' | 'UNIT' | 'NO_WALLET' | 'LEASES'
  readonly wallet_id: string
  readonly wallet_status: string
  readonly unit: string
  readonly open: string
  readonly known_id: string
}

/** Reserves in their order; returns the outcome of each, in the same order. A reference of a wallet comes once among them. */
export async function reserveMany(uow: Uow, operations: readonly ReserveOperation[]): Promise<Outcome[]> {
  let decided = await decideAll(uow, operations, true)
  if (decided[0]?.outcome === 'LEASES') {
    const names = operations.map(({ wallet }) => wallet)
    await runBatch(uow, [], names)
    decided = await decideAll(uow, operations, false)
  }
  const known = await reservationsById(
    uow,
    decided.flatMap(({ outcome, known_id }) => (outcome === 'KNOWN' ? [known_id] : [])),
  )
  return operations.map((operation, index): Outcome => {
    try {
      const of = decided[index]
      if (!of) throw new Error('a reservation has no outcome')
      return outcomeOf(uow, operation, of, known)
    } catch (error) {
      if (error instanceof AppError) return { refused: error }
      throw error
    }
  })
}

async function decideAll(
  uow: Uow,
  operations: readonly ReserveOperation[],
  heedsLeases: boolean,
): Promise<readonly Decided[]> {
  const { platformId, environment } = uow.tenant
  const given = operations.map(operation => stated(operation.given))
  const list = (values: readonly (string | null)[]) => sql.param(values)
  const { rows } = await uow.tx.execute<Decided>(sql`
    select * from reserve_in_wallets(${platformId}, ${environment}, ${formatInstant(uow.now)}::timestamptz,
      ${list(operations.map(({ id }) => id))}::text[], ${list(operations.map(({ wallet }) => wallet))}::text[],
      ${list(given.map(({ unit }) => unit))}::text[], ${list(operations.map(({ reference }) => reference))}::text[],
      ${list(given.map(({ quantity }) => quantity))}::numeric[],
      ${list(operations.map(({ customerId }) => customerId))}::text[],
      ${list(operations.map(operation => leaseUntil(uow, operation)))}::timestamptz[],
      ${list(operations.map(({ actor }) => actor.id))}::text[],
      ${list(operations.map(({ actor }) => actor.requestId))}::text[], ${heedsLeases})`)
  return rows
}

/** Whole seconds, and never less than the lease. */
const leaseUntil = ({ now }: Uow, { leaseMs }: ReserveOperation): string =>
  formatInstant(instantOf(Math.ceil((now + leaseMs) / 1_000) * 1_000))

/** The unit and quantity of a body as the statement takes them. A body that no wallet takes has a unit that no wallet holds. */
function stated({ amount, credits }: Given): { readonly unit: string; readonly quantity: string } {
  const [unit, value] =
    credits == null ? [`AMOUNT ${amount?.currency}`, amount] : [`CREDITS ${credits.credit_type_id}`, credits]
  const isOne = (amount == null) !== (credits == null)
  if (!isOne || value == null || decimal(value.quantity).lte(ZERO)) return { unit: 'NONE', quantity: '1' }
  return { unit, quantity: value.quantity }
}

function unitOf(text: string): WalletUnit {
  const [kind, of = ''] = text.split(' ')
  return kind === 'CREDITS' ? { kind, creditTypeId: of } : { kind: 'AMOUNT', currency: of === '' ? null : of }
}

async function reservationsById(uow: Uow, ids: readonly string[]): Promise<ReadonlyMap<string, ShownReservation>> {
  if (ids.length === 0) return new Map()
  const r = walletReservations
  const rows = await uow.tx
    .select()
    .from(r)
    .where(and(inThisTenant(uow, r), inArray(r.id, idsOf('wres', ids))))
  return new Map(rows.map(row => [row.id, row]))
}

/** Throws the AppError of a reservation that was not granted. */
function outcomeOf(
  uow: Uow,
  operation: ReserveOperation,
  of: Decided,
  known: ReadonlyMap<string, ShownReservation>,
): Outcome {
  if (of.outcome === 'NO_WALLET') throw noWallet(operation.wallet)
  const unit = unitOf(of.unit)
  const { field, quantity } = quantityOf(unit, operation.given, 'reserve')
  const wallet = { resourceId: of.wallet_id, resourceType: 'WALLET' } as const
  switch (of.outcome) {
    case 'RESERVED':
      return { row: newRow(uow, operation, of, plain(quantity)), unit }
    case 'KNOWN': {
      const before = known.get(of.known_id)
      if (!before) throw new Error('a known reservation is not there')
      if (decimal(before.quantity).eq(quantity)) return { row: before, unit }
      const message = `The reference already reserved ${plain(decimal(before.quantity))}; use another reference for another use.`
      throw new AppError('RESOURCE_ALREADY_EXISTS', message, { field: 'reference', resourceId: before.id })
    }
    case 'SHORT': {
      const message = `The wallet has ${of.open} open, which is less than ${plain(quantity)}. Nothing was reserved.`
      throw new AppError('COULD_NOT_UPDATE_RESOURCE', message, { field, ...wallet })
    }
    case 'STATUS': {
      const message = `The wallet is ${of.wallet_status} and is not spent; activate it first.`
      throw new AppError('INVALID_OPERATION', message, wallet)
    }
    default:
      throw new Error(`the database decided ${of.outcome} for a reservation that fits its wallet`)
  }
}

function newRow(uow: Uow, operation: ReserveOperation, { wallet_id }: Decided, quantity: string): ShownReservation {
  const now = formatInstant(uow.now)
  return {
    id: idOf('wres', operation.id),
    created_at: now,
    updated_at: now,
    wallet_id: idOf('wall', wallet_id),
    reference: operation.reference,
    quantity,
    status: 'ACTIVE',
    lease_until: leaseUntil(uow, operation),
    committed_quantity: null,
    event_reference: null,
  }
}
