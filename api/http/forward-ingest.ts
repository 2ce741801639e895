// One address answers the whole interface: the ingest calls are passed to the gateway, and its answers back, unchanged.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { AppError } from '../../shared/errors.ts'
import { BATCH, SINGLE } from './event-shapes.ts'

/** The gateway's calls, the last three under their other names, with what each takes. */
export const FORWARDED = {
  '/v1/events/ingest': SINGLE,
  '/v1/events/ingest-list': BATCH,
  '/v1/events/ingest-batch': BATCH,
  '/v1/ingest/meter-data': SINGLE,
  '/v1/ingest/meter-datas': BATCH,
} as const

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

const ANSWER_TIMEOUT_MS = 30_000
const CLIENT_ABORTED = 'the client went away'

export type GatewayAddress = {
  readonly dispatcher: Dispatcher
  /** What the gateway reads at most. Judged here too: a gateway that refuses a body it has not read cannot always be heard. */
  readonly bodyBytesMax: number
}

/**
 * Declares the ingest calls. The gateway authenticates, limits and validates them; bodies and answers are passed on byte for
 * byte, headers in their order and as often as they came. No answer from the gateway is 503 with Retry-After.
 */
export async function forwardIngest(app: FastifyInstance, gateway: GatewayAddress): Promise<void> {
  await app.register(async scope => {
    scope.removeAllContentTypeParsers()
    // Taken whole and as bytes, whatever its type: it is the gateway's to judge, and a slow sender does not keep it waiting.
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: gateway.bodyBytesMax }, (_request, body, done) =>
      done(null, body),
    )
    // The shapes describe; the gateway is the one that checks.
    scope.setValidatorCompiler(() => () => true)
    for (const [url, shapes] of Object.entries(FORWARDED)) {
      scope.post(
        url,
        { config: { permission: 'METER_DATA.CREATE' }, schema: { ...shapes, tags: ['events'] } },
        (request, reply) => forward(gateway.dispatcher, request, reply),
      )
    }
  })
}

async function forward(gateway: Dispatcher, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const abort = new AbortController()
  const onClose = () => abort.abort(new Error(CLIENT_ABORTED))
  reply.raw.once('close', onClose)
  try {
    const answer = await gateway.request({
      method: 'POST',
      path: request.raw.url ?? request.url,
      headers: passedOn(request.raw.rawHeaders),
      body: request.body instanceof Buffer ? request.body : null,
      signal: abort.signal,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    })
    const body = Buffer.from(await answer.body.arrayBuffer())
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !HOP_BY_HOP.has(name)) reply.header(name, value)
    }
    return await reply.status(answer.statusCode).send(body)
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', 'The gateway does not answer; send the events again.', {
      retryAfterSeconds: 1,
      cause,
    })
  } finally {
    reply.raw.off('close', onClose)
  }
}

/** Names and values in turn, without those of this connection and those its Connection header names. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const pairs: [string, string][] = []
  for (let index = 0; index < rawHeaders.length; index += 2)
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''])
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
  const dropped = new Set([...HOP_BY_HOP, ...named])
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat()
}
