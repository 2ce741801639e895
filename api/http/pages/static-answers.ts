// Answers that are the same for everyone and change only with the release: made once, sent as they are, compressed once.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../shared/errors.ts'
import { once } from '../../../shared/memory/once.ts'

const MAX_AGE_SECONDS = 300
const BROTLI_QUALITY = 6
const compressors = {
  br: (body: Buffer) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
}
type Encoding = keyof typeof compressors
const ENCODINGS: readonly Encoding[] = ['br', 'gzip']

export type StaticAnswer = { readonly type: string; readonly body: string; readonly policy?: string }

/** A prepared answer: its tag, and each compressed form after the first request for it. */
class Prepared {
  readonly type: string
  readonly policy: string | undefined
  readonly tag: string
  readonly #plain: Buffer
  readonly #compressed = new Map<Encoding, Promise<Buffer>>()

  constructor({ type, body, policy }: StaticAnswer) {
    this.type = type
    this.policy = policy
    this.#plain = Buffer.from(body)
    this.tag = hash('sha256', this.#plain, 'base64url').slice(0, 22)
  }

  as(encoding: Encoding | null): Buffer | Promise<Buffer> {
    if (encoding === null) return this.#plain
    const made = this.#compressed.get(encoding) ?? compressors[encoding](this.#plain)
    this.#compressed.set(encoding, made)
    return made
  }
}

/**
 * Serves what `make` gives by path. It is made when the first of them is requested, since it takes a large part of a second of
 * processor time, which a start does not have on a busy machine. Which routes there are is known before; one with a parameter serves what was made for its path.
 */
export function staticAnswers(
  app: FastifyInstance,
  paths: readonly string[],
  make: () => Readonly<Record<string, StaticAnswer>>,
): void {
  const prepared = once(() => new Map(Object.entries(make()).map(([path, answer]) => [path, new Prepared(answer)])))
  for (const path of paths) {
    const options = { config: { permission: 'public' }, schema: { hide: true }, compress: false } as const
    app.get(path, options, async (request, reply) => {
      const found = prepared().get(request.url.split('?')[0]?.replace(/(.)\/$/, '$1') ?? path)
      if (!found)
        throw new AppError('RESOURCE_NOT_FOUND', `There is no page ${request.url}. GET /v1/docs leads to all.`)
      return await send(found, request, reply)
    })
  }
}

async function send(answer: Prepared, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const encoding = encodingFor(request)
  const tag = `"${answer.tag}${encoding === null ? '' : `-${encoding}`}"`
  reply
    .header('etag', tag)
    .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
    .header('vary', 'accept-encoding')
  if (answer.policy !== undefined) reply.header('content-security-policy', answer.policy)
  if (isKnown(request, tag)) return await reply.status(304).send()
  if (encoding !== null) reply.header('content-encoding', encoding)
  return await reply.type(answer.type).send(await answer.as(encoding))
}

/** The best compression that the client takes. */
const encodingFor = (request: FastifyRequest): Encoding | null => ENCODINGS.find(name => takes(request, name)) ?? null

/** Whether the client takes this compression by name. */
export const takes = ({ headers }: FastifyRequest, encoding: string): boolean =>
  headers['accept-encoding'] !== undefined &&
  String(headers['accept-encoding'])
    .split(',')
    .map(each => each.trim().split(/\s*;\s*/))
    .some(([given, weight]) => given === encoding && !/^q=0(\.0*)?$/.test(weight ?? ''))

/** Whether the client has this very answer already. */
export const isKnown = ({ headers }: FastifyRequest, tag: string): boolean =>
  headers['if-none-match']
    ?.split(',')
    .some(each => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag.replace(/^W\//, '')) ?? false
