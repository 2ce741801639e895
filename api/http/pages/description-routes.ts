// The API description as JSON and as pages, made once, when it is first requested.
import type { FastifyInstance } from 'fastify'
import { isObject } from '../../description/json.ts'
import { DOCS_PATHS, docsPages } from '../../docs-pages/pages.ts'
import { staticAnswers } from './static-answers.ts'

const OPENAPI = '/v1/openapi.json'

/** Serves the description and the pages of the reference. `describe` gives the document. */
export function descriptionRoutes(app: FastifyInstance, describe: () => object): void {
  staticAnswers(app, [OPENAPI, ...DOCS_PATHS], () => {
    const body = JSON.stringify(describe())
    const api: unknown = JSON.parse(body)
    return { [OPENAPI]: { type: 'application/json', body }, ...docsPages(isObject(api) ? api : {}) }
  })
}
