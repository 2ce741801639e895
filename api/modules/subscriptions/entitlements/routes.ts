// What a customer may use, in all and by subscription (semantics 2, Reading).
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { Shape } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { CustomerEntitlementsShape } from '../../catalog/features/schema.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { entitlementsOf } from './entitlements-of.ts'

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
}
