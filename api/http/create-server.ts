// The server before any route: how it reads requests, and what every answer has in common.
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { atOnce } from '../../shared/http/at-once.ts'
import { answerBrokenConnection, OWN_HOST_CHECK, refuseOddRequests } from '../../shared/http/odd-requests.ts'
import { stopInOrder } from '../../shared/http/stopping.ts'
import { refuseUnstorableRequest } from '../../shared/http/storable-text.ts'
import { newId } from '../../shared/ids.ts'
import { type Logger, loggedRequest } from '../../shared/process/logger.ts'
import { ANSWER_MS, answerInTime } from './answer-in-time.ts'
import { readJson } from './body/read-json.ts'
import { serializerCompiler } from './body/serialization.ts'
import { validatorCompiler } from './body/validation.ts'
import { limitBodyTime } from './body-time.ts'
import { isDryRun } from './dry-run.ts'
import { handleError, handleFrameworkError, notFoundHandler } from './errors.ts'
import { httpManners } from './manners.ts'
import { recordMethods } from './methods.ts'

const BODY_BYTES_MAX = 1_048_576
const REQUEST_TIMEOUT_MS = 30_000
/** A file may take long to come, as long as it keeps coming: a connection that is silent for REQUEST_TIMEOUT_MS is closed. */
const UPLOAD_TIMEOUT_MS = 3_600_000
const PARAM_CHARACTERS_MAX = 255

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the calls whose body is a stream of any length. */
    streamed?: true
  }
}

/** One line a request, when it was answered, and not a second one when it came. */
class OneLine extends LogController {
  /** Looks for no secrets: the line of an answer holds none, and looking for them costs more than writing it. */
  readonly #lines: Logger

  constructor(logger: Logger) {
    super()
    this.#lines = logger.child({}, { redact: [], serializers: {} })
  }

  override incomingRequest(): void {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const responseTime = reply.elapsedTime
    if (error) request.log.error({ req: request, res: reply, responseTime, err: error }, 'request errored')
    else {
      const req = loggedRequest(request)
      const res = { statusCode: reply.statusCode }
      this.#lines.info({ reqId: request.id, req, res, responseTime }, 'request completed')
    }
  }
}

export type ServerOptions = {
  /** Proxies whose word on where a call comes from is taken. */
  readonly trustedProxies?: readonly string[]
  /** When a call that is not answered yet is refused; ANSWER_MS but in tests. */
  readonly answerMs?: number
  /** Within which a body must be there; REQUEST_TIMEOUT_MS but in tests. */
  readonly bodyMs?: number
}

/** The server, without routes. */
export async function createServer(logger: Logger, options: ServerOptions = {}): Promise<FastifyInstance> {
  const { trustedProxies = [], answerMs = ANSWER_MS, bodyMs = REQUEST_TIMEOUT_MS } = options
  const app = Fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new OneLine(logger),
    genReqId: () => newId('reqr'),
    requestIdHeader: false,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: UPLOAD_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS, ...OWN_HOST_CHECK },
    connectionTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: PARAM_CHARACTERS_MAX, ignoreTrailingSlash: true },
    frameworkErrors: handleFrameworkError,
    clientErrorHandler: answerBrokenConnection,
    // Its own answer has another shape; see stopInOrder.
    return503OnClosing: false,
  })
  app.setValidatorCompiler(validatorCompiler as never)
  app.setSerializerCompiler(serializerCompiler as never)
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(notFoundHandler(recordMethods(app)))
  readBodies(app)
  // Clients compare the type byte for byte, so it carries no charset (semantics 9.1).
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (String(reply.getHeader('content-type')).startsWith('application/json'))
      reply.header('content-type', 'application/json')
    done(null, payload)
  })
  await httpManners(app)
  refuseOddRequests(app)
  stopInOrder(app)
  answerInTime(app, answerMs)
  limitBodyTime(app, bodyMs)
  // On every call: one that cannot be tried out must not change anything when a trial was meant.
  app.addHook('onRequest', atOnce(isDryRun))
  // Before the shapes are checked: what cannot be stored is no shape's matter, and every shape's.
  const refuseUnstorable = (request: FastifyRequest): void => {
    // The calls inside a message to an agent are requests of their own.
    if (request.routeOptions.config?.permission !== 'bearer') refuseUnstorableRequest(request)
  }
  app.addHook('preValidation', atOnce(refuseUnstorable))
  return app
}

/** JSON alone, read strictly; a route that takes something else says so itself. */
function readBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, readJson(body.toString()))
    } catch (error) {
      done(error instanceof Error ? error : new Error('the body cannot be read'))
    }
  })
}
