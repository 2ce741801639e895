// Messages to the log and their acks, all over one inbox. The client's own way for streams makes two promises, a trace and
// several objects a message, which was a twentieth of what a single event cost the gateway.
import { createInbox, headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import type { Later } from '../later.ts'

/**
 * Resolves when the broker has stored the message in `stream`. Rejects when it refused it, when no stream takes the subject,
 * or when no ack came within the time: then nobody knows whether it is stored.
 */
export type AckedPublish = (subject: string, stream: string, body: Uint8Array) => Promise<void>

type Waiting = { readonly stream: string; settle(fault: Error | null): void }

/** Publishes over `connection`, with `timeoutMs` for each ack. */
export function createAckedPublish(options: {
  readonly connection: Pick<NatsConnection, 'publish' | 'subscribe'>
  readonly timeoutMs: number
  readonly later: Later
}): AckedPublish {
  const { connection, timeoutMs, later } = options
  const inbox = createInbox()
  const waiting = new Map<string, Waiting>()
  const expecting = new Map<string, MsgHdrs>()
  let published = 0

  connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      const each = waiting.get(message.subject)
      // An ack that comes too late finds nobody.
      each?.settle(error ?? faultOf(message, each.stream))
    },
  })
  return (subject, stream, body) =>
    new Promise((resolve, reject) => {
      published += 1
      const reply = `${inbox}.${published}`
      const cancel = later(
        () => waiting.get(reply)?.settle(new Error(`no ack of ${stream} within ${timeoutMs} ms`)),
        timeoutMs,
      )
      const settle = (fault: Error | null): void => {
        waiting.delete(reply)
        cancel()
        if (fault === null) resolve()
        else reject(fault)
      }
      waiting.set(reply, { stream, settle })
      try {
        connection.publish(subject, body, { reply, headers: expectationOf(stream) })
      } catch (error) {
        settle(error instanceof Error ? error : new Error('the message could not be sent', { cause: error }))
      }
    })

  /** The broker refuses the message where another stream has taken over the subject. */
  function expectationOf(stream: string): MsgHdrs {
    let expected = expecting.get(stream)
    if (expected === undefined) {
      expected = headers()
      expected.set('Nats-Expected-Stream', stream)
      expecting.set(stream, expected)
    }
    return expected
  }
}

type Ack = { readonly stream?: string; readonly error?: { readonly description?: string } }

/** What speaks against taking the answer for an ack; null when nothing does. */
function faultOf(message: Msg, stream: string): Error | null {
  // Without a body it is the broker's word that nobody listens on the subject.
  if (message.data.length === 0) return new Error(`no stream takes messages for ${stream}`)
  const ack = message.json<Ack>()
  if (ack.error !== undefined)
    return new Error(`${stream} refused a message: ${ack.error.description ?? 'no reason given'}`)
  return ack.stream === stream ? null : new Error(`an ack of ${ack.stream ?? 'no stream'} came for ${stream}`)
}
