// Hooks that every request passes and that wait for nothing. An async one costs each request a promise and a turn of the queue.
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A hook that does `work`, and refuses the request with what it throws. */
export const atOnce =
  (work: (request: FastifyRequest, reply: FastifyReply) => void) =>
  (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    let refusal: Error | undefined
    try {
      work(request, reply)
    } catch (error) {
      refusal = error as Error
    }
    done(refusal)
  }
