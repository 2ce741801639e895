// The api with nothing behind it: its routes are declared, and those that need no server answer.
import type { FastifyInstance } from 'fastify'
import { Agent } from 'undici'
import { silentLogger } from '../shared/process/logger.ts'
import { buildApp } from './app.ts'

export type WithoutServers = { readonly app: FastifyInstance; close(): Promise<void> }

/** The whole api at `baseUrl`, ready. Close it with `close`. */
export async function startWithoutServers(baseUrl: string): Promise<WithoutServers> {
  const absent = new Proxy({}, { get: (_target, name) => (name === 'then' ? undefined : () => undefined) })
  const dispatcher = new Agent()
  const app = await buildApp({
    logger: silentLogger,
    database: absent,
    keys: absent,
    permissionCache: absent,
    usage: absent,
    events: absent,
    outbound: absent,
    tokens: absent,
    files: { fileBytesMax: 1, storageBytesMax: 1 },
    gateway: { dispatcher, bodyBytesMax: 262_144 },
    addresses: { baseUrl, identityUrl: 'http://127.0.0.1:8081' },
  } as unknown as Parameters<typeof buildApp>[0])
  await app.ready()
  return {
    app,
    close: async () => {
      await app.close()
      await dispatcher.close()
    },
  }
}
