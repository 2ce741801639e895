// The HTTP server: routes to handlers, faults to answers, and an orderly stop.
import { AppError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/process/logger.ts'
import { boundConnections, type Connections } from './connections.ts'
import { Exchange, type ExchangeObserver } from './exchange.ts'
import { checkFraming, FramingError } from './framing.ts'
import type { Uws, UwsApp, UwsRequest } from './load-uws.ts'

export type Handler = (exchange: Exchange, req: UwsRequest) => void | Promise<void>
export type Routes = {
  readonly get: Readonly<Record<string, Handler>>
  readonly post: Readonly<Record<string, Handler>>
}

export type Server = {
  readonly port: number
  readonly connections: Connections
  /** Takes no new connection, answers what is open and closes each after its answer. Resolves when all is answered, or in time. */
  stop(): Promise<void>
}

/** A head that cannot be read gets no answer from uWebSockets, so nobody waits longer than this for one. */
const HEAD_SECONDS_MAX = 10
/** Proxies must let go of an idle connection sooner: see the samples of docs/deploying.md. */
export const KEEP_ALIVE_SECONDS = 30
const STOP_TIMEOUT_MS = 10_000
const STOP_POLL_MS = 20

/** Runs a handler and turns what it throws into an answer: a refusal as it is, anything else into a logged 500. */
export function guard(exchange: Exchange, logger: Logger, run: () => void | Promise<void>): void {
  const fail = (error: unknown): void => {
    if (error instanceof AppError) {
      if (error.status >= 500) logger.warn({ err: error, requestId: exchange.requestId }, 'a request was refused')
      // Answered in a moment: bytes behind this request that look like another would be served before the connection closes,
      // while uWebSockets closes at once when something follows a request that still waits for its answer.
      if (error instanceof FramingError) setImmediate(() => exchange.refuse(error, true))
      else exchange.refuse(error)
      return
    }
    logger.error({ err: error, requestId: exchange.requestId }, 'a request failed')
    exchange.refuse(new AppError('INTERNAL_ERROR', 'Something went wrong on our side.'))
  }
  try {
    run()?.catch(fail)
  } catch (error) {
    fail(error)
  }
}

const refuseMethod = (allow: string) => (): never => {
  throw new AppError('INVALID_OPERATION', `This path takes ${allow} only.`, { status: 405, allow })
}

/**
 * Sets how long a connection may be idle. Warns where the build of uWebSockets.js does not take it: its own time may be shorter than
 * that of a proxy.
 */
export function limitIdleTime(
  app: Pick<UwsApp, 'setIdleTimeout' | 'setResponseTimeout'>,
  logger: Pick<Logger, 'warn'>,
): void {
  app.setIdleTimeout?.(HEAD_SECONDS_MAX)
  app.setResponseTimeout?.(KEEP_ALIVE_SECONDS)
  if (app.setIdleTimeout && app.setResponseTimeout) return
  logger.warn(
    {},
    'this build of uWebSockets.js takes no idle times and may close a connection after 8 s: let proxies close idle ones after 5 s',
  )
}

/** Listens on `host` and `port` (0: any free one). Throws when the port is taken. */
export async function startServer(options: {
  uws: Uws
  host: string
  port: number
  routes: Routes
  /** Connections that may be open. */
  connectionsMax: number
  logger: Logger
  onRefused: (error: AppError) => void
}): Promise<Server> {
  const { uws, host, port, routes, logger } = options
  let open = 0
  let stopping = false
  const observer: ExchangeObserver = {
    opened: () => {
      open += 1
    },
    ended: () => {
      open -= 1
    },
    refused: options.onRefused,
    closing: () => stopping,
  }
  const app = uws.App()
  limitIdleTime(app, logger)
  const serve = (handler: Handler) => (res: ConstructorParameters<typeof Exchange>[0], req: UwsRequest) => {
    const exchange = new Exchange(res, observer)
    guard(exchange, logger, () => handler(exchange, req))
  }
  // Handlers of POST read the whole head themselves.
  const checked =
    (handler: Handler): Handler =>
    (exchange, req) => {
      checkFraming(req)
      return handler(exchange, req)
    }
  for (const [path, handler] of Object.entries(routes.get))
    app.get(path, serve(checked(handler))).any(path, serve(checked(refuseMethod('GET'))))
  for (const [path, handler] of Object.entries(routes.post))
    app.post(path, serve(handler)).any(path, serve(checked(refuseMethod('POST'))))
  app.any(
    '/*',
    serve(
      checked(() => {
        throw new AppError('RESOURCE_NOT_FOUND', 'There is nothing at this path.')
      }),
    ),
  )
  const listening = await new Promise<object | false>(resolve => {
    app.listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve)
  })
  if (!listening) throw new Error(`port ${port} on ${host} cannot be listened on; is it taken?`)
  return {
    port: uws.us_socket_local_port(listening),
    connections: boundConnections(app, { max: options.connectionsMax, logger }),
    stop: async () => {
      stopping = true
      uws.us_listen_socket_close(listening)
      const deadline = performance.now() + STOP_TIMEOUT_MS
      while (open > 0 && performance.now() < deadline) await new Promise(resolve => setTimeout(resolve, STOP_POLL_MS))
    },
  }
}
