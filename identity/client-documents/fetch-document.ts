// One reading of a client's document: a guarded GET that follows nothing, takes little, and waits for seconds at most.
import { judgeUrl, type OutboundPolicy } from '../../shared/outbound/judge-url.ts'
import type { OutboundAnswer, OutboundRequest } from '../../shared/outbound/outbound-request.ts'
import { maxAgeSeconds } from './freshness.ts'
import { InvalidDocument } from './read-document.ts'

/** Larger than the customary 5 KB: documents of clients in wide use exceed that. */
const BYTES_MAX = 32_768
/** A person waits for this, in front of an empty page. */
const DEADLINE_MS = 3_000
const JSON_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json$/i
/** An answer that says "later", and nothing about the document. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429])
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/

/** How documents are reached: by requests to the public internet alone, and to what the operator allows besides. */
export type DocumentAccess = { readonly request: OutboundRequest; readonly policy: OutboundPolicy }

/** The document could not be read, which says nothing about it. The message is for the log. */
export class UnreadableDocument extends Error {}

export type FetchedDocument =
  | { readonly kind: 'read'; readonly text: string; readonly etag: string | null; readonly maxAgeSeconds: number }
  | { readonly kind: 'unchanged'; readonly maxAgeSeconds: number }

/**
 * The document at `address`; `etag`: of the version we have, which it may turn out to be. Throws InvalidDocument when what is
 * there is no document, and UnreadableDocument when nobody can say.
 */
export async function fetchDocument(
  { request, policy }: DocumentAccess,
  address: string,
  etag: string | null,
): Promise<FetchedDocument> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  try {
    const { url } = judgeUrl(address, policy)
    const response = await request({
      url,
      method: 'GET',
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'Millrace',
        ...(etag === null ? {} : { 'if-none-match': etag }),
      },
      signal,
    })
    try {
      return await readAnswer(response, etag)
    } finally {
      response.body.destroy()
    }
  } catch (error) {
    if (error instanceof InvalidDocument || error instanceof UnreadableDocument) throw error
    throw new UnreadableDocument(signal.aborted ? `no whole answer within ${DEADLINE_MS} ms` : reasonOf(error), {
      cause: error,
    })
  }
}

async function readAnswer(
  { statusCode, headers, body }: OutboundAnswer,
  etag: string | null,
): Promise<FetchedDocument> {
  const kept = { maxAgeSeconds: maxAgeSeconds(headers['cache-control']) }
  if (statusCode === 304 && etag !== null) return { kind: 'unchanged', ...kept }
  if (statusCode >= 500 || LATER.has(statusCode)) throw new UnreadableDocument(`its server answers ${statusCode}`)
  if (statusCode !== 200) throw new InvalidDocument(`its server answers ${statusCode} in place of 200`)
  const type = headers['content-type']?.split(';')[0]?.trim() ?? ''
  if (!JSON_TYPE.test(type)) throw new InvalidDocument('its Content-Type must be application/json')
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new InvalidDocument('it must be sent without Content-Encoding')
  const version = headers.etag ?? ''
  return { kind: 'read', text: await readText(body), etag: ETAG.test(version) ? version : null, ...kept }
}

async function readText(body: OutboundAnswer['body']): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > BYTES_MAX) throw new InvalidDocument(`it is larger than ${BYTES_MAX} bytes`)
    pieces.push(piece)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
  } catch {
    throw new InvalidDocument('it is not UTF-8')
  }
}

const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message?: string }
  return code ?? message ?? String(error)
}
