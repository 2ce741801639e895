// What every answer has in common, whatever it is about: headers that keep it private and harmless, a tag, and compression.

import { hash } from 'node:crypto'
import compress from '@fastify/compress'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { isKnown } from './pages/static-answers.ts'

/** Smaller answers fit a packet or two as they are. */
const COMPRESSED_FROM_BYTES = 2_048

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
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...ANSWER_HEADERS, 'x-request-id': request.id })
    refuseEncodedBody(request)
  })
  app.addHook('onSend', async (request, reply, payload) => tagged(request, reply, payload))
  await app.register(compress, { encodings: ['gzip'], threshold: COMPRESSED_FROM_BYTES, globalDecompression: false })
}

function refuseEncodedBody({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.')
}

/** A read that was answered before with the same body is answered 304 to a client that says so. */
function tagged(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead || reply.statusCode !== 200 || typeof payload !== 'string' || reply.hasHeader('etag')) return payload
  const tag = `W/"${hash('sha1', payload, 'base64url')}"`
  reply.header('etag', tag)
  if (!isKnown(request, tag)) return payload
  reply.status(304).removeHeader('content-length').removeHeader('content-type')
  return ''
}
