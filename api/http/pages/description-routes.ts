// The API description as JSON and as pages: read from what the build made, or made once, when it is first requested.
import type { FastifyInstance } from 'fastify'
import { once } from '../../../shared/memory/once.ts'
import { isObject, type JsonObject } from '../../description/json.ts'
import { DOCS_ROUTES, docsPages, docsPaths } from '../../docs-pages/pages.ts'
import { type StaticAnswer, staticAnswers } from './static-answers.ts'

const OPENAPI = '/v1/openapi.json'

/** The path of the description, and those of its pages. */
export const referencePaths = (description: JsonObject): string[] => [OPENAPI, ...docsPaths(description)]

export type ReferenceSources = {
  /** What the build made; null: nothing. */
  readonly built: () => Readonly<Record<string, StaticAnswer>> | null
  /** The document, from the routes. */
  readonly describe: () => object
}

export type Reference = {
  /** The published description. */
  description(): JsonObject
  /** What is served, by path. */
  answers(): Readonly<Record<string, StaticAnswer>>
}

/** The reference; each part is read or made when it is first wanted. */
export function referenceFrom({ built, describe }: ReferenceSources): Reference {
  const read = once(() => ({ answers: built() }))
  const description = once((): JsonObject => {
    const parsed: unknown = JSON.parse(read().answers?.[OPENAPI]?.body ?? JSON.stringify(describe()))
    return isObject(parsed) ? parsed : {}
  })
  const made = () => ({
    [OPENAPI]: { type: 'application/json', body: JSON.stringify(description()) },
    ...docsPages(description()),
  })
  return { description, answers: () => read().answers ?? made() }
}

/** Serves the description and the pages of the reference. */
export function descriptionRoutes(app: FastifyInstance, { answers }: Reference): void {
  staticAnswers(app, [OPENAPI, ...DOCS_ROUTES], answers)
}
