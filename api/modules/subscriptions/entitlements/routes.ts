// What a customer, or all customers of a platform, may use, in all and by subscription (semantics 2, Reading).
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { Shape } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { CustomerEntitlementsShape } from '../../catalog/features/schema.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import { entitlementsOf, entitlementsOfPlatform } from './entitlements-of.ts'

export function entitlementRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    tag: customerResource.path,
    permission: 'CUSTOMER.VIEW',
    summary: 'Read what a customer is entitled to now, in total and by subscription.',
    method: 'GET',
    url: '/v1/customers/:id/entitlements',
    params: Shape({ id: Type.String({ minLength: 1, maxLength: 255 }) }),
    response: CustomerEntitlementsShape,
    handle: async (uow, { params }) => {
      const customer = await getOne(uow, customerResource, params.id)
      return await entitlementsOf(uow, customer.id)
    },
  })
  readRoute(app, deps, {
    tag: platformResource.path,
    permission: 'PLATFORM.VIEW',
    summary: 'Read what all customers of a platform are entitled to now, in total and by subscription.',
    method: 'GET',
    url: '/v1/platforms/:id/entitlements',
    params: IdParams,
    response: CustomerEntitlementsShape,
    handle: async (uow, { params }) => {
      await getOne(uow, platformResource, params.id)
      return await entitlementsOfPlatform(uow)
    },
  })
}
