// How a route is declared: what it is, who may, its shapes, and a handler that is a function of (unit of work, request).
// The ground around it authenticates, opens exactly one transaction, answers repeats of an Idempotency-Key, and serializes.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import {
  type Actor,
  type Database,
  inTenant,
  type ReadUow,
  readTenant,
  readTenantAtOnce,
  type Uow,
} from '../../shared/database/database.ts'
import type { Failpoints } from '../../shared/failpoint.ts'
import { once } from '../../shared/memory/once.ts'
import { inTurns } from '../../shared/process/in-turns.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { Shape } from '../resource/shapes.ts'
import { inTimeOfRequest } from '../test-clock/request-time.ts'
import { type Action, type ActionDeps, type Answer, type DeclaredAction, runAction } from './actions/action.ts'
import type { AccessDeps, Caller } from './authenticate.ts'
import { bodyChecks } from './body/before-validation.ts'
import { boundLargeBodies } from './body/large-body.ts'
import { sendInParts } from './body/send-in-parts.ts'
import { serializerCompiler } from './body/serialization.ts'
import { partsWriter } from './body/write-in-parts.ts'
import { authenticateFirst, callerOf } from './caller.ts'
import { answerOf, isDryRun, rollBack } from './dry-run.ts'
import { findStoredAnswer, type Reservation, reservationOf, storeAnswer } from './idempotency/idempotency.ts'
import type { Permission } from './permissions.ts'
import type { ReadTurns } from './read-turns.ts'

export type RouteDeps = AccessDeps & {
  /** Limits the reads of one tenant that run at once; absent: no limit. */
  readonly readTurns?: ReadTurns
  /** Named points where a fault test stops the process. */
  readonly failpoint?: Failpoints
}

type Of<S extends TSchema | undefined> = S extends TSchema ? Static<S> : undefined
type Input<P extends TSchema | undefined, Q extends TSchema | undefined, B extends TSchema | undefined> = {
  readonly params: Of<P>
  readonly query: Of<Q>
  readonly body: Of<B>
}

type Shapes<P extends TSchema | undefined, Q extends TSchema | undefined, B extends TSchema | undefined> = {
  readonly url: string
  readonly permission: Permission
  /** One sentence for the API description. */
  readonly summary: string
  readonly tag: string
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** What a success answers. */
  readonly response: TSchema
  /** For the few calls that take a large body: its sender is known before it is read, and only a few are read at a time. */
  readonly bodyBytesMax?: number
}

/** Declares a read: GET, or a POST that changes nothing. Runs in a read-only snapshot. */
export function readRoute<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  app: FastifyInstance,
  deps: RouteDeps,
  spec: Shapes<P, Q, B> & {
    method: 'GET' | 'POST'
    /** Whether it sends all its queries before it waits for an answer. Default false. */
    isPipelined?: (input: Input<P, Q, B>, tenant: Tenant) => boolean
    handle: (uow: ReadUow, input: Input<P, Q, B>) => Promise<unknown>
  },
): void {
  app.route({
    ...declaration(deps, spec, 200),
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const input = inputOf<P, Q, B>(request)
      const readIt = spec.isPipelined?.(input, caller.tenant) ? readTenantAtOnce : readTenant
      const readNow = (actor: Actor) =>
        inTimeOfRequest(deps, caller, request, () =>
          readIt(deps.database, caller.tenant, uow => spec.handle(uow, input), actor),
        )
      const { readTurns } = deps
      const read = (actor: Actor) => (readTurns ? readTurns.run(caller.tenant, () => readNow(actor)) : readNow(actor))
      const write = async (actor: Actor) => serializerCompiler({ schema: spec.response })(await read(actor))
      const keyed = await answerOnce(deps, { request, caller, status: 200 }, write)
      if (keyed) return await send(reply, keyed)
      return await reply.status(200).send(await read(actorOf(caller, request, null)))
    },
  })
}

/** Declares a change: one unit of work; a POST honours Idempotency-Key. `status` may depend on the outcome. */
export function writeRoute<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  app: FastifyInstance,
  deps: RouteDeps,
  spec: Shapes<P, Q, B> & {
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
    status: 200 | 201
    /** What a repeat of the Idempotency-Key is answered instead, where the answer holds what is shown once and never stored. */
    repeatOf?: (answer: unknown) => object
    /** What is done before the unit of work, or between two tries of it: it may ask others, as `handle` may not. */
    around?: <T>(tenant: Tenant, work: () => Promise<T>) => Promise<T>
    handle: (uow: Uow, input: Input<P, Q, B>, setStatus: (status: 200 | 201) => void) => Promise<unknown>
  },
): void {
  app.route({
    ...declaration(deps, spec, spec.status, { dryRun: true }),
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const { tenant } = caller
      const dryRun = isDryRun(request)
      const reservation = spec.method === 'POST' && !dryRun ? reservationOf(request) : null
      const actor = actorOf(caller, request, reservation?.key ?? null)
      let replayed = false
      const change = async (uow: Uow) => {
        const stored = reservation === null ? null : await findStoredAnswer(uow, reservation)
        replayed = stored !== null
        if (stored) return stored
        let status: number = spec.status
        const view = await spec.handle(uow, inputOf(request), chosen => {
          status = chosen
        })
        const textOf = (answer: unknown): string =>
          reply.serializeInput(answer as Record<string, unknown>, String(status)) as string
        const toRepeat = spec.repeatOf?.(view) ?? view
        // What is shown once is shown of what there is.
        if (dryRun) return await rollBack(uow, { status, body: textOf(toRepeat) })
        const fresh = { status, body: textOf(view) }
        if (reservation !== null) await storeAnswer(uow, reservation, { status, body: textOf(toRepeat) })
        await deps.failpoint?.('api.before-commit')
        return fresh
      }
      const once = () => inTenant(deps.database, tenant, actor, change)
      const work = inTimeOfRequest(deps, caller, request, () => spec.around?.(tenant, once) ?? once())
      const answer = await answerOf(work)
      if (dryRun) reply.header('x-dry-run', 'true')
      await deps.failpoint?.('api.after-commit')
      if (spec.repeatOf) reply.header('cache-control', 'no-store')
      return await send(reply, { replayed, ...answer })
    },
  })
}

/** Who acts, and by what, for the audit trail. */
export const actorOf = (
  { actorId, impersonatedUserId, credentialId, may }: Caller,
  request: FastifyRequest,
  idempotencyKey: string | null,
): Actor => ({
  id: actorId,
  impersonatedUserId,
  credentialId,
  may,
  requestId: request.id,
  ip: request.ip,
  idempotencyKey,
})

export type ActionContext = { readonly tenant: Tenant; readonly actor: Actor; readonly database: Database }

/**
 * Declares a command that must leave the database in between (to read usage, to render) and has no effect outside: it opens its own
 * units of work. A POST honours Idempotency-Key; it must be safe to run again after a crash. What has effects outside is an
 * `intentRoute`.
 */
export function actionRoute<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  app: FastifyInstance,
  deps: RouteDeps,
  spec: Shapes<P, Q, B> & {
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
    status: 200 | 201
    /** Names of members of the answer, each an object or a list of objects, that may have megabytes: they are written part by part. */
    large?: readonly string[]
    handle: (context: ActionContext, input: Input<P, Q, B>, reply: FastifyReply) => Promise<unknown>
  },
): void {
  const { large } = spec
  const inParts = large && once(() => partsWriter(spec.response, new Set(large)))
  const write = async (answer: unknown): Promise<string> =>
    inParts ? (await inTurns(inParts()(answer))).join('') : serializerCompiler({ schema: spec.response })(answer)
  app.route({
    ...declaration(deps, spec, spec.status),
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const run = (actor: Actor) =>
        inTimeOfRequest(deps, caller, request, () =>
          spec.handle({ tenant: caller.tenant, actor, database: deps.database }, inputOf(request), reply),
        )
      const call = { request, caller, status: spec.status }
      const keyed = await answerOnce(deps, call, async actor => await write(await run(actor)))
      if (keyed) return await send(reply, keyed)
      const answer = await run(actorOf(caller, request, null))
      reply.status(spec.status)
      return inParts ? await sendInParts(reply, await inTurns(inParts()(answer))) : await reply.send(answer)
    },
  })
}

/**
 * Declares an action: `begin` checks and says what is meant, in the transaction that reserves the Idempotency-Key; `action` does it
 * and settles it once, whichever process finishes it (api/http/actions/action.ts).
 */
export function intentRoute<
  I,
  D extends ActionDeps,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  app: FastifyInstance,
  deps: RouteDeps & D,
  spec: Omit<Shapes<P, Q, B>, 'response'> & {
    action: DeclaredAction<D, I>
    begin: (uow: Uow, input: Input<P, Q, B>) => Promise<I>
  },
): void {
  const { action, begin } = spec
  app.route({
    ...declaration(deps, { ...spec, method: 'POST', response: action.response }, action.status),
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const reservation = reservationOf(request)
      const of = { tenant: caller.tenant, actor: actorOf(caller, request, reservation.key), reservation }
      return await send(reply, await runAction(deps, of, action, uow => begin(uow, inputOf(request))))
    },
  })
}

type Once = {
  readonly request: FastifyRequest
  readonly caller: Caller
  readonly status: 200 | 201
}

/** The answer of a POST with an Idempotency-Key and without effects outside, which `run` writes, or the stored one; null for any other call. */
async function answerOnce(
  deps: RouteDeps,
  { request, caller, status }: Once,
  run: (actor: Actor) => Promise<string>,
): Promise<Answer | null> {
  const reservation: Reservation | null = request.method === 'POST' ? reservationOf(request) : null
  if (!reservation || reservation.key === null) return null
  const actor = actorOf(caller, request, reservation.key)
  const action: Action<RouteDeps, null> = {
    name: null,
    status,
    perform: async () => {
      const answer = await run(actor)
      return () => Promise.resolve(answer)
    },
  }
  return await runAction(deps, { tenant: caller.tenant, actor, reservation }, action, () => Promise.resolve(null))
}

async function send(reply: FastifyReply, { status, body, replayed }: Answer): Promise<FastifyReply> {
  if (replayed) reply.header('idempotent-replayed', 'true')
  return await sendInParts(reply.status(status), [body])
}

function declaration(
  deps: AccessDeps,
  spec: Shapes<TSchema | undefined, TSchema | undefined, TSchema | undefined> & { method: string },
  status: number,
  more: { readonly dryRun?: true } = {},
) {
  const first = authenticateFirst(deps, spec.permission)
  return {
    method: spec.method as 'GET',
    url: spec.url,
    ...(spec.bodyBytesMax === undefined
      ? { onRequest: [first] }
      : { bodyLimit: spec.bodyBytesMax, onRequest: [first, boundLargeBodies(spec.bodyBytesMax)] }),
    preValidation: bodyChecks(spec),
    config: { permission: spec.permission, ...more },
    schema: {
      summary: spec.summary,
      tags: [spec.tag],
      'x-permission': spec.permission,
      ...(more.dryRun ? { 'x-dry-run': true } : {}),
      ...(spec.params ? { params: spec.params } : {}),
      // What a call does not take is refused, not ignored, also where it takes nothing.
      querystring: spec.query ?? NO_QUERY,
      ...(spec.body ? { body: spec.body } : {}),
      response: { [status]: spec.response, ...(status === 201 ? { 200: spec.response } : {}) },
    },
  }
}

const NO_QUERY = Shape({})

// Fastify has validated each part against the very schema its type comes from.
const inputOf = <P extends TSchema | undefined, Q extends TSchema | undefined, B extends TSchema | undefined>(
  request: FastifyRequest,
): Input<P, Q, B> => ({ params: request.params, query: request.query, body: request.body }) as Input<P, Q, B>
