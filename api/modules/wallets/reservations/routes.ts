// Authorise and capture: reserve part of a wallet before a use, and commit or release it afterwards.
import { and, eq } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { looksLikeId, newId } from '../../../../shared/ids.ts'
import { IdParams } from '../../../http/params.ts'
import { actionRoute, type RouteDeps, readRoute } from '../../../http/route.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { walletReservations } from '../table.ts'
import { unitOf, type WalletUnit } from '../unit.ts'
import { walletResource } from '../wallet.ts'
import { walletTypeResource } from '../wallet-type.ts'
import { createReservationBatcher } from './reservation-batcher.ts'
import type { ShownReservation } from './run-batch.ts'
import { CommitBody, leaseMs, Reservation, ReserveBody } from './schema.ts'

const ReservationParams = Type.Object(
  { ...IdParams.properties, reservation: Type.String({ minLength: 1, maxLength: 255 }) },
  { additionalProperties: false },
)

function reservationView(row: ShownReservation, unit: WalletUnit): object {
  const money = (quantity: string | null) =>
    quantity === null || unit.kind === 'CREDITS' ? null : { quantity, currency: unit.currency }
  const credits = (quantity: string | null) =>
    quantity === null || unit.kind === 'AMOUNT' ? null : { quantity, credit_type_id: unit.creditTypeId }
  return {
    object_type: 'WALLET_RESERVATION',
    id: row.id,
    wallet_id: row.wallet_id,
    reference: row.reference,
    status: row.status,
    amount: money(row.quantity),
    credits: credits(row.quantity),
    committed_amount: money(row.committed_quantity),
    committed_credits: credits(row.committed_quantity),
    event_reference: row.event_reference,
    lease_until: row.lease_until,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export function reservationRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const batcher = createReservationBatcher(deps)
  const url = '/v1/wallets/:id/reservations'
  const about = { tag: walletResource.path, method: 'POST', response: Reservation } as const
  const own = { ...about, url: `${url}/:reservation`, params: ReservationParams, status: 200 } as const
  actionRoute(app, deps, {
    ...about,
    permission: 'WALLET_RESERVATION.CREATE',
    summary: 'Reserve part of a wallet before a use, or be refused at once.',
    url,
    params: IdParams,
    body: ReserveBody,
    status: 201,
    handle: async ({ tenant, actor }, { params, body }) => {
      const { reference, lease, customer_id: customerId = null, ...given } = body
      const of = { actor, wallet: params.id, reference, given, customerId, leaseMs: leaseMs(lease ?? undefined) }
      const { row, unit } = await batcher.submit(tenant, { kind: 'RESERVE', id: newId('wres'), ...of })
      return reservationView(row, unit)
    },
  })
  actionRoute(app, deps, {
    ...own,
    permission: 'WALLET_RESERVATION.UPDATE',
    summary: 'Spend what was reserved, in whole or in part; the rest is released.',
    url: `${own.url}/commit`,
    body: CommitBody,
    handle: async ({ tenant, actor }, { params, body }) => {
      const { event_reference, ...given } = body
      const of = {
        actor,
        wallet: params.id,
        reservation: params.reservation,
        given,
        eventReference: event_reference ?? null,
      }
      const { row, unit } = await batcher.submit(tenant, { kind: 'COMMIT', ...of })
      return reservationView(row, unit)
    },
  })
  actionRoute(app, deps, {
    ...own,
    permission: 'WALLET_RESERVATION.UPDATE',
    summary: 'Release what was reserved: nothing is spent.',
    url: `${own.url}/release`,
    handle: async ({ tenant, actor }, { params }) => {
      const of = { actor, wallet: params.id, reservation: params.reservation }
      const { row, unit } = await batcher.submit(tenant, { kind: 'RELEASE', ...of })
      return reservationView(row, unit)
    },
  })
  readRoute(app, deps, {
    ...own,
    method: 'GET',
    permission: 'WALLET_RESERVATION.VIEW',
    summary: 'Read a reservation.',
    handle: async (uow, { params }) => {
      const wallet = await getOne(uow, walletResource, params.id)
      const r = walletReservations
      const name = looksLikeId(params.reservation) ? r.id : r.reference
      const [row] = await uow.tx
        .select()
        .from(r)
        .where(and(inThisTenant(uow, r), eq(r.wallet_id, wallet.id), eq(name, params.reservation)))
      if (row) return reservationView(row, unitOf(await getOne(uow, walletTypeResource, wallet.wallet_type_id)))
      const message = `The wallet has no WALLET_RESERVATION ${JSON.stringify(params.reservation)}.`
      throw new AppError('RESOURCE_NOT_FOUND', message, { resourceType: 'WALLET_RESERVATION' })
    },
  })
}
