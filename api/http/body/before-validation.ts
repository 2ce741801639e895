// What becomes of a body before its shape is checked: one that may be absent, and one that should be.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { AppError } from '../../../shared/errors.ts'
import { validatorOf } from './validation.ts'

type BodyCheck = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/** The checks of a route that has this body, or none. A body of GET is never read. */
export function bodyChecks({ method, body }: { method: string; body?: TSchema | undefined }): BodyCheck[] {
  if (!body) return method === 'GET' ? [] : [refuseBody]
  return method === 'POST' ? [emptyForAbsent(body)] : []
}

/** A POST that needs no member of its body needs no body. A PATCH without one, and the body `null`, are mistakes. */
const emptyForAbsent =
  (schema: TSchema): BodyCheck =>
  (request, _reply, done) => {
    if (request.body === undefined && validatorOf(schema).Check({})) request.body = {}
    done()
  }

/**
 * Of a call that takes no body, refuses the members of one: an `amount` that is sent to a call that refunds everything must not be
 * ignored. An empty object says as little as no body, and clients send it.
 */
const refuseBody: BodyCheck = ({ body, routeOptions }, _reply, done) => {
  if (routeOptions.config?.streamed || body === undefined || body === null) return done()
  if (typeof body !== 'object' || Array.isArray(body))
    throw new AppError('INVALID_REQUEST', 'This call takes no body. Leave it out.')
  const [name] = Object.keys(body)
  if (name === undefined) return done()
  throw new AppError('INVALID_FIELD', `${name} is not accepted: this call takes no body. Leave it out.`, {
    field: name,
  })
}
