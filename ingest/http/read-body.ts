// Request bodies, bounded: in size each, in the memory all unfinished ones hold together, and in time.
import { AppError } from '../../shared/errors.ts'
import type { Exchange } from './exchange.ts'

export type BodyReader = {
  /** Calls `done` with the whole body. The buffer is valid only until `done` returns. Refuses and closes beyond a bound. */
  read(exchange: Exchange, contentLength: number | null, done: (body: Buffer) => void): void
  close(): void
}

/** A body that is not there by then is not coming; uWebSockets itself closes connections that fall silent. */
const BODY_TIMEOUT_MS = 15_000
const SWEEP_MS = 1_000
/** All bodies that are still arriving. */
const HELD_BYTES_MAX = 64 * 1024 * 1024

type Partial = { chunks: Buffer[]; bytes: number; readonly exchange: Exchange; readonly startedAt: number }

export function createBodyReader(options: { bytesMax: number; nowMs: () => number }): BodyReader {
  const partials = new Set<Partial>()
  let heldBytes = 0
  const release = (partial: Partial): void => {
    if (partials.delete(partial)) heldBytes -= partial.bytes
  }
  const sweep = setInterval(() => {
    const oldest = options.nowMs() - BODY_TIMEOUT_MS
    for (const partial of partials) {
      if (partial.exchange.isOpen && partial.startedAt > oldest) continue
      release(partial)
      partial.exchange.drop()
    }
  }, SWEEP_MS)

  const refuse = (exchange: Exchange): void =>
    exchange.refuse(new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${options.bytesMax} bytes.`), true)

  const keep = (partial: Partial, chunk: ArrayBuffer): void => {
    if (partial.chunks.length === 0) partials.add(partial)
    partial.chunks.push(Buffer.from(chunk.slice(0))) // uWebSockets takes the chunk back when the handler returns
    partial.bytes += chunk.byteLength
    heldBytes += chunk.byteLength
  }

  return {
    read: (exchange, contentLength, done) => {
      if (contentLength !== null && contentLength > options.bytesMax) {
        refuse(exchange)
        return
      }
      const partial: Partial = { chunks: [], bytes: 0, exchange, startedAt: options.nowMs() }
      exchange.onData((chunk, isLast) => {
        if (!exchange.isOpen) {
          release(partial)
        } else if (partial.bytes + chunk.byteLength > options.bytesMax) {
          release(partial)
          refuse(exchange)
        } else if (isLast && partial.chunks.length === 0) {
          done(Buffer.from(chunk))
        } else if (heldBytes + chunk.byteLength > HELD_BYTES_MAX) {
          release(partial)
          exchange.refuse(
            new AppError('SERVICE_UNAVAILABLE', 'Too many bodies are arriving at once.', { retryAfterSeconds: 1 }),
            true,
          )
        } else {
          keep(partial, chunk)
          if (!isLast) return
          release(partial)
          done(Buffer.concat(partial.chunks))
        }
      })
    },
    close: () => clearInterval(sweep),
  }
}
