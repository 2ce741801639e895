// Bringing in a file: with its content, to be given it, or to be fetched.
import { type Actor, type Database, inTenant, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import { judgeUrl, type OutboundPolicy, RefusedAddress } from '../../../../shared/outbound/judge-url.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { createResource, saveChange } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { CHUNK_BYTES, writeChunks } from './content.ts'
import { splitLocation } from './download/location.ts'
import { fileResource } from './file.ts'
import { receiveContent, requireRoom, tooLarge, type UploadLimits } from './receive-content.ts'
import type { FileDownloadSettings, StoredFile } from './table.ts'

/** Content that comes within JSON is in memory as a whole, more than once; what is larger is streamed. */
export const INLINE_BYTES_MAX = 16 * 1024 * 1024
/** Room for the content in base64 and for the other fields. */
export const INLINE_BODY_BYTES_MAX = Math.ceil(INLINE_BYTES_MAX / 3) * 4 + 65_536
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
/** Written at a time. */
const WRITE_CHUNKS = 4

/** A valid body of a file. */
export type FileBody = Row & { content?: string | null; download_settings?: FileDownloadSettings | null }
export type CreateFileRules = { readonly limits: UploadLimits; readonly outbound: OutboundPolicy }

/**
 * Creates a file. With content it is UPLOADED and will be worked on; with an address TO_BE_DOWNLOADED; with neither CREATED
 * until its content is put.
 */
export async function createFile(uow: Uow, body: FileBody, rules: CreateFileRules): Promise<StoredFile> {
  const { limits, outbound } = rules
  const { content, ...fields } = body
  const settings = fields.download_settings
  if (settings) {
    if (content != null) refuse('download_settings', 'Send content or download_settings, not both.')
    return await createResource(uow, fileResource, { ...fields, ...toBeDownloaded(settings, outbound) })
  }
  const row = await createResource(uow, fileResource, fields)
  if (content === undefined || content === null) return row
  const bytes = decodeContent(content)
  if (bytes.length > limits.fileBytesMax) throw tooLarge(limits.fileBytesMax)
  await requireRoom(uow, bytes.length, limits)
  const uploadId = newId('fupl')
  const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, number) =>
    bytes.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES),
  )
  for (let number = 0; number < chunks.length; number += WRITE_CHUNKS) {
    await writeChunks(uow, { fileId: row.id, uploadId }, number, chunks.slice(number, number + WRITE_CHUNKS))
  }
  return await saveChange(uow, fileResource, row, {
    status: 'UPLOADED',
    upload_id: uploadId,
    content_bytes: bytes.length,
  })
}

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

function toBeDownloaded({ external_location }: FileDownloadSettings, outbound: OutboundPolicy): Row {
  try {
    const { location, query } = splitLocation(judgeUrl(external_location, outbound).url)
    return {
      status: 'TO_BE_DOWNLOADED',
      download_settings: { external_location: location },
      download_query: query,
    }
  } catch (error) {
    if (!(error instanceof RefusedAddress)) throw error
    return refuse('download_settings.external_location', error.message)
  }
}

function decodeContent(content: string): Buffer {
  if (content.length % 4 !== 0 || !BASE64.test(content)) {
    refuse('content', 'content must be base64, with padding and without line ends.')
  }
  const bytes = Buffer.from(content, 'base64')
  if (bytes.length <= INLINE_BYTES_MAX) return bytes
  throw new AppError(
    'PAYLOAD_TOO_LARGE',
    `content has at most ${INLINE_BYTES_MAX} bytes; create the file without it and PUT the CSV to /v1/files/{id}/content.`,
    { field: 'content' },
  )
}

export type Upload = {
  readonly database: Database
  readonly tenant: Tenant
  readonly actor: Actor
  readonly limits: UploadLimits
}

/** Takes the content of a CREATED file as `receiveContent` does; the file is UPLOADED then. */
export const uploadContent = (
  { database, tenant, actor, limits }: Upload,
  idOrReference: string,
  content: AsyncIterable<Buffer>,
): Promise<StoredFile> =>
  receiveContent(
    {
      change: work => inTenant(database, tenant, actor, work),
      limits,
      from: 'CREATED',
      to: { status: 'UPLOADED' },
    },
    idOrReference,
    content,
  )
