// One address answers the whole interface: the ingest calls are passed to the gateway, and its answers back, unchanged. Whom
// the gateway does not know, the api judges itself, and then sends the events with a key of its own.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { createIngestKeys, type IngestKeys } from '../access/ingest-keys.ts'
import { type AccessDeps, authenticate, challengeOf } from './authenticate.ts'
import { BATCH, IngestQuery, SINGLE } from './event-shapes.ts'

/** The gateway's calls, the last three under their other names, with what each takes. */
export const FORWARDED = {
  '/v1/events/ingest': SINGLE,
  '/v1/events/ingest-list': BATCH,
  '/v1/events/ingest-batch': BATCH,
  '/v1/ingest/meter-data': SINGLE,
  '/v1/ingest/meter-datas': BATCH,
} as const

const PERMISSION = 'METER_DATA.CREATE'

/** Headers of one connection, which say nothing about the next (RFC 9110, 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // Written anew for the body that is sent.
  'content-length',
  // Answered by this server before the body is read.
  'expect',
  'host',
])

/** What says who sends; exchanged for the api's own key. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'x-original-user',
  'x-platform-id',
  'x-environment',
])

const ANSWER_TIMEOUT_MS = 30_000
const CLIENT_ABORTED = 'the client went away'

export type GatewayAddress = {
  readonly dispatcher: Dispatcher
  /** What the gateway reads at most. Judged here too: a gateway that refuses a body it has not read cannot always be heard. */
  readonly bodyBytesMax: number
}

/** What the gateway answered. */
export type GatewayAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}
/** Sends a body to the gateway under the request's own path and headers, with STATIC validation. */
export type AskGateway = (body: Buffer) => Promise<GatewayAnswer>
/** Answers a call with meter_validation=DYNAMIC. */
export type DynamicIngest = (request: FastifyRequest, body: Buffer, ask: AskGateway) => Promise<GatewayAnswer>

type Deps = AccessDeps & { readonly gateway: GatewayAddress; readonly ingestDynamically: DynamicIngest }

/**
 * Declares the ingest calls. The gateway authenticates, limits and validates them; bodies and answers are passed on byte for
 * byte, headers in their order and as often as they came. No answer from the gateway is 503 with Retry-After. A bearer token,
 * and a PROXY key that acts for a user, are judged here (contract: Authentication 2 and 3).
 */
export async function forwardIngest(app: FastifyInstance, deps: Deps): Promise<void> {
  const { gateway } = deps
  const ingestKeys = createIngestKeys(deps.database)
  await app.register(async scope => {
    scope.removeAllContentTypeParsers()
    // Taken whole and as bytes, whatever its type: it is the gateway's to judge, and a slow sender does not keep it waiting.
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: gateway.bodyBytesMax }, (_request, body, done) =>
      done(null, body),
    )
    // The shapes describe; the gateway is the one that checks.
    scope.setValidatorCompiler(() => () => true)
    for (const [url, shapes] of Object.entries(FORWARDED)) {
      const schema = { ...shapes, querystring: IngestQuery, tags: ['events'], 'x-permission': PERMISSION }
      scope.post(url, { config: { permission: PERMISSION }, schema }, async (request, reply) =>
        answer(deps, await senderOf(deps, ingestKeys, request), request, reply),
      )
    }
  })
}

/** With which headers the gateway is asked, and what is done about a credential it does not take. */
type Sender = {
  headers(): Promise<string[]>
  /** Whether the gateway is asked again with other headers. */
  refused(): boolean
}

/** Who sends, as the gateway is told. Throws the refusal of somebody whom the api judges itself. */
async function senderOf(deps: Deps, ingestKeys: IngestKeys, request: FastifyRequest): Promise<Sender> {
  const { rawHeaders } = request.raw
  const { authorization, 'x-api-key': key, 'x-original-user': originalUser } = request.headers
  // A key that acts for itself is the gateway's to judge, and so is a call without any.
  if (originalUser === undefined && (authorization === undefined || key !== undefined)) {
    return { headers: async () => passedOn(rawHeaders), refused: () => false }
  }
  const caller = await authenticate(deps, request, PERMISSION)
  const others = passedOn(rawHeaders, CREDENTIALS)
  if (key !== undefined && caller.impersonatedUserId === null) {
    return { headers: async () => [...others, 'x-api-key', String(key)], refused: () => false }
  }
  return ownSender(ingestKeys, caller.tenant, others)
}

/** The api's own key. One that was ended behind its back is replaced once. */
function ownSender(ingestKeys: IngestKeys, tenant: Tenant, others: readonly string[]): Sender {
  let used: string | null = null
  let replaced = false
  return {
    headers: async () => {
      used = await ingestKeys.keyOf(tenant)
      return [...others, 'x-api-key', used]
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
  { gateway: { dispatcher }, ingestDynamically, tokens }: Deps,
  sender: Sender,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const abort = new AbortController()
  const onClose = () => abort.abort(new Error(CLIENT_ABORTED))
  reply.raw.once('close', onClose)
  try {
    const path = request.raw.url ?? request.url
    const body = request.body instanceof Buffer ? request.body : null
    const asStatic = body === null ? null : withStaticValidation(path)
    const ask = async (to: string, bytes: Buffer | null): Promise<GatewayAnswer> => {
      const of = { path: to, body: bytes, signal: abort.signal }
      const first = await forward(dispatcher, { ...of, headers: await sender.headers() })
      if (first.status !== 401 || !sender.refused()) return first
      return await forward(dispatcher, { ...of, headers: await sender.headers() })
    }
    const {
      status,
      headers,
      body: answered,
    } = body === null || asStatic === null
      ? await ask(path, body)
      : await ingestDynamically(request, body, bytes => ask(asStatic, bytes))
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined && !HOP_BY_HOP.has(name)) reply.header(name, value)
    }
    // The gateway does not know of tokens; a client that asks here can get one.
    const { challenge } = challengeOf(tokens)
    if (status === 401 && challenge !== undefined) reply.header('www-authenticate', challenge)
    return await reply.status(status).send(answered)
  } finally {
    reply.raw.off('close', onClose)
  }
}

const DYNAMIC = /([?&]meter_validation=)DYNAMIC(?=&|$)/
/** The path as the gateway takes it when it asks for DYNAMIC validation, else null. What stands there twice is the gateway's to refuse. */
const withStaticValidation = (path: string): string | null =>
  DYNAMIC.test(path) ? path.replace(DYNAMIC, '$1STATIC') : null

async function forward(
  gateway: Dispatcher,
  of: {
    readonly path: string
    readonly headers: string[]
    readonly body: Buffer | null
    readonly signal: AbortSignal
  },
): Promise<GatewayAnswer> {
  try {
    const { statusCode, headers, body } = await gateway.request({
      method: 'POST',
      path: of.path,
      headers: of.headers,
      body: of.body,
      signal: of.signal,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    })
    return { status: statusCode, headers, body: Buffer.from(await body.arrayBuffer()) }
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', 'The gateway does not answer; send the events again.', {
      retryAfterSeconds: 1,
      cause,
    })
  }
}

/** Names and values in turn, without those of this connection, those its Connection header names, and `also`. */
function passedOn(rawHeaders: readonly string[], also: ReadonlySet<string> = new Set()): string[] {
  const pairs: [string, string][] = []
  for (let index = 0; index < rawHeaders.length; index += 2)
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''])
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
  const dropped = new Set([...HOP_BY_HOP, ...named, ...also])
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat()
}
