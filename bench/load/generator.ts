// The load generator, a process of its own: keep-alive connections, one request at a time on each, for a bounded time. The
// same generator drives the limit and the subject, so what it costs itself is in both.
import { connect, type Socket } from 'node:net'
import { COUNTER_DIGITS, counterPlaces, requestBody } from './events.ts'

export type LoadOptions = {
  readonly port: number
  readonly path: string
  /** Requests other than events: each connection sends one of them, whose reference begins with `req-` and the run. */
  readonly requests?: readonly { readonly path: string; readonly body: string }[]
  readonly apiKey: string
  readonly connections: number
  readonly eventsPerRequest: number
  readonly warmUpMs: number
  readonly measureMs: number
  /** Where it is not as much as the server takes: a pace the connections keep together. */
  readonly eventsPerSecond?: number
  /** The minute of all events, such as 2026-01-16T18:17. */
  readonly minute?: string
  /** Makes references of this run differ from any other run's. */
  readonly run: string
}

export type LoadResult = {
  readonly requests: number
  readonly events: number
  readonly seconds: number
  /** Events answered 201 in all, the warm-up included. */
  readonly acceptedEvents: number
  /** What the generator itself cost, in microseconds of processor time an accepted event. */
  readonly cpuMicrosEach: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers other than 201 by status. */
  readonly others: Readonly<Record<string, number>>
}

const HEAD_END = Buffer.from('\r\n\r\n')
const LATENCIES_MAX = 2_000_000

class Connection {
  private readonly request: Buffer
  private readonly places: readonly number[]
  private readonly socket: Socket
  private readonly onAnswer: (status: number, startedAt: number) => boolean
  private readonly nextReference: () => number
  private startedAt = 0
  /** Milliseconds between two requests of this connection, and when the next one is due; 0: as soon as it is answered. */
  private readonly intervalMs: number
  private dueAt = 0
  private status = 0
  private missing = -1 // bytes of the answer's body still to come; -1 while its head is not complete
  private head: Buffer = Buffer.alloc(0)

  constructor(
    options: LoadOptions,
    given: { readonly path: string; readonly body: string } | undefined,
    nextReference: () => number,
    onAnswer: (status: number, startedAt: number) => boolean,
    onError: (error: Error) => void,
  ) {
    const { path, body } = given ?? {
      path: options.path,
      body: requestBody(options.run, options.eventsPerRequest, options.minute),
    }
    const text =
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: ${options.apiKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    this.request = Buffer.from(text, 'latin1')
    this.places = counterPlaces(text, options.run)
    this.nextReference = nextReference
    const { eventsPerSecond, connections, eventsPerRequest } = options
    this.intervalMs = eventsPerSecond === undefined ? 0 : (1000 * connections * eventsPerRequest) / eventsPerSecond
    this.onAnswer = onAnswer
    this.socket = connect({
      host: '127.0.0.1',
      port: options.port,
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(256 * 1024),
        callback: (length, buffer) => {
          this.read(Buffer.from(buffer.buffer, buffer.byteOffset, length))
          return true
        },
      },
    })
    this.socket.once('connect', () => {
      // At a pace, the connections start spread over the first interval.
      this.dueAt = performance.now() + Math.random() * this.intervalMs
      this.sendWhenDue()
    })
    this.socket.once('error', onError)
    this.socket.once('close', () => onError(new Error('the server closed a connection')))
  }

  private sendWhenDue(): void {
    const now = performance.now()
    const dueAt = this.intervalMs === 0 ? now : this.dueAt
    this.dueAt += this.intervalMs
    const waitMs = dueAt - now
    if (waitMs <= 0) this.send(dueAt)
    else setTimeout(() => this.send(dueAt), waitMs)
  }

  /** At a pace its time counts from when it was due, so that an answer that comes late is not hidden by the request behind it. */
  private send(startedAt: number): void {
    for (const place of this.places) {
      let rest = this.nextReference()
      for (let digit = COUNTER_DIGITS - 1; digit >= 0; digit -= 1) {
        this.request[place + digit] = 48 + (rest % 10)
        rest = Math.floor(rest / 10)
      }
    }
    this.startedAt = startedAt
    this.socket.write(this.request)
  }

  private read(chunk: Buffer): void {
    if (this.missing < 0) {
      const whole = this.head.length === 0 ? chunk : Buffer.concat([this.head, chunk])
      const end = whole.indexOf(HEAD_END)
      if (end < 0) {
        this.head = Buffer.from(whole)
        return
      }
      this.head = Buffer.alloc(0)
      const text = whole.toString('latin1', 0, end)
      this.status = Number(text.slice(9, 12))
      const length = /content-length: ([0-9]+)/i.exec(text)
      this.missing = Number(length?.[1] ?? 0) - (whole.length - end - HEAD_END.length)
    } else {
      this.missing -= chunk.length
    }
    if (this.missing > 0) return
    this.missing = -1
    if (this.onAnswer(this.status, this.startedAt)) this.sendWhenDue()
    else this.socket.removeAllListeners('close').end()
  }
}

/** Drives the server for the given time. Rejects when a connection fails. */
function run(options: LoadOptions): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const cpu = process.cpuUsage()
    const begin = performance.now() + options.warmUpMs
    const end = begin + options.measureMs
    const latencies: number[] = []
    const others: Record<string, number> = {}
    let requests = 0
    let accepted = 0
    let reference = 0
    let open = options.connections
    const finish = (): void => {
      open -= 1
      if (open > 0) return
      latencies.sort((a, b) => a - b)
      const quantile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0
      const { user, system } = process.cpuUsage(cpu)
      const acceptedEvents = accepted * options.eventsPerRequest
      resolve({
        requests,
        events: requests * options.eventsPerRequest,
        acceptedEvents,
        cpuMicrosEach: (user + system) / acceptedEvents,
        seconds: options.measureMs / 1000,
        p50Ms: quantile(0.5),
        p99Ms: quantile(0.99),
        others,
      })
    }
    const onAnswer = (status: number, startedAt: number): boolean => {
      const now = performance.now()
      if (status === 201) accepted += 1
      else others[status] = (others[status] ?? 0) + 1
      if (status === 201 && now >= begin && now < end) {
        requests += 1
        if (latencies.length < LATENCIES_MAX) latencies.push(now - startedAt)
      }
      if (now < end) return true
      finish()
      return false
    }
    const nextReference = () => {
      reference += 1
      return reference
    }
    const { connections, requests: given = [] } = options
    for (let each = 0; each < connections; each += 1)
      new Connection(options, given[each % given.length], nextReference, onAnswer, reject)
  })
}

const result = await run(JSON.parse(process.argv[2] ?? '{}') as LoadOptions)
console.log(JSON.stringify(result))
process.exit(0)
