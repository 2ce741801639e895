// Reserves for many uses in one statement of the database, which decides them in their order and writes what is granted
// (migration 20261123T0220).
import { and } from 'drizzle-orm'
import { type Database, inTenant, readTenant, SERVICE, stateInTenant } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import { idOf, idsOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { walletReservations } from '../table.ts'
import type { WalletUnit } from '../unit.ts'
import { quantityOf, type ReserveOperation } from './decide.ts'
import { type Outcome, runBatch, type ShownReservation, walletNotFound } from './run-batch.ts'
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

type Deps = { readonly database: Database; readonly failpoint?: Failpoints | undefined }

/**
 * Reserves in their order, in a transaction of its own; returns the outcome of each, in the same order. A reference of a wallet comes
 * once among them.
 */
export async function reserveMany(
  deps: Deps,
  tenant: Tenant,
  operations: readonly ReserveOperation[],
): Promise<Outcome[]> {
  const { database, failpoint } = deps
  const now = database.clock.now()
  let decided = await decideAll(database, { tenant, now, heedsLeases: true }, operations)
  if (decided[0]?.outcome === 'LEASES') {
    const names = operations.map(({ wallet }) => wallet)
    await inTenant(database, tenant, SERVICE, uow => runBatch(uow, [], names))
    decided = await decideAll(database, { tenant, now, heedsLeases: false }, operations)
  }
  await failpoint?.('reservations.after-commit')
  const known = await reservationsById(
    database,
    tenant,
    decided.flatMap(({ outcome, known_id }) => (outcome === 'KNOWN' ? [known_id] : [])),
  )
  return operations.map((operation, index): Outcome => {
    try {
      const of = decided[index]
      if (!of) throw new Error('a reservation has no outcome')
      return outcomeOf(now, operation, of, known)
    } catch (error) {
      if (error instanceof AppError) return { refused: error }
      throw error
    }
  })
}

const RESERVE =
  'select * from reserve_in_wallets($1, $2, $3::timestamptz, $4::text[], $5::text[], $6::text[], $7::text[], $8::numeric[], ' +
  '$9::text[], $10::timestamptz[], $11::text[], $12::text[], $13)'

function decideAll(
  database: Database,
  of: { readonly tenant: Tenant; readonly now: Instant; readonly heedsLeases: boolean },
  operations: readonly ReserveOperation[],
): Promise<readonly Decided[]> {
  const { tenant, now, heedsLeases } = of
  const given = operations.map(operation => stated(operation.given))
  return stateInTenant<Decided>(database, tenant, {
    text: RESERVE,
    values: [
      tenant.platformId,
      tenant.environment,
      formatInstant(now),
      operations.map(({ id }) => id),
      operations.map(({ wallet }) => wallet),
      given.map(({ unit }) => unit),
      operations.map(({ reference }) => reference),
      given.map(({ quantity }) => quantity),
      operations.map(({ customerId }) => customerId),
      operations.map(operation => leaseUntil(now, operation)),
      operations.map(({ actor }) => actor.id),
      operations.map(({ actor }) => actor.requestId),
      heedsLeases,
    ],
  })
}

/** Whole seconds, and never less than the lease. */
const leaseUntil = (now: Instant, { leaseMs }: ReserveOperation): string =>
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

async function reservationsById(
  database: Database,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ShownReservation>> {
  if (ids.length === 0) return new Map()
  const r = walletReservations
  const rows = await readTenant(database, tenant, uow =>
    uow.tx
      .select()
      .from(r)
      .where(and(inThisTenant(uow, r), anyOf(r.id, idsOf('wres', ids)))),
  )
  return new Map(rows.map(row => [row.id, row]))
}

/** Throws the AppError of a reservation that was not granted. */
function outcomeOf(
  now: Instant,
  operation: ReserveOperation,
  of: Decided,
  known: ReadonlyMap<string, ShownReservation>,
): Outcome {
  if (of.outcome === 'NO_WALLET') throw walletNotFound(operation.wallet)
  const unit = unitOf(of.unit)
  const { field, quantity } = quantityOf(unit, operation.given, 'reserve')
  const wallet = { resourceId: of.wallet_id, resourceType: 'WALLET' } as const
  switch (of.outcome) {
    case 'RESERVED':
      return { row: newRow(now, operation, of, plain(quantity)), unit }
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

function newRow(at: Instant, operation: ReserveOperation, { wallet_id }: Decided, quantity: string): ShownReservation {
  const now = formatInstant(at)
  return {
    id: idOf('wres', operation.id),
    created_at: now,
    updated_at: now,
    wallet_id: idOf('wall', wallet_id),
    reference: operation.reference,
    quantity,
    status: 'ACTIVE',
    lease_until: leaseUntil(at, operation),
    committed_quantity: null,
    event_reference: null,
  }
}
