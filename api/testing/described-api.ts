// The published API description without servers. A whole run of the tests has built these sources, and with them their description; a
// run of single files declares the routes, and calls none.
import { isObject, type JsonObject } from '../description/json.ts'
import { builtReference } from '../http/pages/built-reference.ts'
import { startWithoutServers } from '../without-servers.ts'

const BASE_URL = 'http://127.0.0.1:8080'
/** The description that a whole run of the tests has built; null in a run of single files. infra/test.mjs says which it is. */
export const BUILT_REFERENCE =
  process.env['MILLRACE_BUILT'] === 'true' ? new URL('../../dist/api/reference.json', import.meta.url) : null

/** Made once in each process: to describe all routes takes two seconds of processor time. */
let text: Promise<string> | null = null

/** The published description of the whole api, a copy for each caller. */
export async function describedApi(): Promise<JsonObject> {
  text ??= describe()
  const description: unknown = JSON.parse(await text)
  if (!isObject(description)) throw new Error('there is no description')
  const { 'x-permissions': _permissions, ...published } = description
  return published
}

async function describe(): Promise<string> {
  const built = BUILT_REFERENCE && builtReference(BASE_URL, BUILT_REFERENCE)
  const body = built?.['/v1/openapi.json']?.body
  if (body !== undefined) return body
  const { app, close } = await startWithoutServers(BASE_URL)
  const description = JSON.stringify(app.swagger())
  await close()
  return description
}
