// The API description, OpenAPI 3.1, generated from the schemas the routes are declared with.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { isObject, type JsonObject } from '../../description/json.ts'
import { type PublishDeps, publishDescription } from '../../description/publish.ts'

/** Settings of the generator; the document it gives is the published one. */
export const openApiOptions = (deps: PublishDeps): FastifyDynamicSwaggerOptions => ({
  transformObject: document => published('openapiObject' in document ? document.openapiObject : {}, deps),
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: '1',
      description:
        'Usage-based billing. Errors are `{type, code, field?, message}`; every answer carries `X-REQUEST-ID`. ' +
        'Any POST takes `Idempotency-Key`, but for event ingestion, whose key is the event reference. ' +
        'Calls with `x-dry-run` take the header `X-DRY-RUN: true`: they are answered as if done, and nothing is kept. ' +
        'A key of type PROXY names the user it acts for in `X-ORIGINAL-USER`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
    },
    security: [{ apiKey: [] }, { bearer: [] }],
  },
})

function published(document: object, deps: PublishDeps): JsonObject {
  // By way of text: what the schemas hold besides JSON (kinds, symbols) is not part of the document.
  const raw: unknown = JSON.parse(JSON.stringify(document))
  return isObject(raw) ? publishDescription(raw, deps) : {}
}
