// GET /v1/customers/{id}/entitlements/{feature}: granted, used and left, from memory where it was read a moment ago.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { createShortMemory } from '../../../../shared/memory/short-memory.ts'
import { isTestTime, realTime } from '../../../../shared/test-time.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { Amount, DecimalText, Nullable, Shape, Timestamp } from '../../../resource/shapes.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type EntitlementUse, loadUse, type UseDeps } from './load-use.ts'

/** An answer is read again after the first, while it is given once more, and is never older than the second. */
const REFRESH_MS = 250
const OLDEST_MS = 1_000

const Value = Type.Object({ number: Nullable(DecimalText), amount: Nullable(Amount) }, { title: 'EntitlementUseValue' })
const use = {
  granted: Type.Object(
    {
      number: Nullable(DecimalText),
      switch: Nullable(Type.Boolean()),
      amount: Nullable(Amount),
      enums: Nullable(Type.Array(Type.String())),
      strings: Nullable(Type.Array(Type.String())),
    },
    { title: 'EntitlementUseGranted' },
  ),
  used: Nullable(Value),
  left: Nullable(Value),
  resets_at: Nullable(Timestamp),
}
const Answer = Type.Object(
  {
    customer_id: Type.String(),
    feature_id: Type.String(),
    feature_reference: Type.String(),
    as_of: Timestamp,
    age_ms: Type.Integer(),
    entitlements: Type.Array(Type.Object(use, { title: 'EntitlementUseTotal' })),
    pricing_plan_subscription_entitlements: Type.Array(
      Type.Object({ pricing_plan_subscription_id: Type.String(), ...use }, { title: 'EntitlementUseOfSubscription' }),
    ),
  },
  { title: 'EntitlementUse' },
)
const Key = Type.String({ minLength: 1, maxLength: 255 })

export function entitlementUseRoutes(app: FastifyInstance, deps: RouteDeps & UseDeps): void {
  const { clock } = deps.database
  const remembered = createShortMemory<EntitlementUse>(clock, { ms: OLDEST_MS, refreshMs: REFRESH_MS })
  actionRoute(app, deps, {
    tag: customerResource.path,
    permission: 'CUSTOMER.VIEW',
    summary: 'Read what a customer has of a feature: granted, used, left, and when it resets.',
    method: 'GET',
    status: 200,
    url: '/v1/customers/:id/entitlements/:feature',
    params: Shape({ id: Key, feature: Type.String({ ...Key, description: 'Id or reference of the feature.' }) }),
    response: Answer,
    handle: async ({ tenant }, { params }) => {
      const of = { customer: params.id, feature: params.feature }
      const testTime = isTestTime() ? clock.now() : null
      const key = JSON.stringify([tenant.platformId, tenant.environment, of, testTime])
      const { asOf, ...found } = await remembered(key, () => loadUse(deps, tenant, of))
      return { ...found, as_of: formatInstant(asOf), age_ms: Math.max(0, realTime(clock.now()) - asOf) }
    },
  })
}
