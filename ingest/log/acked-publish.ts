// Messages to the log and their acks, all over one inbox. The client's own way for streams makes two promises, a trace and
// several objects a message, which was a twentieth of what a single event cost the gateway. And its way to send copies what
// a message consists of into new memory: at our rate that memory alone had V8 collect all of its heap several times a second.
import { createInbox, type Msg, type NatsConnection, type NatsConnectionImpl } from '@nats-io/transport-node'
import type { Message } from '../events/message.ts'
import type { Later } from '../later.ts'

/**
 * Resolves with its sequence when the broker has stored the message in `stream`. Rejects when it refused it, when no stream takes the subject,
 * or when no ack came within the time: then nobody knows whether it is stored, and its bytes may still be sent.
 */
export type AckedPublish = (subject: string, stream: string, message: Message) => Promise<number>

type Waiting = { readonly stream: string; settle(answer: Error | number): void }

/** Publishes over `connection`, with `timeoutMs` for each ack. */
export function createAckedPublish(options: {
  readonly connection: NatsConnection
  readonly timeoutMs: number
  readonly later: Later
}): AckedPublish {
  const { connection, timeoutMs, later } = options
  const inbox = createInbox()
  const waiting = new Map<string, Waiting>()
  const send = createSender(connection)
  let published = 0

  connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      const each = waiting.get(message.subject)
      // An ack that comes too late finds nobody.
      each?.settle(error ?? answerOf(message, each.stream))
    },
  })
  return (subject, stream, message) =>
    new Promise((resolve, reject) => {
      published += 1
      const reply = `${inbox}.${published}`
      const cancel = later(
        () => waiting.get(reply)?.settle(new Error(`no ack of ${stream} within ${timeoutMs} ms`)),
        timeoutMs,
      )
      const settle = (answer: Error | number): void => {
        waiting.delete(reply)
        cancel()
        if (typeof answer === 'number') resolve(answer)
        else reject(answer)
      }
      waiting.set(reply, { stream, settle })
      try {
        send(subject, reply, stream, message)
      } catch (error) {
        settle(error instanceof Error ? error : new Error('the message could not be sent', { cause: error }))
      }
    })
}

/** Messages of so many bytes together are copied into one piece sooner than sent one by one. */
const TOGETHER_BYTES_MAX = 64 * 1024

/**
 * Sends messages as they lie in memory. The client flushes in a microtask and makes one piece, in new memory, of all that
 * was given to it by then: so a large message is given to it alone, and the next when that is flushed.
 */
function createSender(connection: NatsConnection) {
  const { protocol } = connection as NatsConnectionImpl
  let queue: Uint8Array[] = []
  const sendSome = (): void => {
    let sent = 0
    let bytes = 0
    for (const frame of queue) {
      bytes += frame.length
      if (sent > 0 && bytes > TOGETHER_BYTES_MAX) break
      protocol.sendCommand(frame)
      sent += 1
    }
    queue = queue.slice(sent)
    // Behind the client's own microtask.
    if (queue.length > 0) queueMicrotask(sendSome)
  }
  return (subject: string, reply: string, stream: string, message: Message): void => {
    if (connection.isClosed()) throw new Error('the connection to the broker is closed')
    // The broker refuses the message where another stream has taken over the subject.
    const headers = `NATS/1.0\r\nNats-Expected-Stream: ${stream}\r\n\r\n`
    const size = headers.length + message.bytes
    const most = connection.info?.max_payload ?? Number.POSITIVE_INFINITY
    if (size > most) throw new Error(`a message of ${size} bytes is more than the ${most} the broker takes`)
    queue.push(message.framed(`HPUB ${subject} ${reply} ${headers.length} ${size}\r\n${headers}`))
    if (queue.length === 1) queueMicrotask(sendSome)
  }
}

type Ack = { readonly stream?: string; readonly seq?: number; readonly error?: { readonly description?: string } }

/** The sequence of an ack, or what speaks against taking the answer for one. */
function answerOf(message: Msg, stream: string): Error | number {
  // Without a body it is the broker's word that nobody listens on the subject.
  if (message.data.length === 0) return new Error(`no stream takes messages for ${stream}`)
  const ack = message.json<Ack>()
  if (ack.error !== undefined)
    return new Error(`${stream} refused a message: ${ack.error.description ?? 'no reason given'}`)
  return ack.stream === stream ? (ack.seq ?? 0) : new Error(`an ack of ${ack.stream ?? 'no stream'} came for ${stream}`)
}
