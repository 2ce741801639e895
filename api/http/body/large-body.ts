// Bounds what large JSON bodies may hold of this process's memory.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../shared/errors.ts'

const LARGE_BODIES_MAX = 4
/** Below this a body costs no more than those of other calls. */
const LARGE_BYTES = 1_048_576

/** The hook `onRequest` of a route whose bodies have at most `bodyLimit` bytes: SERVICE_UNAVAILABLE while many large ones arrive. */
export function boundLargeBodies(bodyLimit: number) {
  let arriving = 0
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (Number(request.headers['content-length'] ?? bodyLimit) <= LARGE_BYTES) return
    if (arriving >= LARGE_BODIES_MAX) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many large bodies are arriving at once; send it again.', {
        retryAfterSeconds: 2,
      })
    }
    arriving += 1
    reply.raw.once('close', () => {
      arriving -= 1
    })
  }
}
