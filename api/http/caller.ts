// Who calls is known before the body is read: a stranger is answered 401 whatever the body is, and no memory is spent on it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AccessDeps, authenticate, type Caller } from './authenticate.ts'
import type { Permission } from './permissions.ts'

const callers = new WeakMap<FastifyRequest, Caller>()

/** The hook `onRequest` of a route that needs this permission; refuses with what `authenticate` throws. */
export const authenticateFirst =
  (deps: AccessDeps, permission: Permission) =>
  (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const letIn = (caller: Caller): void => {
      callers.set(request, caller)
    }
    let caller: Caller | Promise<Caller>
    try {
      caller = authenticate(deps, request, permission)
    } catch (error) {
      done(error as Error)
      return
    }
    if (caller instanceof Promise) {
      caller.then(letIn).then(() => done(), done)
      return
    }
    letIn(caller)
    done()
  }

/** The caller that `authenticateFirst` let in. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (!caller) throw new Error('the route does not authenticate first')
  return caller
}
