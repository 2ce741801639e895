// Who calls is known before the body is read: a stranger is answered 401 whatever the body is, and no memory is spent on it.
import type { FastifyRequest } from 'fastify'
import { type AccessDeps, authenticate, type Caller } from './authenticate.ts'
import type { Permission } from './permissions.ts'

const callers = new WeakMap<FastifyRequest, Caller>()

/** The hook `onRequest` of a route that needs this permission; throws what `authenticate` throws. */
export const authenticateFirst =
  (deps: AccessDeps, permission: Permission) =>
  async (request: FastifyRequest): Promise<void> => {
    callers.set(request, await authenticate(deps, request, permission))
  }

/** The caller that `authenticateFirst` let in. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (!caller) throw new Error('the route does not authenticate first')
  return caller
}
