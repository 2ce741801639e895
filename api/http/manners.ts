// What every answer has in common, whatever it is about: headers that keep it private and harmless, a tag, and compression.
import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { atOnce } from '../../shared/http/at-once.ts'
import { AT_ONCE_CHARACTERS_MAX } from './body/send-in-parts.ts'
import { isKnown, takes } from './pages/static-answers.ts'

/** Smaller answers fit a packet or two as they are. */
const COMPRESSED_FROM_BYTES = 2_048
const BYTES_FROM_CHARACTERS = 16_384
/** A tenth larger than by the usual level, at less than half its price. */
const AT_ONCE = { level: 1 } as const

/** Headers of every answer. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  // Tenants' data; what is the same for everyone says otherwise.
  'cache-control': 'no-store',
}

/** Adds the hooks. Call before any route is declared. */
export async function httpManners(app: FastifyInstance): Promise<void> {
  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.headers({ 'x-request-id': request.id, ...ANSWER_HEADERS })
    refuseEncodedBody(request)
  }
  app.addHook('onRequest', atOnce(begin))
  app.addHook('onSend', (request, reply, payload, done) => done(null, finished(request, reply, payload)))
  await app.register(compress, { encodings: ['gzip'], threshold: COMPRESSED_FROM_BYTES, globalDecompression: false })
}

/** A text of the answer with its tag, and compressed. */
function finished(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (typeof payload !== 'string') return payload
  // Tag, length, compression and the connection would each make bytes of a long text anew. A short one leaves in one piece with its headers.
  const body = payload.length < BYTES_FROM_CHARACTERS ? payload : Buffer.from(payload)
  if (isKnownBy(request, reply, body)) return ''
  return payload.length > AT_ONCE_CHARACTERS_MAX ? body : compressed(request, reply, body)
}

/** The answer as gzip when that is worth it at once; what is larger, or goes to a client that takes other encodings, is left to the plugin. */
function compressed(request: FastifyRequest, reply: FastifyReply, payload: string | Buffer): string | Buffer {
  if (payload.length < COMPRESSED_FROM_BYTES) return payload
  if (request.method === 'HEAD' || reply.hasHeader('content-encoding') || !takes(request, 'gzip')) return payload
  if (!String(reply.getHeader('content-type')).startsWith('application/json')) return payload
  const body = gzipSync(payload, AT_ONCE)
  reply.headers({ 'content-encoding': 'gzip', vary: 'accept-encoding', 'content-length': body.length })
  return body
}

function refuseEncodedBody({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.')
}

/** Tags a read; one that was answered before with the same body is answered 304 to a client that says so. */
function isKnownBy(request: FastifyRequest, reply: FastifyReply, payload: string | Buffer): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead || reply.statusCode !== 200 || reply.hasHeader('etag')) return false
  const tag = `W/"${hash('sha1', payload, 'base64url')}"`
  reply.header('etag', tag)
  if (!isKnown(request, tag)) return false
  reply.status(304).removeHeader('content-length').removeHeader('content-type')
  return true
}
