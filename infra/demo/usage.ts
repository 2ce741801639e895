// Streams the sample through the front door, in batches, a tenth of them twice.
import type { Client, Row } from './client.ts'
import { BATCH_SIZE, batchesOf, type SampleEvent } from './sample.ts'

export type Sent = {
  /** Events answered with 201, repeats included. */
  readonly accepted: number
  /** Repeats that were answered with the id of the event they repeat. */
  readonly duplicates: number
  readonly seconds: number
}

const RESEND_EVERY = 10

const wireEvent = (event: SampleEvent) => ({
  reference: event.reference,
  meter_reference: 'llm_request',
  customer_reference: event.customer,
  timestamp: event.timestamp,
  meter_values: [
    { reference: 'context_tokens', number: String(event.contextTokens) },
    { reference: 'generated_tokens', number: String(event.generatedTokens) },
  ],
  meter_properties: [{ reference: 'model', value: event.model }],
})

async function sendBatch(client: Client, batch: readonly SampleEvent[]): Promise<string[]> {
  const answer = await client.send('POST', '/v1/events/ingest-list', { meter_datas: batch.map(wireEvent) })
  if (answer.status !== 201)
    throw new Error(
      `POST /v1/events/ingest-list answers ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`,
    )
  return (answer.body as { meter_datas: Row[] }).meter_datas.map(event => event.id)
}

/** Sends every event once, then every tenth batch again. Throws when a repeat is not recognised as one. */
export async function streamSample(client: Client, events: readonly SampleEvent[]): Promise<Sent> {
  const begun = performance.now()
  const ids = new Map<string, string>()
  const batches = batchesOf(events, BATCH_SIZE)
  for (const batch of batches) {
    const answered = await sendBatch(client, batch)
    for (const [index, event] of batch.entries()) ids.set(event.reference, answered[index] ?? '')
  }
  let duplicates = 0
  for (const batch of batches.filter((_batch, index) => index % RESEND_EVERY === 0)) {
    const answered = await sendBatch(client, batch)
    for (const [index, event] of batch.entries()) {
      if (answered[index] !== ids.get(event.reference))
        throw new Error(`the repeat of ${event.reference} got another id`)
      duplicates += 1
    }
  }
  return { accepted: events.length + duplicates, duplicates, seconds: (performance.now() - begun) / 1000 }
}
