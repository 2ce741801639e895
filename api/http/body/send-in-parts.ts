import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { PausingWork } from '../../../shared/pausing-work.ts'
import { inTurns } from '../../../shared/process/in-turns.ts'

/** Up to here an answer is sent, and compressed, at once: in less than a millisecond, and for less than a stream costs. */
export const AT_ONCE_CHARACTERS_MAX = 262_144
/** Large enough to cost little each, small enough to be sent and compressed in less than a millisecond. */
const CHUNK_CHARACTERS = 65_536

/** Sends an answer of JSON, given as pieces of its text. What is large is sent bit by bit. */
export async function sendInParts(reply: FastifyReply, pieces: readonly string[]): Promise<FastifyReply> {
  reply.type('application/json')
  const characters = pieces.reduce((sum, { length }) => sum + length, 0)
  if (characters <= AT_ONCE_CHARACTERS_MAX) return await reply.serializer(asItIs).send(pieces.join(''))
  const chunks = await inTurns(chunksOf(pieces))
  reply.header(
    'content-length',
    chunks.reduce((sum, { length }) => sum + length, 0),
  )
  return await reply.send(Readable.from(chunks, { objectMode: false }))
}

function* chunksOf(pieces: readonly string[]): PausingWork<Buffer[]> {
  const chunks: Buffer[] = []
  let open: string[] = []
  let characters = 0
  for (const piece of pieces) {
    open.push(piece)
    characters += piece.length
    if (characters < CHUNK_CHARACTERS) continue
    chunks.push(Buffer.from(open.join('')))
    open = []
    characters = 0
    yield
  }
  if (open.length > 0) chunks.push(Buffer.from(open.join('')))
  return chunks
}

const asItIs = (text: unknown): string => text as string
