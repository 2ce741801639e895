// The usage log as it stands, read past every process of ours, to know the order that decides.
import { streamName } from '../../shared/contracts/streams.ts'
import { decodeEvent, decodeMessage, type EventRecord } from '../../shared/contracts/usage-event.ts'
import type { System } from './start-system.ts'

export type LogMessage = { readonly partition: number; readonly body: string }

/** Every message of every partition, each partition in its order. */
export async function readLog({ jsm, partitions }: System): Promise<LogMessage[]> {
  const messages: LogMessage[] = []
  for (let partition = 0; partition < partitions; partition += 1) {
    const { state } = await jsm.streams.info(streamName(partition))
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
      const message = await jsm.streams.getMessage(streamName(partition), { seq })
      if (message === null) throw new Error(`partition ${partition} has no message ${seq}`)
      messages.push({ partition, body: message.string() })
    }
  }
  return messages
}

/** Every record of a reference, in the order of the log. */
export const recordsOf = (messages: readonly LogMessage[], reference: string): EventRecord[] =>
  messages.flatMap(({ body }) => decodeMessage(body).map(decodeEvent)).filter(record => record.reference === reference)
