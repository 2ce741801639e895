// Calls of the event interface that come with later work. They are refused by name: a sender must not take silence, or a
// path that is not there, for an answer.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'

const LATER = {
  '/v1/events/calculate': 'Cost prediction is not supported by this release; nothing was stored or priced.',
} as const

/** Registers them. */
export function laterOperations(app: FastifyInstance, deps: RouteDeps): void {
  for (const [url, message] of Object.entries(LATER)) {
    actionRoute(app, deps, {
      permission: 'METER_DATA.CREATE',
      tag: 'events',
      summary: `Not supported: always refused.`,
      method: 'POST',
      status: 201,
      url,
      response: Type.Object({}),
      handle: () => Promise.reject(new AppError('INVALID_OPERATION', message)),
    })
  }
}
