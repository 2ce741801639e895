// The API description without servers: the routes are declared, and nothing is called.
import { isObject, type JsonObject } from '../description/json.ts'
import { startWithoutServers } from '../without-servers.ts'

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
  const { app, close } = await startWithoutServers('http://127.0.0.1:8080')
  const description = JSON.stringify(app.swagger())
  await close()
  return description
}
