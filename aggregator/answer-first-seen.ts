// Answers gateways: where the log first carried a reference, and what its event says. Reads only; nothing waits for the answer.
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { decodeRequest, encodePlaces, encodeStored, firstSeenSubject } from '../shared/contracts/first-seen.ts'
import type { Logger } from '../shared/process/logger.ts'
import type { FirstSeenIndex } from './index/first-seen-index.ts'
import type { UsageSink } from './sinks/usage-sink.ts'

type AnswerDeps = {
  readonly nats: NatsConnection
  readonly sink: Pick<UsageSink, 'findEvents'>
  readonly logger: Logger
}
type Answered = { readonly partition: number; readonly index: Pick<FirstSeenIndex, 'find'> }

/** Answers for this partition until it is closed, which comes before its index is closed. */
export function answerFirstSeen({ nats, sink, logger }: AnswerDeps, { partition, index }: Answered): { close(): void } {
  const answer = async (message: Msg): Promise<void> => {
    const request = decodeRequest(message.data)
    if (request?.kind === 'places') {
      const places = request.idHashes.map(idHash => {
        const claim = index.find(idHash)
        return claim === undefined ? null : ([claim.seq, claim.line] as const)
      })
      message.respond(encodePlaces(places))
    } else if (request?.kind === 'event') {
      // As the log had it, unless it was amended since: the store keeps what it says now.
      const row = (await sink.findEvents([request])).get(request.idHash)
      message.respond(encodeStored(row === undefined ? null : JSON.stringify(row.fields)))
    }
  }
  const subscription = nats.subscribe(firstSeenSubject(partition), {
    callback: (error, message) => {
      // The gateway waits for a moment and answers without it.
      const answered = error === null ? answer(message) : Promise.reject(error)
      answered.catch((err: unknown) => logger.warn({ err, partition }, 'the request of a gateway for an event failed'))
    },
  })
  return { close: () => subscription.unsubscribe() }
}
