// The signed-in user of a browser.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts'
import { endSession, findSession, type Session } from './session-store.ts'

const COOKIE = 'sid'
const TOKEN = /^[\w-]{43}$/

/** The session of this browser, or null when nobody is signed in. */
export async function sessionOf(database: Database, request: FastifyRequest): Promise<Session | null> {
  const token = readCookie(request, COOKIE)
  if (token === null || !TOKEN.test(token)) return null
  return await asSystem(database, 'identity', tx => findSession(tx, token))
}

/** Ends the session of this browser, if it has one. The cookie is another matter. */
export async function endBrowserSession(database: Database, request: FastifyRequest): Promise<void> {
  const session = await sessionOf(database, request)
  if (session) await asSystem(database, 'identity', tx => endSession(tx, session.id))
}

/** Hands the browser its new session. */
export const setSessionCookie = (reply: FastifyReply, token: string): void => setCookie(reply, COOKIE, token)

/** Makes the browser forget its session. */
export const clearSessionCookie = (reply: FastifyReply): void => clearCookie(reply, COOKIE)
