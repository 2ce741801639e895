// Cookies of the identity host. All are `__Host-`: Secure, this host alone, the whole of it, and out of reach of scripts.
import type { FastifyReply, FastifyRequest } from 'fastify'

const PREFIX = '__Host-'

/** The value of one of our cookies, or null. */
export const readCookie = (request: FastifyRequest, name: string): string | null =>
  request.cookies[PREFIX + name] ?? null

/** Sets one of our cookies; without `maxAgeSeconds` it lives as long as the browser's session. */
export function setCookie(reply: FastifyReply, name: string, value: string, maxAgeSeconds?: number): void {
  reply.setCookie(PREFIX + name, value, {
    path: '/',
    secure: true,
    httpOnly: true,
    sameSite: 'lax',
    ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
  })
}

/** Takes one of our cookies away. */
export const clearCookie = (reply: FastifyReply, name: string): void => setCookie(reply, name, '', 0)
