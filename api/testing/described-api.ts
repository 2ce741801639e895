// The API description without servers: the routes are declared, and nothing is called.
import type { FastifyInstance } from 'fastify'
import { Agent } from 'undici'
import { silentLogger } from '../../shared/logger.ts'
import { buildApp } from '../app.ts'
import { isObject, type JsonObject } from '../description/json.ts'

/** The whole api, ready, with nothing behind it. Close it with `close`. */
export async function startWithoutServers(): Promise<{ app: FastifyInstance; close(): Promise<void> }> {
  const absent = new Proxy({}, { get: (_target, name) => (name === 'then' ? undefined : () => undefined) })
  const dispatcher = new Agent()
  const app = await buildApp({
    logger: silentLogger,
    database: absent,
    keys: absent,
    powers: absent,
    usage: absent,
    events: absent,
    outbound: absent,
    tokens: absent,
    files: { fileBytesMax: 1, storageBytesMax: 1 },
    gateway: { dispatcher, bodyBytesMax: 262_144 },
    addresses: { baseUrl: 'http://127.0.0.1:8080', identityUrl: 'http://127.0.0.1:8081' },
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

/** Made once in each process: to describe all routes takes a second of processor time. */
let text: Promise<string> | null = null

/** The published description of the whole api, a copy for each caller. */
export async function describedApi(): Promise<JsonObject> {
  text ??= describe()
  const description: unknown = JSON.parse(await text)
  if (!isObject(description)) throw new Error('there is no description')
  return description
}

async function describe(): Promise<string> {
  const { app, close } = await startWithoutServers()
  const description = JSON.stringify(app.swagger())
  await close()
  return description
}
