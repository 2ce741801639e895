// What the build keeps of the reference (http/pages/built-reference.ts), in the api's own answers.
import type { FastifyInstance } from 'fastify'
import { isObject } from './description/json.ts'
import { referencePaths } from './http/pages/description-routes.ts'
import type { StaticAnswer } from './http/pages/static-answers.ts'

/** The answers of `app` at the paths of the reference, as JSON. Throws when one of them is no page. */
export async function renderReference(app: FastifyInstance): Promise<string> {
  const answers: Record<string, StaticAnswer> = {}
  const description: unknown = JSON.parse(JSON.stringify(app.swagger()))
  for (const path of referencePaths(isObject(description) ? description : {})) {
    const { statusCode, headers, body } = await app.inject(path)
    if (statusCode !== 200) throw new Error(`GET ${path} answers ${statusCode}: ${body.slice(0, 200)}`)
    const policy = headers['content-security-policy']
    answers[path] = { type: String(headers['content-type']), body, ...(policy ? { policy: String(policy) } : {}) }
  }
  return JSON.stringify(answers)
}
