// The calls on files beyond those of every resource: creating one, its content, its lines, and the header to fill in.
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { OutboundPolicy } from '../../../../shared/outbound/judge-url.ts'
import { listOf, PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { actionRoute, type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { SliceQuery, sliceOf, sliceView } from '../../../list/slice.ts'
import { Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { viewOf } from '../../../resource/views.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { LINE_STATUSES, type LineStatus } from './blocks.ts'
import { writeRecord } from './csv/parse-records.ts'
import { fileResource } from './file.ts'
import { listLines } from './list-lines.ts'
import { defaultColumns } from './mapping/default-plan.ts'
import { meterColumns } from './meter-columns.ts'
import type { UploadLimits } from './receive-content.ts'
import { createFile, type FileBody, INLINE_BODY_BYTES_MAX, INLINE_BYTES_MAX, uploadContent } from './upload.ts'

const PATH = '/v1/files'
const Status = OneOf('IMPORTED', 'DONE', 'SKIPPED', 'ERROR')
const about = { tag: 'files' } as const

export type FilesDeps = RouteDeps & { readonly files: UploadLimits; readonly outbound: OutboundPolicy }

const CreateBody = Shape({
  ...(fileResource.createBody as ReturnType<typeof Shape>).properties,
  content: Optional(
    Nullable(
      Type.String({
        description: `The CSV in base64, at most ${INLINE_BYTES_MAX} bytes of it. Without it, and without download_settings, the file waits for PUT ${PATH}/{id}/content.`,
      }),
    ),
  ),
})

const LineView = Type.Object(
  {
    file_id: Type.String(),
    line_item_number: Type.Integer({ description: 'From 1, which is the line after the header.' }),
    data: Type.String(),
    status: Status,
    message: Nullable(Type.String()),
  },
  { title: 'FileLine' },
)

export async function fileRoutes(app: FastifyInstance, deps: FilesDeps): Promise<void> {
  createRoute(app, deps)
  linesRoute(app, deps)
  headerRoute(app, deps)
  await app.register(async scope => contentRoute(scope, deps))
}

function createRoute(app: FastifyInstance, deps: FilesDeps): void {
  writeRoute(app, deps, {
    ...about,
    summary: 'Create a file of usage events, with its content or to be filled later.',
    permission: 'FILE.CREATE',
    method: 'POST',
    url: PATH,
    body: CreateBody,
    bodyBytesMax: INLINE_BODY_BYTES_MAX,
    response: fileResource.view,
    status: 201,
    handle: async (uow, { body }) =>
      await viewOf(
        uow,
        fileResource,
        await createFile(uow, normalizeTimes(CreateBody, body) as FileBody, {
          limits: deps.files,
          outbound: deps.outbound,
        }),
      ),
  })
}

const CSV_TYPES = ['text/csv', 'application/octet-stream']

function contentRoute(scope: FastifyInstance, deps: FilesDeps): void {
  scope.removeAllContentTypeParsers()
  // Handed on as the stream it is: nothing of it is held beyond a few chunks.
  scope.addContentTypeParser(CSV_TYPES, (_request, payload, done) => done(null, payload))
  scope.addHook('onRoute', route => {
    route.config = { ...route.config, streamed: true }
  })
  actionRoute(scope, deps, {
    ...about,
    summary: 'Upload the content of a CREATED file.',
    permission: 'FILE.UPDATE',
    method: 'PUT',
    url: `${PATH}/:id/content`,
    params: IdParams,
    response: fileResource.view,
    status: 200,
    handle: async ({ tenant, actor, database }, { params }, reply) => {
      const content = reply.request.body as Readable | undefined
      const length = Number(reply.request.headers['content-length'] ?? 0)
      try {
        if (content === undefined) throw new AppError('MISSING_FIELD', 'Send the CSV as the body, as text/csv.')
        if (length > deps.files.fileBytesMax) {
          throw new AppError('PAYLOAD_TOO_LARGE', `A file has at most ${deps.files.fileBytesMax} bytes; split it.`)
        }
        const upload = { database, tenant, actor, limits: deps.files }
        // Left open on a refusal, so that it can still be answered.
        const row = await uploadContent(upload, params.id, content.iterator({ destroyOnReturn: false }))
        return await readTenant(database, tenant, uow => viewOf(uow, fileResource, row))
      } catch (error) {
        // What is left of the body is not read.
        reply.header('connection', 'close')
        throw error
      }
    },
  })
}

const cursor = (description: string) => Type.String({ pattern: '^[0-9]{1,9}$', description })

function linesRoute(app: FastifyInstance, deps: FilesDeps): void {
  readRoute(app, deps, {
    ...about,
    summary: 'List the lines of a file, in its order, with what became of each.',
    permission: 'FILE.VIEW',
    method: 'GET',
    url: `${PATH}/:id/lines`,
    params: IdParams,
    query: Shape({
      'statuses[]': Optional(Type.Union([Status, Type.Array(Status, { maxItems: 100 })])),
      status: Optional(OneOf('IMPORTED', 'DONE', 'SKIPPED', 'ERROR')),
      ...SliceQuery,
      starting_after: Optional(cursor('The number of the last line read: what follows it. Instead of page.')),
      ending_before: Optional(cursor('The number of a line: what precedes it. Instead of page.')),
    }),
    response: PageOf(LineView),
    handle: async (uow, { params, query }) => {
      const file = await getOne(uow, fileResource, params.id)
      const slice = sliceOf(query)
      const { rows: data, ...rest } = await listLines(uow, file, { statuses: statusesOf(query), slice })
      const rows = data.map(line => ({ id: String(line.line_item_number) }))
      return sliceView(`${PATH}/${params.id}/lines`, query, { slice, sliced: { rows, ...rest }, data })
    },
  })
}

/** The statuses of the query, each once; all of them when it has none. `status` is the deprecated way to give one. */
function statusesOf(query: { status?: string; 'statuses[]'?: string | string[] }): LineStatus[] {
  const asked = listOf(query['statuses[]'])
  if (query.status !== undefined && asked.length > 0) {
    throw new AppError('INVALID_FIELD', 'Send statuses[] alone: status is its deprecated form.', { field: 'status' })
  }
  const wanted = query.status === undefined ? asked : [query.status]
  return Object.values(LINE_STATUSES).filter(status => wanted.length === 0 || wanted.includes(status))
}

function headerRoute(app: FastifyInstance, deps: FilesDeps): void {
  actionRoute(app, deps, {
    ...about,
    summary: 'Read the CSV header for files of this meter.',
    permission: 'METER.VIEW',
    method: 'GET',
    url: '/v1/meters/:id/meter-data-file',
    params: IdParams,
    response: Type.String({ description: 'text/csv' }),
    status: 200,
    handle: async ({ tenant, database }, { params }, reply) => {
      const columns = await readTenant(database, tenant, async uow =>
        meterColumns(uow, await getOne(uow, meterResource, params.id)),
      )
      reply.header('content-type', 'text/csv; charset=utf-8')
      reply.header('content-disposition', 'attachment; filename="meter-data.csv"')
      // A Buffer, because a text would be written as JSON.
      return Buffer.from(`${writeRecord(defaultColumns(columns))}\n`)
    },
  })
}
