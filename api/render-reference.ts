// What the build keeps of the reference (http/pages/built-reference.ts), in the api's own answers.
import type { FastifyInstance } from 'fastify'
import { REFERENCE_PATHS } from './http/pages/description-routes.ts'
import type { StaticAnswer } from './http/pages/static-answers.ts'

/** The answers of `app` at the paths of the reference, as JSON. Throws when one of them is no page. */
export async function renderReference(app: FastifyInstance): Promise<string> {
  const answers: Record<string, StaticAnswer> = {}
  for (const path of REFERENCE_PATHS) {
    const { statusCode, headers, body } = await app.inject(path)
    if (statusCode !== 200) throw new Error(`GET ${path} answers ${statusCode}: ${body.slice(0, 200)}`)
    const policy = headers['content-security-policy']
    answers[path] = { type: String(headers['content-type']), body, ...(policy ? { policy: String(policy) } : {}) }
  }
  return JSON.stringify(answers)
}
