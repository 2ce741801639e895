// `copy` and `migrate` of a schedule.
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { listOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { IdText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { viewOf } from '../../../resource/views.ts'
import { NeighbourQuery, neighboursOf } from '../schedules/neighbour-query.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { VersionSelector } from '../schema.ts'
import { INDEXING_MEMBERS, type Indexing } from './indexing.ts'
import { type CouponBehaviour, copySchedule, migrateSchedule, type Span } from './succeed-schedule.ts'

export const CouponDiscountBehaviour = Optional(OneOf('NONE', 'CARRY_OVER'))
const Realign = Optional(Nullable(Type.Boolean()))
const CopyBody = Shape(
  {
    start_at: Optional(Timestamp),
    end_at: Optional(Nullable(Timestamp)),
    realign_invoice_date_to_pricing_plan_schedule_start_at: Realign,
    coupon_discount_behaviour: CouponDiscountBehaviour,
    ...INDEXING_MEMBERS,
  },
  { title: 'PricingPlanScheduleCopy' },
)
const MigrateBody = Shape(
  {
    start_at: Optional(Timestamp),
    end_at: Optional(Nullable(Timestamp)),
    pricing_plan_version_id: Optional(IdText('pricing plan version')),
    pricing_plan_version_selector: Optional(VersionSelector),
    realign_invoice_date_to_pricing_plan_schedule_start_at: Realign,
    coupon_discount_behaviour: CouponDiscountBehaviour,
  },
  { title: 'PricingPlanScheduleMigrate' },
)

const SCHEDULE = '/v1/pricing-plan-schedules/:id'
const onSchedule = {
  tag: scheduleResource.path,
  permission: 'PRICING_PLAN_SCHEDULE.CREATE' as const,
  method: 'POST' as const,
  status: 201 as const,
  params: IdParams,
  query: NeighbourQuery,
  response: scheduleResource.view,
}

export function successionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    ...onSchedule,
    summary: 'Copy a schedule: the same plan version for another time, at the same prices or at indexed ones.',
    url: `${SCHEDULE}/copy`,
    body: CopyBody,
    handle: async (uow, { params, query, body }) => {
      const row = await copySchedule(
        uow,
        params.id,
        normalizeTimes(CopyBody, body) as Span & CouponBehaviour & Indexing,
        neighboursOf(query),
      )
      return await viewOf(uow, scheduleResource, row, listOf(query['expand[]'] as string | string[] | undefined))
    },
  })
  writeRoute(app, deps, {
    ...onSchedule,
    summary: 'Move a subscription to another plan version: a draft schedule that comes after this one.',
    url: `${SCHEDULE}/migrate`,
    body: MigrateBody,
    handle: async (uow, { params, query, body }) => {
      const given = normalizeTimes(MigrateBody, body) as Static<typeof MigrateBody>
      const row = await migrateSchedule(uow, params.id, given, neighboursOf(query))
      return await viewOf(uow, scheduleResource, row, listOf(query['expand[]'] as string | string[] | undefined))
    },
  })
}
