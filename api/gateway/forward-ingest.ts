// One address answers the whole interface: the ingest calls are passed to the gateway, and its answers back, unchanged. Who
// calls is judged here first, so that a caller without a key never costs the gateway anything.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { Dispatcher } from 'undici'
import { readIngestQuery } from '../../shared/contracts/ingest-query.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { createIngestKeys, type IngestKeys } from '../access/ingest-keys.ts'
import { type AccessDeps, type Caller, challengeOf } from '../http/authenticate.ts'
import { authenticateFirst, callerOf } from '../http/caller.ts'
import { IngestQuery, ingestShapes } from './event-shapes.ts'
import { type CallGateway, createGatewayCaller, type GatewayAnswer } from './gateway-caller.ts'

export type { GatewayAnswer } from './gateway-caller.ts'

/** The gateway's calls, the last three under their other names, with what each takes. */
export const FORWARDED = {
  '/v1/events/ingest': 'SINGLE',
  '/v1/events/ingest-list': 'BATCH',
  '/v1/events/ingest-batch': 'BATCH',
  '/v1/ingest/meter-data': 'SINGLE',
  '/v1/ingest/meter-datas': 'BATCH',
} as const

const PERMISSION = 'METER_DATA.CREATE'

/** What the gateway reads of a request's headers, besides who sends. Nothing else is passed on, whatever its name or number. */
const PASSED_ON = ['content-type', 'content-encoding'] as const
/** Longer values say nothing the gateway takes. */
const VALUE_CHARACTERS_MAX = 100
/** What the gateway's answer says to the caller; the rest is about the connection between the two. */
const PASSED_BACK = ['content-type', 'retry-after', 'x-request-id'] as const

const CLIENT_ABORTED = 'the client went away'

export type GatewayAddress = {
  readonly dispatcher: Dispatcher
  /** What the gateway reads at most. Judged here too: a gateway that refuses a body it has not read cannot always be heard. */
  readonly bodyBytesMax: number
}

/** Sends a body to the gateway under the request's own path, with STATIC validation. */
export type SendToGateway = (body: Buffer) => Promise<GatewayAnswer>
/** Answers a call with meter_validation=DYNAMIC. */
export type DynamicIngest = (request: FastifyRequest, body: Buffer, ask: SendToGateway) => Promise<GatewayAnswer>

/**
 * Predicts what the events of a body cost, before they are stored (cost_prediction=true). What it gives adds the predictions to the
 * gateway's answer, once that has taken them.
 */
export type PredictCosts = (tenant: Tenant, body: Buffer) => Promise<(answer: Buffer) => Buffer>

type Deps = AccessDeps & {
  readonly gateway: GatewayAddress
  readonly ingestDynamically: DynamicIngest
  readonly predictCosts: PredictCosts
  /** The shape of a prediction. */
  readonly costPrediction: TSchema
}

/**
 * Declares the ingest calls. The key, token or user is judged here, before the body is read (contract: Authentication 2 and 3);
 * the gateway limits and validates. Bodies and answers are passed on byte for byte, with the headers that belong to them. No
 * answer from the gateway is 503 with Retry-After.
 */
export async function forwardIngest(app: FastifyInstance, deps: Deps): Promise<void> {
  const { gateway } = deps
  const ingestKeys = createIngestKeys(deps.database)
  const callGateway = createGatewayCaller(gateway.dispatcher)
  await app.register(async scope => {
    scope.removeAllContentTypeParsers()
    // Taken whole and as bytes, whatever its type: it is the gateway's to judge, and a slow sender does not keep it waiting.
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: gateway.bodyBytesMax }, (_request, body, done) =>
      done(null, body),
    )
    // The shapes describe; the gateway is the one that checks.
    scope.setValidatorCompiler(() => () => true)
    scope.addHook('onRequest', authenticateFirst(deps, PERMISSION))
    const shapes = ingestShapes(deps.costPrediction)
    for (const [path, kind] of Object.entries(FORWARDED)) {
      const schema = { ...shapes[kind], querystring: IngestQuery, tags: ['events'], 'x-permission': PERMISSION }
      scope.post(
        path,
        { config: { permission: PERMISSION, limitedByEvents: true }, schema },
        async (request, reply) => {
          const caller = callerOf(request)
          const sender = senderOf(ingestKeys, request, caller)
          return answer(deps, { path, sender, callGateway, tenant: caller.tenant }, request, reply)
        },
      )
    }
  })
}

/** With which key the gateway is called, and what is done about one it does not take. */
type Sender = {
  key(): Promise<string>
  /** Whether the gateway is called again with another key. */
  refused(): boolean
}

/** A key that acts for itself is passed on; everyone else is sent with a key of the api's own. */
function senderOf(ingestKeys: IngestKeys, request: FastifyRequest, caller: Caller): Sender {
  const key = request.headers['x-api-key']
  if (typeof key === 'string' && caller.impersonatedUserId === null)
    return { key: async () => key, refused: () => false }
  return ownSender(ingestKeys, caller.tenant)
}

/** The api's own key. One that was revoked meanwhile is replaced once. */
function ownSender(ingestKeys: IngestKeys, tenant: Tenant): Sender {
  let used: string | null = null
  let replaced = false
  return {
    key: async () => {
      used = await ingestKeys.keyOf(tenant)
      return used
    },
    refused: () => {
      if (replaced || used === null) return false
      ingestKeys.drop(tenant, used)
      replaced = true
      return true
    },
  }
}

async function answer(
  { ingestDynamically, predictCosts, tokens }: Deps,
  { path, sender, callGateway, tenant }: { path: string; sender: Sender; callGateway: CallGateway; tenant: Tenant },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { isDynamic, isPredicted } = readIngestQuery(queryOf(request), true)
  const abort = new AbortController()
  const onClose = () => abort.abort(new Error(CLIENT_ABORTED))
  reply.raw.once('close', onClose)
  try {
    const others = passedOn(request)
    const ask = async (body: Buffer | null): Promise<GatewayAnswer> => {
      const call = { path, body, signal: abort.signal }
      const first = await callGateway({ ...call, headers: [...others, 'x-api-key', await sender.key()] })
      if (first.status !== 401 || !sender.refused()) return first
      return await callGateway({ ...call, headers: [...others, 'x-api-key', await sender.key()] })
    }
    const body = request.body instanceof Buffer ? request.body : null
    const withPredictions = isPredicted && body !== null ? await predictCosts(tenant, body) : null
    const answered = isDynamic && body !== null ? await ingestDynamically(request, body, ask) : await ask(body)
    for (const name of PASSED_BACK) {
      const value = answered.headers[name]
      if (value !== undefined) reply.header(name, value)
    }
    // The gateway does not know of tokens; a client that calls here can get one.
    const { challenge } = challengeOf(tokens)
    if (answered.status === 401 && challenge !== undefined) reply.header('www-authenticate', challenge)
    const isTaken = answered.status === 201 && withPredictions !== null
    return await reply.status(answered.status).send(isTaken ? withPredictions(answered.body) : answered.body)
  } finally {
    reply.raw.off('close', onClose)
  }
}

/** The query as it was sent, without its question mark. */
function queryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** Names and values in turn. */
function passedOn(request: FastifyRequest): string[] {
  return PASSED_ON.flatMap(name => {
    const value = request.headers[name]
    return typeof value === 'string' ? [name, value.slice(0, VALUE_CHARACTERS_MAX)] : []
  })
}
